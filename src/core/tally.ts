import type { Int64 } from "../contract/shapes.ts";
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
/** One more than the highest class of status. */
export const STATUS_CLASSES = 8;

/** Rows of a block in a part: so few are written at once that nobody waits long for it. */
export const PART_ROWS = 1000;

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
  if (longest > 0 && longest <= mostRows) return [tally];
  const cut = (block: Float64Array, columns: number, at: number) =>
    block.slice(at * mostRows * columns, (at + 1) * mostRows * columns);
  return Array.from({ length: Math.ceil(longest / mostRows) }, (_, at) => ({
    windows: cut(tally.windows, WINDOW_COLUMNS, at),
    usage: cut(tally.usage, USAGE_COLUMNS, at),
    operations: tally.operations,
    lastUsed: cut(tally.lastUsed, LAST_USED_COLUMNS, at),
  }));
}

/** Tallies, oldest first, as one that has one row for each client or key, sorted. */
export function combined(tallies: readonly Tally[]): Tally {
  const { windows, usage, operations, lastUsed } = joined(tallies);
  return {
    windows: merged(windows, WINDOW_COLUMNS, firstColumn(windows, WINDOW_COLUMNS), "last"),
    usage: merged(usage, USAGE_COLUMNS, usageKeys(usage, operations.length), "sum"),
    operations,
    lastUsed: merged(lastUsed, LAST_USED_COLUMNS, firstColumn(lastUsed, LAST_USED_COLUMNS), "last"),
  };
}

/**
 * Tallies, oldest first, as parts that have no row in common: rows that lie side by side in a table come together, and few
 * enough for one transaction.
 */
export function dealtOut(tallies: readonly Tally[]): Tally[] {
  return slices(combined(tallies), PART_ROWS);
}

/** A row of each client's windows. */
export function windowRows(windows: Float64Array): (Windows & { clientId: number })[] {
  return rowsOf(windows, WINDOW_COLUMNS, (at) => ({
    clientId: windows[at] as number,
    minuteOpenedAt: windows[at + 1] as number,
    minuteCount: windows[at + 2] as number,
    day: windows[at + 3] as number,
    dayCount: windows[at + 4] as number,
  }));
}

export function usageRows(tally: Pick<Tally, "usage" | "operations">): UsageRecord[] {
  return rowsOf(tally.usage, USAGE_COLUMNS, (at) => usageAt(tally, at));
}

export function lastUses(lastUsed: Float64Array): { keyId: number; at: number }[] {
  return rowsOf(lastUsed, LAST_USED_COLUMNS, (at) => ({
    keyId: lastUsed[at] as number,
    at: lastUsed[at + 1] as number,
  }));
}

/** What a tally still holds of the usage that is asked for. */
export function usageIn(
  tally: Pick<Tally, "usage" | "operations">,
  { clientId, fromDay, toDay }: Omit<UsageQuery, "clientId"> & { readonly clientId?: Int64 | undefined },
): UsageRecord[] {
  const { usage } = tally;
  const records: UsageRecord[] = [];
  const wanted = clientId === undefined ? undefined : Number(clientId);
  for (let at = 0; at < usage.length; at += USAGE_COLUMNS) {
    const day = usage[at + 1] as number;
    if ((wanted !== undefined && usage[at] !== wanted) || day < fromDay || day > toDay) continue;
    records.push(usageAt(tally, at));
  }
  return records;
}

function usageAt({ usage, operations }: Pick<Tally, "usage" | "operations">, at: number): UsageRecord {
  return {
    clientId: usage[at] as number,
    day: usage[at + 1] as number,
    operation: operations[usage[at + 2] as number] as string,
    statusClass: usage[at + 3] as number,
    requests: usage[at + 4] as number,
  };
}

/** What is made of the row at each place. */
function rowsOf<Row>(block: Float64Array, columns: number, rowAt: (at: number) => Row): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < block.length; at += columns) rows.push(rowAt(at));
  return rows;
}

/** A tally's usage with its operations numbered as in another list. */
function renumbered({ usage, operations }: Tally, list: readonly string[]): Float64Array {
  const numbers = operations.map((operation) => list.indexOf(operation));
  const copy = usage.slice();
  for (let at = 2; at < copy.length; at += USAGE_COLUMNS) copy[at] = numbers[copy[at] as number] as number;
  return copy;
}

function firstColumn(rows: Float64Array, columns: number): Float64Array {
  const column = new Float64Array(rows.length / columns);
  for (let row = 0; row < column.length; row++) column[row] = rows[row * columns] as number;
  return column;
}

/** A number for each row of usage, the same for rows that add up, and in the order of client, day, operation and class. */
function usageKeys(usage: Float64Array, operations: number): Float64Array {
  const keys = new Float64Array(usage.length / USAGE_COLUMNS);
  let [firstDay, lastDay] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 1; at < usage.length; at += USAGE_COLUMNS) {
    firstDay = Math.min(firstDay, usage[at] as number);
    lastDay = Math.max(lastDay, usage[at] as number);
  }
  const days = lastDay - firstDay + 1;
  for (let row = 0, at = 0; row < keys.length; row++, at += USAGE_COLUMNS) {
    const ofDay = (usage[at] as number) * days + (usage[at + 1] as number) - firstDay;
    keys[row] = (ofDay * operations + (usage[at + 2] as number)) * STATUS_CLASSES + (usage[at + 3] as number);
  }
  return keys;
}

/**
 * Sorted, with one row for each key: the last, or one whose last column is the sum of theirs. Numbers alone are sorted, which
 * is many times quicker than to compare rows.
 */
function merged(
  rows: Float64Array,
  columns: number,
  keys: Float64Array,
  holds: "last" | "sum",
): Float64Array {
  const places = distinct(keys);
  const result = new Float64Array(places.length * columns);
  let place = 0;
  for (let row = 0; row < keys.length; row++) {
    const key = keys[row] as number;
    // In rows that are sorted already it is the next.
    place = places[place + 1] === key ? place + 1 : placeOf(places, key);
    const end = (place + 1) * columns - 1;
    const before = holds === "sum" ? (result[end] as number) : 0;
    for (let column = 0; column < columns; column++)
      result[place * columns + column] = rows[row * columns + column] as number;
    result[end] = (result[end] as number) + before;
  }
  return result;
}

function distinct(numbers: Float64Array): Float64Array {
  const sorted = numbers.toSorted();
  let end = 0;
  for (let at = 0; at < sorted.length; at++)
    if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[end++] = sorted[at] as number;
  return sorted.subarray(0, end);
}

/** Where a number is in a sorted list that has it. */
function placeOf(sorted: Float64Array, number: number): number {
  let [least, most] = [0, sorted.length - 1];
  while (least < most) {
    const middle = (least + most) >> 1;
    if ((sorted[middle] as number) < number) least = middle + 1;
    else most = middle;
  }
  return least;
}

/** One tally after another, with one list of operations. */
export function joined(tallies: readonly Tally[]): Tally {
  const operations = [...new Set(tallies.flatMap((tally) => tally.operations))].sort();
  return {
    windows: inOne(tallies.map((tally) => tally.windows)),
    usage: inOne(tallies.map((tally) => renumbered(tally, operations))),
    operations,
    lastUsed: inOne(tallies.map((tally) => tally.lastUsed)),
  };
}

/** One block after another; one alone is not copied. */
export function inOne(blocks: readonly Float64Array[]): Float64Array {
  const [first] = blocks;
  if (first && blocks.length === 1) return first;
  const all = new Float64Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const block of blocks) {
    all.set(block, end);
    end += block.length;
  }
  return all;
}
