import type { Bench } from "./bench.ts";
import { type Figure, figureOf, median } from "./figures.ts";
import { resident } from "./resident.ts";
import type { Server } from "./servers.ts";
import { type Load, load, type Measured, wake } from "./wrk.ts";

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** How long may be spent on waiting for calm and measuring again what others disturbed, for each table. */
  readonly patienceSeconds: number;
}

export interface Entry extends Pick<Load, "script"> {
  readonly who: string;
  readonly server: Server;
  readonly connections?: number;
  /** What the load is meant to get; a run in which it gets something else proves nothing. */
  readonly expects?: "successes" | "refusals";
}

interface Run extends Measured {
  readonly cpuMicroseconds: number;
  readonly slowedShare: number;
  readonly isRepeated: boolean;
}

/** A spent key is served once when its minute is over. */
const STRAYS = 0.001;

/** Who was idle for longer, as while all waited for calm, is warmed up again: runtimes drop compiled code that nobody asks for. */
const COLD_AFTER_MS = 45_000;
/** So short that meanwhile the others do not get cold. */
const WARM_AGAIN_SECONDS = 2;

/** A round without a single answer is measured again so often: a disk, or a machine, stood still. */
const STILL_ROUNDS = 2;

/**
 * Interleaved rounds, so that what else the machine does hits all alike; every other one backwards, so that nobody always comes
 * first. Whom the others are compared with, the first, is in the middle of each: nobody is measured long before or after it.
 */
export async function interleaved(
  { folder, options, undisturbed }: Bench,
  entries: readonly Entry[],
): Promise<Figure[]> {
  const { rounds, seconds, warmUpSeconds, connections } = options.pace;
  const runs = new Map<Entry, Run[]>(entries.map((entry) => [entry, []]));
  const loadOf = (entry: Entry, time: number): Load => ({
    folder,
    url: entry.server.url,
    connections,
    ...entry,
    seconds: time,
  });
  const asked = new Map<Entry, number>();
  const ask = async (entry: Entry, time: number): Promise<Measured> => {
    const seen = await load(loadOf(entry, time));
    asked.set(entry, performance.now());
    return seen;
  };
  const warm = async (entry: Entry): Promise<void> => {
    const idleMs = performance.now() - (asked.get(entry) ?? 0);
    if (idleMs > COLD_AFTER_MS) await ask(entry, WARM_AGAIN_SECONDS);
    else await wake(loadOf(entry, seconds));
  };
  const measuredCalmly = undisturbed();
  const measured = async (entry: Entry): Promise<Run> => {
    const calm = await measuredCalmly(async () => {
      await warm(entry);
      const before = entry.server.cpuMicroseconds();
      const seen = await ask(entry, seconds);
      return { ...seen, cpuMicroseconds: (entry.server.cpuMicroseconds() - before) / seen.answers };
    });
    return { ...calm.measured, slowedShare: calm.slowed, isRepeated: calm.isRepeated };
  };
  const run = async (entry: Entry): Promise<Run> => {
    for (let still = 1; ; still++) {
      const seen = await measured(entry);
      if (seen.answers > 0 || still > STILL_ROUNDS) return seen;
      console.error(`${entry.who} gave no answer in a round: it is measured again.`);
    }
  };
  using stores = new DisposableStack();
  for (const path of new Set(entries.flatMap(({ server }) => server.database ?? [])))
    stores.use(resident(path));
  for (const entry of entries) await ask(entry, warmUpSeconds);
  const half = Math.ceil(entries.length / 2);
  const turns = [...entries.slice(half), ...entries.slice(0, half)];
  for (let round = 0; round < rounds; round++) {
    for (const entry of round % 2 === 0 ? turns : turns.toReversed()) {
      const seen = await run(entry);
      requireExpected(entry, seen);
      runs.get(entry)?.push(seen);
    }
  }
  return Array.from(runs, ([{ who }, seen]) => ({
    ...figureOf(
      who,
      seen.map((each) => each.requestsPerSecond),
    ),
    p99Milliseconds: median(seen.map((each) => each.p99Milliseconds)),
    slowedShare: median(seen.map((each) => each.slowedShare)),
    cpuMicroseconds: median(seen.map((each) => each.cpuMicroseconds)),
    repeatedRounds: seen.filter((each) => each.isRepeated).length,
  }));
}

/** What was measured proves something only if it is what was asked for. */
export function requireExpected(
  { who, expects = "successes" }: Pick<Entry, "who" | "expects">,
  measured: Measured,
): void {
  const { answers, refusals, faults } = measured;
  const strays = expects === "successes" ? refusals : answers - refusals;
  if (answers === 0 || strays + faults > answers * STRAYS)
    throw new Error(
      `${who} gave ${answers} answers, ${refusals} refusals, ${faults} faults; ${expects} were expected.`,
    );
}
