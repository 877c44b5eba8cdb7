/** One measured thing: the middle of its rounds, and how far they lie apart. */
export interface Figure {
  readonly who: string;
  readonly middle: number;
  readonly low: number;
  readonly high: number;
  /** What was measured, round by round. */
  readonly rounds: readonly number[];
  /** Where requests were timed one by one. */
  readonly p99Milliseconds?: number | undefined;
  /** For which share of its rounds others slowed the server's core down. */
  readonly slowedShare?: number | undefined;
  /** Time of the processor that the server took for one; steadier than a rate where others use the machine too. */
  readonly cpuMicroseconds?: number | undefined;
  /** How many of its rounds were measured again, because others disturbed. */
  readonly repeatedRounds?: number | undefined;
  /** Of resident memory what is the process's own: the rest are pages of files, which the system can take back. */
  readonly ownMebibytes?: number | undefined;
}

/** What should have been measured, and why it was not. */
export interface Missing {
  readonly what: string;
  readonly reason: string;
}

/** Figures that belong side by side; only they may be compared. */
export interface Table {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** Whether more is better; time and size want to be little. */
  readonly wantsMore: boolean;
  /** Whose figure the others are shown in relation to. */
  readonly against: string;
  readonly figures: readonly Figure[];
  readonly note?: string | undefined;
}

/** What a scenario gave, and how long it took. */
export interface Taken {
  readonly tables: readonly Table[];
  readonly missing: readonly Missing[];
  readonly seconds: number;
}

export const OURS = "petstore";

/** The middle of some numbers; of an even count the upper one of the two. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

export function figureOf(who: string, values: readonly number[]): Figure {
  return {
    who,
    middle: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
    rounds: values,
  };
}

/**
 * How many times one figure is another: the middle of what each round says by itself, because what else a machine does is
 * nearly the same for all of one round, and not for all rounds.
 */
export function times(above: Figure, below: Figure): number {
  const each = eachTimes(above, below);
  return each.length === 0 ? above.middle / below.middle : median(each);
}

/** What each round says by itself; nothing where the two had not the same rounds. */
export function eachTimes(above: Figure, below: Figure): number[] {
  if (above.rounds.length !== below.rounds.length) return [];
  return above.rounds.map((value, round) => value / (below.rounds[round] as number));
}

/** The same by what each round says and by the medians of all rounds: they may differ, and an aim has to hold by both. */
export function bothTimes(above: Figure, below: Figure): readonly [number, number] {
  return [times(above, below), above.middle / below.middle];
}

/** Both as people read them, once if there is nothing to tell them apart. */
export function shownTimes(above: Figure, below: Figure): string {
  const [byRounds, byMedians] = bothTimes(above, below).map((value) => value.toFixed(2));
  return byRounds === byMedians ? `${byRounds}` : `${byRounds}, of medians ${byMedians}`;
}

export function find(tables: readonly Table[], name: string, who: string): Figure | undefined {
  return tables.find((table) => table.name === name)?.figures.find((figure) => figure.who === who);
}

/** A number as people read it: three digits that count, thousands apart. */
export function shown(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
