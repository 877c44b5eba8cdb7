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

/** Rows of a block in a part, about: so few are written at once that nobody waits long for it. */
export const PART_ROWS = 1000;

const none = new Float64Array();

export function isEmpty(tally: Tally): boolean {
  return bytesIn(tally) === 0;
}

export function bytesIn({ windows, usage, lastUsed }: Tally): number {
  return windows.byteLength + usage.byteLength + lastUsed.byteLength;
}

/** The same as tallies of at most so many rows in a block. */
export function slices(tally: Tally, mostRows: number): Tally[] {
  const longest = Math.max(
    tally.windows.length / WINDOW_COLUMNS,
    tally.usage.length / USAGE_COLUMNS,
    tally.lastUsed.length / LAST_USED_COLUMNS,
  );
  const cut = (block: Float64Array, columns: number, at: number) =>
    block.slice(at * mostRows * columns, (at + 1) * mostRows * columns);
  return Array.from({ length: Math.ceil(longest / mostRows) }, (_, at) => ({
    windows: cut(tally.windows, WINDOW_COLUMNS, at),
    usage: cut(tally.usage, USAGE_COLUMNS, at),
    operations: tally.operations,
    lastUsed: cut(tally.lastUsed, LAST_USED_COLUMNS, at),
  }));
}

/**
 * Tallies, oldest first, dealt out by ranges of clients and keys: no two parts have one of them in common, and rows that
 * lie side by side in a table come together. Quicker than to sort the rows themselves, whatever they are.
 */
export function dealtOut(tallies: readonly Tally[]): Tally[] {
  const { windows, usage, operations, lastUsed } = joined(tallies);
  const parts =
    Math.ceil(Math.max(windows.length / WINDOW_COLUMNS, usage.length / USAGE_COLUMNS) / PART_ROWS) || 1;
  const ofWindows = ranges(windows, WINDOW_COLUMNS, parts);
  const ofUsage = ranges(usage, USAGE_COLUMNS, parts);
  const ofLastUsed = ranges(lastUsed, LAST_USED_COLUMNS, parts);
  return Array.from({ length: parts }, (_, at) => ({
    windows: ofWindows[at] ?? none,
    usage: ofUsage[at] ?? none,
    operations,
    lastUsed: ofLastUsed[at] ?? none,
  })).filter((part) => !isEmpty(part));
}

/** Tallies, oldest first, as one that has one row for each client or key, sorted. */
export function combined(tallies: readonly Tally[]): Tally {
  const { windows, usage, operations, lastUsed } = joined(tallies);
  return {
    windows: merged(windows, WINDOW_COLUMNS, "last"),
    usage: merged(usage, USAGE_COLUMNS, "sum"),
    operations,
    lastUsed: merged(lastUsed, LAST_USED_COLUMNS, "last"),
  };
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

export function lastUseOfRow([keyId, at]: Float64Array) {
  return { keyId, at } as { keyId: number; at: number };
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
function merged(rows: Float64Array, columns: number, holds: "last" | "sum"): Float64Array {
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

/** One tally after another, with one list of operations. */
function joined(tallies: readonly Tally[]): Tally {
  const operations = [...new Set(tallies.flatMap((tally) => tally.operations))].sort();
  return {
    windows: inOne(tallies.map((tally) => tally.windows)),
    usage: inOne(tallies.map((tally) => renumbered(tally, operations))),
    operations,
    lastUsed: inOne(tallies.map((tally) => tally.lastUsed)),
  };
}

function inOne(blocks: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const block of blocks) {
    all.set(block, end);
    end += block.length;
  }
  return all;
}

/** The rows of a block by ranges of their first column that hold about as many rows each, in the order that they had. */
function ranges(block: Float64Array, columns: number, count: number): Float64Array[] {
  const ids = Float64Array.from(
    { length: block.length / columns },
    (_, row) => block[row * columns] as number,
  );
  ids.sort();
  /** Where each range but the first begins. */
  const begins = Array.from(
    { length: count - 1 },
    (_, range) => ids[Math.floor(((range + 1) * ids.length) / count)] ?? 0,
  );
  const rangeOf = (at: number): number => {
    const id = block[at] as number;
    let [least, most] = [0, begins.length];
    while (least < most) {
      const middle = (least + most) >> 1;
      if (id < (begins[middle] as number)) most = middle;
      else least = middle + 1;
    }
    return least;
  };
  const ends = new Uint32Array(count);
  for (let at = 0; at < block.length; at += columns) ends[rangeOf(at)]! += columns;
  const dealt = Array.from(ends, (length) => new Float64Array(length));
  ends.fill(0);
  for (let at = 0; at < block.length; at += columns) {
    const range = rangeOf(at);
    const into = dealt[range] as Float64Array;
    let end = ends[range] as number;
    for (let column = 0; column < columns; column++) into[end++] = block[at + column] as number;
    ends[range] = end;
  }
  return dealt;
}
