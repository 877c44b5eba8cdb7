import type { Taken } from "./figures.ts";
import type { About, Sitting } from "./sittings.ts";

/** What a reader has to know to take the figures again, and to see how calm it was. */
export function aboutRun(about: About, sittings: readonly Sitting[], taken: readonly Taken[]): About {
  const unique = (values: readonly (string | number)[]) => [...new Set(values)].join(", then ");
  const patience = unique(sittings.map(({ patienceSeconds }) => patienceSeconds));
  return [
    ...about.map(([name, value]) =>
      name === "pace"
        ? ([name, `${value}, patience of ${patience} s for each table`] as const)
        : ([name, value] as const),
    ),
    ["command", unique(sittings.map(({ command }) => `\`${command}\``))],
    ["measured again", repeated(taken)],
    ["took", took(sittings, taken)],
  ];
}

/** Of the tables that count. */
function repeated(taken: readonly Taken[]): string {
  const figures = taken.flatMap(({ tables }) => tables.flatMap((table) => table.figures));
  const watched = figures.filter(({ repeatedRounds }) => repeatedRounds !== undefined);
  const again = watched.reduce((sum, { repeatedRounds = 0 }) => sum + repeatedRounds, 0);
  const all = watched.reduce((sum, { rounds }) => sum + rounds.length, 0);
  return `${again.toLocaleString("en")} of ${all.toLocaleString("en")} rounds`;
}

function took(sittings: readonly Sitting[], taken: readonly Taken[]): string {
  const counting = lasting(secondsOf(taken));
  if (sittings.length === 1) return counting;
  return `${counting}, of ${lasting(secondsOf(sittings))} in ${sittings.length} sittings`;
}

function secondsOf(all: readonly { readonly seconds: number }[]): number {
  return all.reduce((sum, { seconds }) => sum + seconds, 0);
}

export function lasting(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
