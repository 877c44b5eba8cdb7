import { afterEach, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import type { LimitedKey } from "../../src/core/ports.ts";
import { eventually } from "../cli/command.ts";
import { aStore, NOON, type Person, type TestStore } from "../harness.ts";
import { aFreePort } from "../servers/port.ts";
import { aValkey, type ValkeyOptions, type ValkeyServer } from "../servers/valkey.ts";
import { AT_NOON, inValkey } from "./in-valkey.ts";
import { ask, askTimes, limitsOf, tally } from "./spending.ts";

/** How long Valkey may be silent before a request does without it, and what a busy machine adds. */
const SLOWER_AT_MOST_MS = 100;
const BUSY_MS = 100;
const BACK_WITHIN_MS = 2000;
const CONNECTIONS = 8;

let servers: ValkeyServer[] = [];
afterEach(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  servers = [];
});

async function aServer(options: ValkeyOptions = {}): Promise<ValkeyServer> {
  const server = await aValkey(options);
  servers.push(server);
  return server;
}

const PREFIX = "outage:";

function storeOn({ url }: { url: string }): Promise<TestStore> {
  return aStore({ VALKEY_URL: url, VALKEY_PREFIX: PREFIX, LOG_LEVEL: "warn" });
}

interface Asked {
  readonly status: number;
  readonly began: number;
  readonly ms: number;
}

interface Loading extends AsyncDisposable {
  readonly all: Asked[];
  /** The longest time for which this process, which is the server too, did not get to run. */
  heldUpMs(): number;
  stop(): Promise<void>;
}

/** Asks over several connections, as fast as they are answered, until it is told to stop. */
function load(store: TestStore, person: Person): Loading {
  const all: Asked[] = [];
  let isOver = false;
  const asking = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) {
      const began = performance.now();
      const response = await fetch(`${store.url}/account`, { headers: { "x-api-key": person.key } });
      await response.arrayBuffer();
      all.push({ status: response.status, began, ms: performance.now() - began });
      await Bun.sleep(2);
    }
  });
  let [heldUpMs, lastTick] = [0, performance.now()];
  const ticking = setInterval(() => {
    const now = performance.now();
    heldUpMs = Math.max(heldUpMs, now - lastTick);
    lastTick = now;
  }, 5);
  const stop = async () => {
    isOver = true;
    clearInterval(ticking);
    await Promise.all(asking);
  };
  return { all, heldUpMs: () => heldUpMs, stop, [Symbol.asyncDispose]: stop };
}

/** What Valkey has counted for a client's minute. */
async function counted(server: ValkeyServer, person: Person): Promise<number> {
  return Number(await server.client().hget(`${PREFIX}{client:${person.clientId}}:windows`, "minuteCount"));
}

function saidTimes(store: TestStore, text: string): number {
  return store.logged().split(text).length - 1;
}

const AWAY = "Valkey cannot be reached";
const BACK = "Valkey is back";

async function fivesAway(
  what: (server: ValkeyServer) => Promise<void> | void,
  undo: (server: ValkeyServer) => Promise<void> | void,
): Promise<void> {
  const server = await aServer();
  await using store = await storeOn(server);
  const busy = await store.newPerson("customer");
  const limited = await store.newPerson("customer", { quota: { perMinute: 60, perDay: 1000 } });
  expect(await askTimes(limited, 20)).toEqual({ 200: 20 });
  await using asking = load(store, busy);
  await Bun.sleep(1000);

  const wentAway = performance.now();
  await what(server);
  // A machine that is busy enough may be away for a moment by itself; each time is told and ends.
  const isNoticed = await eventually(() => saidTimes(store, AWAY) > saidTimes(store, BACK), 1000);
  expect(isNoticed).toBe(true);
  // It goes on from the last count that was seen, and holds the limit.
  expect(await askTimes(limited, 30)).toEqual({ 200: 30 });
  await Bun.sleep(5000 - (performance.now() - wentAway));
  await undo(server);
  const cameBack = performance.now();

  const isExact = await eventually(
    async () => saidTimes(store, BACK) === saidTimes(store, AWAY) && (await counted(server, limited)) === 50,
    BACK_WITHIN_MS,
  );
  expect({ isExact, took: performance.now() - cameBack < BACK_WITHIN_MS }).toEqual({
    isExact: true,
    took: true,
  });
  await Bun.sleep(500);
  await asking.stop();
  expect(await askTimes(limited, 15)).toEqual({ 200: 10, 429: 5 });
  expect(await counted(server, limited)).toBe(60);
  expect(saidTimes(store, BACK)).toBe(saidTimes(store, AWAY));

  // Nobody got a 5xx; those under way waited once, and the others not at all.
  expect(tally(asking.all.map(({ status }) => status))).toEqual({ 200: asking.all.length });
  const meanwhile = asking.all.filter(({ began, ms }) => began + ms > wentAway && began < cameBack);
  const slowest = Math.max(...meanwhile.map(({ ms }) => ms));
  expect(slowest).toBeLessThan(SLOWER_AT_MOST_MS + BUSY_MS + asking.heldUpMs());
  const later = asking.all
    .filter(({ began }) => began > wentAway + 300 && began < cameBack)
    .map(({ ms }) => ms);
  expect(later.length).toBeGreaterThan(100);
  expect(later.toSorted((a, b) => a - b)[Math.floor(later.length * 0.9)]).toBeLessThan(80);
  // What was counted over there and here adds up, but for those whose answer never came.
  const sum = await counted(server, busy);
  expect(Math.abs(sum - asking.all.length)).toBeLessThanOrEqual(CONNECTIONS);
}

