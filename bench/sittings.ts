import { rename } from "node:fs/promises";
import type { Taken } from "./figures.ts";
import { SLOWED_SHARE } from "./undisturbed.ts";

/** What figures depend on, as names and values. */
export type About = readonly (readonly [string, string])[];

/** How one sitting was asked for, and how long it worked. */
export interface Sitting {
  readonly command: string;
  readonly patienceSeconds: number;
  readonly seconds: number;
}

/** A run as it is kept in a file: it may take several sittings, because a machine is shut down, or its neighbours are busy. */
interface Kept {
  readonly about: About;
  readonly sittings: readonly Sitting[];
  readonly taken: Readonly<Record<string, Taken>>;
}

export interface Run {
  /** Those of which nothing counts in the end, too. */
  sittings(): readonly Sitting[];
  takenOf(scenario: string): Taken | undefined;
  /** Of these scenarios those that a sitting is for, the most disturbed first: a calm moment may be short. */
  wanted<S extends { readonly name: string }>(scenarios: readonly S[]): S[];
  /** Of what a scenario gave in two sittings that counts which lacks less, and then which others disturbed less, whatever the figures are. */
  take(scenario: string, taken: Taken): Promise<void>;
}

type Asked = Omit<Sitting, "seconds">;

/** A run from its beginning; where no file is named, nothing of it is kept. */
export function begunRun(about: About, asked: Asked, file?: string): Run {
  return sitting({ about, sittings: [], taken: {} }, asked, file);
}

/** Goes on with the run that the file keeps, which must be one of the same program at the same pace on the same machine. */
export async function resumedRun(about: About, asked: Asked, file: string): Promise<Run> {
  if (!(await Bun.file(file).exists()))
    throw new Error("There is no run to go on with: begin one without --resume.");
  const kept = (await Bun.file(file).json()) as Kept;
  const before = new Map(kept.about);
  for (const [name, value] of about)
    if (before.get(name) !== value)
      throw new Error(
        `The run to go on with had another ${name} (${before.get(name)}, now ${value}): begin one without --resume.`,
      );
  return sitting(kept, asked, file);
}

function sitting(kept: Kept, asked: Asked, file: string | undefined): Run {
  const taken = new Map(Object.entries(kept.taken));
  let seconds = 0;
  const sittings = () => [...kept.sittings, { ...asked, seconds }];
  return {
    sittings,
    takenOf: (scenario) => taken.get(scenario),
    wanted: (scenarios) =>
      scenarios
        .map((scenario) => ({ scenario, want: want(taken.get(scenario.name)) }))
        .filter(({ want }) => want > SLOWED_SHARE)
        .sort((a, b) => b.want - a.want)
        .map(({ scenario }) => scenario),
    async take(scenario, now) {
      seconds += now.seconds;
      const last = taken.get(scenario);
      if (!last || isBetter(now, last)) taken.set(scenario, now);
      if (file === undefined) return;
      const { about } = kept;
      await write(file, { about, sittings: sittings(), taken: Object.fromEntries(taken) });
    },
  };
}

/** Whole or not at all: what is kept is for the case that a machine is shut down. */
async function write(file: string, kept: Kept): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await Bun.write(unfinished, JSON.stringify(kept));
  await rename(unfinished, file);
}

function isBetter(one: Taken, other: Taken): boolean {
  if (one.missing.length !== other.missing.length) return one.missing.length < other.missing.length;
  return disturbance(one) < disturbance(other);
}

/** How much another sitting could make it better: nothing makes up for what is not there. */
function want(taken: Taken | undefined): number {
  return !taken || taken.missing.length > 0 ? Number.MAX_VALUE : disturbance(taken);
}

/** For which share of its rounds others slowed the server's core down, of the figure that had the worst of it: a comparison is as good as the worse of its two. */
function disturbance({ tables }: Taken): number {
  const figures = tables.flatMap((table) => table.figures);
  return Math.max(0, ...figures.map(({ slowedShare = 0 }) => slowedShare));
}
