import { join } from "node:path";
import { runtimeSettings } from "../../src/cli/runtime-settings.ts";
import { FOLD_AFTER_MS } from "../../src/limits/folding.ts";
import { memoryLimits } from "../../src/limits/memory.ts";
import type { Bench, Scenario } from "../bench.ts";
import { petstore, startContender } from "../contenders.ts";
import { figureOf, type Table } from "../figures.ts";
import { moreClients, PETS, PLENTY } from "../fill.ts";
import { keyLines, petByKeysInOrder, petsByManyKeys } from "../requests.ts";
import { type Entry, interleaved, requireExpected } from "../rounds.ts";
import type { Server } from "../servers.ts";
import { load } from "../wrk.ts";
import { counted } from "./growth.ts";

const sizes = { whole: [1, 1000, 1_000_000], quick: [1, 1000, 10_000] };
/** How many of the known clients ask; the harder case, in which all of them do, is measured too. */
const SOME = 1000;
const CALLS = 2_000_000;
const LEARNING_SECONDS = 10;
const BEHIND_SECONDS = 20;
const LOOK_MS = 2000;
/** What a server that nobody asks takes of a core is less. */
const RESTING_SHARE = 0.05;
/** For weighing: below the first the noise of a process's memory is larger than the clients'; a table is full below a power of two, and twice as large above. */
const weighed = { whole: [1_000_000, 1_100_000], quick: [10_000] };

export const UNLIMITED = "without a limiter";
export const admittedOf = (known: number, asking: number) =>
  `${counted(known)} known, ${asking === known ? "all" : counted(asking)} ask`;

export const clientScenarios: readonly Scenario[] = [
  {
    name: "clients",
    about: "what limits cost with 1, 1 k and 1 M known clients, beside the same server without a limiter",
    async run(bench) {
      const known = sizes[bench.options.isQuick ? "quick" : "whole"];
      const entries = [await unlimited(bench)];
      for (const size of known) entries.push(...(await entriesWith(bench, size)));
      const figures = await interleaved(bench, entries);
      const behind = await withAllBehind(bench, entries, known);
      for (const server of new Set(entries.map((entry) => entry.server))) await server.stop();
      const title = "GET by id with this many known clients, admitted and refused";
      return [
        { name: "clients", title, unit: "requests/s", wantsMore: true, against: UNLIMITED, figures },
        behind,
        limiterTimes(known, bench.options.pace.rounds),
        limiterWeights(weighed[bench.options.isQuick ? "quick" : "whole"]),
      ];
    },
  },
];

/** The same server without a limiter, asked by one client. */
async function unlimited(bench: Bench): Promise<Entry> {
  const { path, key } = bench.freshStore("unlimited");
  // With the settings that ours gives itself.
  const command = [process.execPath, "--smol", "--no-install", "bench/unlimited.ts"];
  const env = { PORT: "0", ...runtimeSettings };
  const server = await bench.servers.start({ command, env, database: path });
  return { who: UNLIMITED, server, script: await asking(bench, "unlimited", [key]) };
}

/** A server that knows this many clients: some of them ask, all of them ask, and one is refused. */
async function entriesWith(bench: Bench, size: number): Promise<Entry[]> {
  const store = bench.freshStore(`clients-${size}`);
  const keys = moreClients(store.path, size);
  const server = await startContender(bench.servers, petstore, store.path);
  await everyClientOnce(bench, server.url, await keyFile(bench, `${size}-${size}`, keys), size);
  const some = keys.slice(0, SOME);
  const admitted = [some, ...(size > SOME ? [keys] : [])].map(async (each) => ({
    who: admittedOf(size, each.length),
    server,
    script: await asking(bench, `${size}-${each.length}`, each),
  }));
  const refused: Entry = {
    who: `${counted(size)} known, 429`,
    server,
    script: await asking(bench, `${size}-spent`, [store.spentKey]),
    expects: "refusals",
  };
  return [...(await Promise.all(admitted)), refused];
}

