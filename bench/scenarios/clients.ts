import { join } from "node:path";
import { memoryLimits } from "../../src/limits/memory.ts";
import type { Bench, Scenario } from "../bench.ts";
import { petstore, startContender } from "../contenders.ts";
import { type Figure, figureOf, type Table } from "../figures.ts";
import { moreClients, PETS, PLENTY } from "../fill.ts";
import { petsByManyKeys } from "../requests.ts";
import { type Entry, interleaved } from "../rounds.ts";
import { counted } from "./growth.ts";

const sizes = { whole: [1, 1000, 1_000_000], quick: [1, 1000, 10_000] };
/** How many of the known clients ask; the harder case, in which all of them do, is measured too. */
const SOME = 1000;
const CALLS = 2_000_000;
const ASKING_AT_ONCE = 64;
/** Below this many clients the noise of a process's memory is larger than theirs. */
const CLIENTS_TO_WEIGH = 10_000;

export const UNLIMITED = "without a limiter";
export const admittedOf = (known: number, asking: number) =>
  `${counted(known)} known, ${asking === known ? "all" : counted(asking)} ask`;

export const clientScenarios: readonly Scenario[] = [
  {
    name: "clients",
    about: "what limits cost with 1, 1 k and 1 M known clients, beside the same server without a limiter",
    async run(bench) {
      const known = sizes[bench.options.isQuick ? "quick" : "whole"];
      const entries: Entry[] = [];
      const stops: (() => Promise<void>)[] = [];
      for (const size of known) {
        const { admitted, refused, stop } = await serverWith(bench, size);
        entries.push(...admitted, refused);
        stops.push(stop);
      }
      const figures = await interleaved(bench.folder, bench.options.pace, entries);
      for (const stop of stops) await stop();
      const title = "GET by id with this many known clients, admitted and refused";
      return [
        { name: "clients", title, unit: "requests/s", wantsMore: true, against: UNLIMITED, figures },
        ...limiterAlone(known, bench.options.pace.rounds),
      ];
    },
  },
];

/** A server that knows this many clients; the smallest one also without a limiter. */
async function serverWith(bench: Bench, size: number) {
  const store = bench.freshStore(`clients-${size}`);
  const keys = moreClients(store.path, size);
  const server = await startContender(bench.servers, petstore, store.path);
  await everyClientOnce(server.url, keys);
  const script = async (name: string, asking: readonly string[]) => {
    const file = join(bench.folder, `${size}-${name}.keys`);
    await Bun.write(file, asking.join("\n"));
    return petsByManyKeys(file, PETS);
  };
  const stops = [server.stop];
  const admitted: Entry[] = [];
  const some = await script("some", keys.slice(0, SOME));
  if (size === 1) {
    const command = [process.execPath, "--no-install", "bench/unlimited.ts"];
    const env = { DATABASE_URL: bench.freshStore("unlimited").path, PORT: "0" };
    const unlimited = await bench.servers.start({ command, env });
    admitted.push({ who: UNLIMITED, url: unlimited.url, script: await script("own", [store.key]) });
    stops.push(unlimited.stop);
  }
  const { url } = server;
  admitted.push({ who: admittedOf(size, Math.min(size, SOME)), url, script: some });
  if (size > SOME) admitted.push({ who: admittedOf(size, size), url, script: await script("all", keys) });
  const refused: Entry = {
    who: `${counted(size)} known, 429`,
    url,
    script: await script("spent", [store.spentKey]),
    expects: "refusals",
  };
  const stop = async () => {
    for (const each of stops) await each();
  };
  return { admitted, refused, stop };
}

/** Makes every client known to the server. */
async function everyClientOnce(url: string, keys: readonly string[]): Promise<void> {
  let next = 0;
  const ask = async () => {
    while (next < keys.length) {
      const key = keys[next++] as string;
      await (await fetch(`${url}/account`, { headers: { "x-api-key": key } })).arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: ASKING_AT_ONCE }, ask));
}

/** The limiter by itself, in this process: time for a request, and memory for a client. */
function limiterAlone(known: readonly number[], rounds: number): Table[] {
  const times: Figure[] = [];
  const weights: Figure[] = [];
  for (const size of known) {
    const { admit, bytes } = limiterWith(size);
    times.push(
      figureOf(
        counted(size),
        Array.from({ length: rounds }, () => nanosecondsOf(admit, size)),
      ),
    );
    if (size >= CLIENTS_TO_WEIGH) weights.push(figureOf(counted(size), [bytes]));
  }
  const against = counted(known[0] as number);
  const heaviest = weights.at(-1)?.who ?? "";
  return [
    {
      name: "limiter",
      title: "The limiter alone, with this many clients",
      unit: "ns",
      wantsMore: false,
      against,
      figures: times,
    },
    {
      name: "limiter-memory",
      title: "Memory of the limiter for a client",
      unit: "bytes",
      wantsMore: false,
      against: heaviest,
      figures: weights,
    },
  ];
}

function limiterWith(size: number) {
  const quota = { perMinute: PLENTY, perDay: PLENTY };
  const bans = { strikes: 20, strikeWindowSeconds: 300, graceSeconds: 2, minutes: [5] };
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const limits = memoryLimits({ bans, anonymous: quota, onBan: () => {}, tell: () => {} });
  const now = Date.now();
  const admit = (clientId: number) =>
    limits.admit({ clientId, keyId: clientId, bannedUntil: null, ...quota }, now, false);
  for (let clientId = 1; clientId <= size; clientId++) admit(clientId);
  limits.takeChanged(size);
  Bun.gc(true);
  return { admit, bytes: (process.memoryUsage.rss() - before) / size };
}

function nanosecondsOf(admit: (clientId: number) => unknown, size: number): number {
  const started = performance.now();
  // A prime step, so that neighbours are never asked for one after another.
  for (let n = 0; n < CALLS; n++) admit(1 + ((n * 7919) % size));
  return ((performance.now() - started) / CALLS) * 1e6;
}