describe("with Valkey away for 5 s under load nobody gets a 5xx, limits hold, and it is exact again within 2 s", () => {
  test("killed and started again", async () => {
    await fivesAway(
      (server) => server.kill(),
      (server) => server.restart(),
    );
  }, 60_000);

  test("stalled, its connections open", async () => {
    await fivesAway(
      (server) => server.stall(),
      (server) => server.goOn(),
    );
  }, 60_000);
});

describe("a server whose Valkey is away", () => {
  test("starts, says so once, limits from memory, and shares as soon as it comes", async () => {
    const port = aFreePort();
    await using store = await storeOn({ url: `redis://127.0.0.1:${port}` });
    const person = await store.newPerson("customer", { quota: { perMinute: 10, perDay: 100 } });
    expect(await askTimes(person, 6)).toEqual({ 200: 6 });
    expect([saidTimes(store, AWAY), saidTimes(store, BACK)]).toEqual([1, 0]);
    await aServer({ port });
    expect(await eventually(() => saidTimes(store, BACK) === 1, BACK_WITHIN_MS)).toBe(true);
    const client = new Redis(port);
    const key = `${PREFIX}{client:${person.clientId}}:windows`;
    const isAdded = async () => (await client.hget(key, "dayCount")) === "6";
    expect(await eventually(isAdded, BACK_WITHIN_MS)).toBe(true);
    client.disconnect();
    expect(await askTimes(person, 6)).toEqual({ 200: 4, 429: 2 });
  });

  test("starts with one that is stalled, too", async () => {
    const server = await aServer();
    server.stall();
    const began = performance.now();
    await using store = await storeOn(server);
    expect(performance.now() - began).toBeLessThan(5000);
    const person = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 100 } });
    expect(await askTimes(person, 5)).toEqual({ 200: 3, 429: 2 });
    expect(saidTimes(store, AWAY)).toBe(1);
    server.goOn();
    expect(await eventually(() => saidTimes(store, BACK) === 1, BACK_WITHIN_MS)).toBe(true);
    expect((await ask(person)).status).toBe(429);
  });

  test("never tells the password that it was refused with", async () => {
    const server = await aServer({ settings: ["--requirepass", "right-horse"] });
    const url = server.url.replace("redis://", "redis://:wrong-horse@");
    await using store = await storeOn({ url });
    expect((await ask(store.customer)).status).toBe(200);
    expect(saidTimes(store, AWAY)).toBe(1);
    expect(store.logged()).not.toContain("horse");
  });

  test("says once that its password is no longer the right one, though at first only the connection had ended", async () => {
    const server = await aServer({ password: "old-horse" });
    await using store = await storeOn(server);
    expect((await ask(store.customer)).status).toBe(200);
    const operator = new Redis(server.url);
    await operator.config("SET", "requirepass", "new-horse");
    await operator.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    const triedTimes = async () =>
      Number(/total_connections_received:(\d+)/.exec(await operator.info("stats"))?.[1] ?? 0);
    expect(await eventually(() => saidTimes(store, "WRONGPASS") === 1, BACK_WITHIN_MS)).toBe(true);
    const then = await triedTimes();
    expect(await eventually(async () => (await triedTimes()) >= then + 5, 5000)).toBe(true);
    expect([saidTimes(store, AWAY), saidTimes(store, "WRONGPASS")]).toEqual([1, 1]);
    expect(store.logged()).not.toContain("horse");
    expect((await ask(store.customer)).status).toBe(200);

    await operator.config("SET", "requirepass", "old-horse");
    operator.disconnect();
    expect(await eventually(() => saidTimes(store, BACK) === 1, BACK_WITHIN_MS)).toBe(true);
  });

  test("says so once more when it comes up with another password", async () => {
    const port = aFreePort();
    await using store = await storeOn({ url: `redis://:wrong-horse@127.0.0.1:${port}` });
    expect([saidTimes(store, AWAY), saidTimes(store, "WRONGPASS")]).toEqual([1, 0]);
    await aServer({ port, password: "right-horse" });
    expect(await eventually(() => saidTimes(store, "WRONGPASS") === 1, BACK_WITHIN_MS)).toBe(true);
    expect(saidTimes(store, AWAY)).toBe(1);
  });

  test("does without one that is full, and goes back when there is room", async () => {
    const server = await aServer();
    await using store = await storeOn(server);
    const person = await store.newPerson("customer", { quota: { perMinute: 10, perDay: 100 } });
    expect(await askTimes(person, 3)).toEqual({ 200: 3 });
    await server.client().config("SET", "maxmemory", "1");
    expect(await askTimes(person, 9)).toEqual({ 200: 7, 429: 2 });
    expect(saidTimes(store, AWAY)).toBe(1);
    expect(saidTimes(store, BACK)).toBe(0);
    await server.client().config("SET", "maxmemory", "0");
    expect(await eventually(async () => (await counted(server, person)) === 10, BACK_WITHIN_MS)).toBe(true);
    expect((await ask(person)).status).toBe(429);
  });

  test("judges keys meanwhile: strikes and bans of an outage are known after it", async () => {
    const server = await aServer();
    await using store = await storeOn(server);
    const quota = { perMinute: 1, perDay: 1_000_000 };
    const [struck, banned] = [
      await store.newPerson("customer", { quota }),
      await store.newPerson("customer", { quota }),
    ];
    for (const person of [struck, banned]) expect(await askTimes(person, 2)).toEqual({ 200: 1, 429: 1 });
    const before = await store.newPerson("customer", { quota });
    expect(await askTimes(before, 2)).toEqual({ 200: 1, 429: 1 });
    store.clock.now += 2001;
    expect(await askTimes(before, 20)).toEqual({ 429: 20 });
    await server.kill();
    expect(await eventually(() => saidTimes(store, AWAY) === 1, 1000)).toBe(true);
    expect((await ask(before)).status).toBe(403);
    expect(await askTimes(struck, 19)).toEqual({ 429: 19 });
    expect(await askTimes(banned, 21)).toEqual({ 429: 20, 403: 1 });
    await server.restart();
    expect(await eventually(() => saidTimes(store, BACK) === 1, BACK_WITHIN_MS)).toBe(true);
    expect((await limitsOf(struck)).strikes.count).toBe(19);
    expect(await limitsOf(banned)).toMatchObject({ banLevel: 1, strikes: { count: 0 } });
    expect((await ask(banned)).status).toBe(403);
    expect(await askTimes(struck, 2)).toEqual({ 429: 1, 403: 1 });
  });
});