/**
 * Time of the processor for a request, with all that it leaves behind: counts become rows half a minute later, which the rounds
 * do not see, or see where others ask.
 */
async function withAllBehind(
  bench: Bench,
  entries: readonly Entry[],
  known: readonly number[],
): Promise<Table> {
  const { folder, options } = bench;
  const { connections } = options.pace;
  const seconds = options.isQuick ? 1 : BEHIND_SECONDS;
  const names = [UNLIMITED, ...known.map((size) => admittedOf(size, size))];
  const asked = entries.filter(({ who }) => names.includes(who));
  const allAtRest = async () => {
    if (!options.isQuick) await Promise.all(asked.map(({ server }) => atRest(server)));
  };
  await allAtRest();
  const before = asked.map(({ server }) => server.cpuMicroseconds());
  const answers: number[] = [];
  for (const entry of asked) {
    const { script, server } = entry;
    const seen = await load({ folder, url: server.url, script, connections, seconds });
    requireExpected(entry, seen);
    answers.push(seen.answers);
  }
  await allAtRest();
  const figures = asked.map(({ who, server }, at) =>
    figureOf(who, [(server.cpuMicroseconds() - (before[at] as number)) / (answers[at] as number)]),
  );
  const title = "The processor's time for a request, with all that is written behind it";
  const note = `${seconds} s of load each, one after another, and what the servers did until all were at rest. Not watched for what others do.`;
  return { name: "clients-behind", title, unit: "us", wantsMore: false, against: UNLIMITED, figures, note };
}

/** Until nothing is left of what was counted: it becomes rows after a while, and then the server has nothing to do. */
async function atRest(server: Server): Promise<void> {
  await Bun.sleep(FOLD_AFTER_MS + LOOK_MS);
  for (let before = server.cpuMicroseconds(); ; ) {
    await Bun.sleep(LOOK_MS);
    const now = server.cpuMicroseconds();
    if (now - before < LOOK_MS * 1000 * RESTING_SHARE) return;
    before = now;
  }
}

async function asking(bench: Bench, name: string, keys: readonly string[]): Promise<string> {
  return petsByManyKeys(await keyFile(bench, name, keys), PETS);
}

async function keyFile(bench: Bench, name: string, keys: readonly string[]): Promise<string> {
  const file = join(bench.folder, `${name}.keys`);
  await Bun.write(file, keyLines(keys));
  return file;
}

/** Makes every client known to the server: by wrk, because a million requests are many. */
async function everyClientOnce(bench: Bench, url: string, file: string, size: number): Promise<void> {
  const { folder } = bench;
  const { connections } = bench.options.pace;
  for (let asked = 0; asked < size; ) {
    const script = petByKeysInOrder(file, asked);
    const seconds = size > SOME ? LEARNING_SECONDS : 1;
    const seen = await load({ folder, url, script, connections, seconds });
    requireExpected({ who: `${counted(size)} known` }, seen);
    // What was sent last may not have been answered.
    asked += Math.max(seen.answers - connections, 0);
  }
}

/** The limiter by itself, in this process: time for a request. */
function limiterTimes(known: readonly number[], rounds: number): Table {
  const figures = known.map((size) => {
    const { admit } = limiterWith(size);
    return figureOf(
      counted(size),
      Array.from({ length: rounds }, () => nanosecondsOf(admit, size)),
    );
  });
  const title = "The limiter alone, with this many clients";
  return { name: "limiter", title, unit: "ns", wantsMore: false, against: figures[0]?.who ?? "", figures };
}

/** The same: memory for a client. */
function limiterWeights(known: readonly number[]): Table {
  const figures = known.map((size) => figureOf(counted(size), [limiterWith(size).bytes]));
  const title = "Memory of the limiter for a client, of so many";
  return {
    name: "limiter-memory",
    title,
    unit: "bytes",
    wantsMore: false,
    against: figures[0]?.who ?? "",
    figures,
  };
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
