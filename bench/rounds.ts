import { type Figure, figureOf } from "./figures.ts";
import { type Load, load, type Measured } from "./wrk.ts";

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
}

export interface Entry extends Pick<Load, "url" | "script"> {
  readonly who: string;
  readonly connections?: number;
  /** What the load is meant to get; a run in which it gets something else proves nothing. */
  readonly expects?: "successes" | "refusals";
}

/** A spent key is served once when its minute is over. */
const STRAYS = 0.001;

/** Interleaved rounds, so that what else the machine does hits all alike. */
export async function interleaved(
  folder: string,
  { rounds, seconds, warmUpSeconds, connections }: Pace,
  entries: readonly Entry[],
): Promise<Figure[]> {
  const runs = new Map<Entry, Measured[]>(entries.map((entry) => [entry, []]));
  for (const entry of entries) await load({ folder, connections, ...entry, seconds: warmUpSeconds });
  for (let round = 0; round < rounds; round++) {
    for (const entry of entries) {
      const measured = await load({ folder, connections, ...entry, seconds });
      requireExpected(entry, measured);
      runs.get(entry)?.push(measured);
    }
  }
  return Array.from(runs, ([{ who }, measured]) =>
    figureOf(
      who,
      measured.map((each) => each.requestsPerSecond),
      measured.map((each) => each.p99Milliseconds),
    ),
  );
}

function requireExpected({ who, expects = "successes" }: Entry, measured: Measured): void {
  const { answers, refusals, faults } = measured;
  const strays = expects === "successes" ? refusals : answers - refusals;
  if (answers === 0 || strays + faults > answers * STRAYS)
    throw new Error(
      `${who} gave ${answers} answers, ${refusals} refusals, ${faults} faults; ${expects} were expected.`,
    );
}
