import type { UsageQuery, UsageRecord } from "./records.ts";
import type { Windows } from "./windows.ts";

/** What was counted since the last time, as rows of numbers: a million of them are moved and kept as a few blocks. */
export interface Tally {
  /** Client, second and count of its minute, day and its count. Of one client's rows the last holds. */
  readonly windows: Float64Array;
  /** Client, day, operation (its place in `operations`), class of status, requests. Rows of the same add up. */
  readonly usage: Float64Array;
  readonly operations: readonly string[];
  /** Key, and when it was last used. Of one key's rows the last holds. */
  readonly lastUsed: Float64Array;
}

export const WINDOW_COLUMNS = 5;
export const USAGE_COLUMNS = 5;
export const LAST_USED_COLUMNS = 2;

/** Rows in a part of a sorted tally, so that writing them holds nobody up. */
export const PART_ROWS = 1000;

const none = new Float64Array();

export function isEmpty({ windows, usage, lastUsed }: Tally): boolean {
  return windows.length + usage.length + lastUsed.length === 0;
}

/**
 * Tallies, oldest first, as parts: each has one row for each client or key, sorted, and no two parts have the same.
 * Rows that lie side by side in a table are then written side by side.
 */
export function sortedParts(tallies: readonly Tally[]): Tally[] {
  const operations = [...new Set(tallies.flatMap((tally) => tally.operations))].sort();
  const windows = combined(joined(tallies.map((tally) => tally.windows)), WINDOW_COLUMNS, "last");
  const usage = combined(joined(tallies.map((tally) => renumbered(tally, operations))), USAGE_COLUMNS, "sum");
  const lastUsed = combined(joined(tallies.map((tally) => tally.lastUsed)), LAST_USED_COLUMNS, "last");
  const empty: Tally = { windows: none, usage: none, operations: [], lastUsed: none };
  return [
    ...cut(windows, WINDOW_COLUMNS).map((part) => ({ ...empty, windows: part })),
    ...cut(usage, USAGE_COLUMNS).map((part) => ({ ...empty, usage: part, operations })),
    ...cut(lastUsed, LAST_USED_COLUMNS).map((part) => ({ ...empty, lastUsed: part })),
  ];
}

/** The rows of a block, one after another. */
export function* rowsOf(block: Float64Array, columns: number): Generator<Float64Array> {
  for (let at = 0; at < block.length; at += columns) yield block.subarray(at, at + columns);
}

export function windowsOfRow([clientId, minuteOpenedAt, minuteCount, day, dayCount]: Float64Array) {
  return { clientId, minuteOpenedAt, minuteCount, day, dayCount } as Windows & { clientId: number };
}

export function usageOfRow(
  [clientId, day, operation, statusClass, requests]: Float64Array,
  operations: readonly string[],
) {
  return { clientId, day, operation: operations[operation as number], statusClass, requests } as UsageRecord;
}

/** What a tally still holds of the usage that is asked for. */
export function usageIn(
  { usage, operations }: Pick<Tally, "usage" | "operations">,
  { clientId, fromDay, toDay }: UsageQuery,
): UsageRecord[] {
  const records: UsageRecord[] = [];
  const wanted = clientId === undefined ? undefined : Number(clientId);
  for (let at = 0; at < usage.length; at += USAGE_COLUMNS) {
    const day = usage[at + 1] as number;
    if ((wanted !== undefined && usage[at] !== wanted) || day < fromDay || day > toDay) continue;
    records.push(usageOfRow(usage.subarray(at, at + USAGE_COLUMNS), operations));
  }
  return records;
}

/** A tally's usage with its operations numbered as in another list. */
function renumbered({ usage, operations }: Tally, list: readonly string[]): Float64Array {
  const numbers = operations.map((operation) => list.indexOf(operation));
  const copy = usage.slice();
  for (let at = 2; at < copy.length; at += USAGE_COLUMNS) copy[at] = numbers[copy[at] as number] as number;
  return copy;
}

/**
 * Sorted, with one row for each key. Where the last row holds, the key is the first column; where they add up, it is all
 * columns but the last.
 */
function combined(rows: Float64Array, columns: number, holds: "last" | "sum"): Float64Array {
  const keys = holds === "last" ? 1 : columns - 1;
  const compare = (a: number, b: number): number => {
    for (let key = 0; key < keys; key++) {
      const difference = (rows[a + key] as number) - (rows[b + key] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  const order = Uint32Array.from({ length: rows.length / columns }, (_, row) => row * columns).sort(compare);
  const result = new Float64Array(rows.length);
  let end = 0;
  let before: number | undefined;
  for (const at of order) {
    let sum = 0;
    if (before !== undefined && compare(before, at) === 0) {
      end -= columns;
      if (holds === "sum") sum = result[end + keys] as number;
    }
    for (let column = 0; column < columns; column++) result[end + column] = rows[at + column] as number;
    if (holds === "sum") result[end + keys] = (result[end + keys] as number) + sum;
    before = at;
    end += columns;
  }
  return result.slice(0, end);
}

function joined(blocks: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const block of blocks) {
    all.set(block, end);
    end += block.length;
  }
  return all;
}

function cut(block: Float64Array, columns: number): Float64Array[] {
  const length = PART_ROWS * columns;
  return Array.from({ length: Math.ceil(block.length / length) }, (_, n) =>
    block.slice(n * length, (n + 1) * length),
  );
}