test("instances that lose Valkey each go on from what they saw, and their counts add up after it", async () => {
  const server = await aServer();
  const both = [await inValkey(server, "two", AT_NOON), await inValkey(server, "two", AT_NOON)] as const;
  const key: LimitedKey = { keyId: 1, clientId: 1, perMinute: 60, perDay: 1000, bannedUntil: null };
  const times = async (index: 0 | 1, number: number) => {
    let admitted = 0;
    for (let time = 0; time < number; time++)
      if ((await both[index].limits.admit(key, NOON, false)).refusing === null) admitted += 1;
    return admitted;
  };
  expect([await times(0, 20), await times(1, 20)]).toEqual([20, 20]);
  await server.kill();
  expect(await eventually(() => both.every(({ limits }) => limits.state().isAway), 1000)).toBe(true);
  // Nobody waits while it is away, not even for the next turn.
  expect(both[0].limits.admit(key, NOON, true)).not.toBeInstanceOf(Promise);
  expect(both[0].limits.admitAddress("192.0.2.1", NOON, true)).not.toBeInstanceOf(Promise);
  expect(both[0].limits.ask(key, NOON)).not.toBeInstanceOf(Promise);
  // The first saw 20 and the second 40 when it was last there.
  expect([await times(0, 100), await times(1, 5)]).toEqual([40, 5]);
  await server.restart();
  expect(await eventually(() => both.every(({ said }) => said.at(-1) === "back"), BACK_WITHIN_MS)).toBe(true);
  expect([await times(0, 5), await times(1, 5)]).toEqual([0, 0]);
  const windows = await server.client().hgetall("two:{client:1}:windows");
  expect(windows).toMatchObject({ minuteCount: "85", dayCount: "85" });
  expect(both.map(({ limits }) => limits.state())).toEqual([
    { isAway: false, links: 1, openBreakers: 0, outages: 1, limitedFromMemory: 102 },
    { isAway: false, links: 1, openBreakers: 0, outages: 1, limitedFromMemory: 5 },
  ]);
  for (const each of both) each.close();
});
