import assert from "node:assert/strict";
import { test } from "node:test";
import { Petstore } from "../../../client/src/index.ts";
import { limiter } from "../limiter.ts";
import { movedClock } from "../moved-clock.ts";

const SEEDS = 40;
const CALLS = 120;

/** The same numbers for the same seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Bursts of calls over some minutes, through a network that is slow by chance, to a server with a clock of its own. */
async function traffic(seed: number): Promise<void> {
  const chance = chances(seed);
  const between = (least: number, most: number) => least + chance() * (most - least);
  const clock = movedClock({ now: between(0, 1000) });
  const { sleep } = clock.surroundings;
  const serverIsAhead = between(-1e9, 1e9);
  const slowness = between(1, 3000);
  const limits = limiter(Math.ceil(between(1, 60)), 1_000_000);
  const never = new AbortController().signal;
  const client = new Petstore({
    baseUrl: "http://127.0.0.1",
    surroundings: clock.surroundings,
    maxPaceWaitMs: Number.POSITIVE_INFINITY,
    async fetch() {
      await sleep(between(0, slowness), never);
      const { status, headers } = limits.admit(clock.now() + serverIsAhead + 1e12);
      await sleep(between(0, slowness), never);
      return new Response("[]", { status, headers });
    },
  });
  const calls: Promise<unknown>[] = [];
  while (calls.length < CALLS) {
    const burst = Math.ceil(between(0, 40));
    for (let sent = 0; sent < burst; sent += 1) calls.push(client.pets.list());
    await sleep(between(0, 30_000), never);
  }
  await Promise.all(calls);
  assert.equal(limits.refused, 0, `seed ${seed}: ${limits.refused} of ${calls.length} calls were refused`);
}

test("whatever the traffic, the network and the server's clock, no call is refused", async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) await traffic(seed);
});
