import { PAGE_DEFAULT } from "../contract/bounds.ts";
import { fail } from "./failure.ts";
import type { After } from "./ports.ts";

/** Records that the store is asked for, if nobody says how many: one more tells whether there is a next page. */
export const USUAL_LIMIT = PAGE_DEFAULT + 1;

/** Where cursors are written and read: to make a buffer for each takes longer than the rest of it. */
const desk = Buffer.alloc(8 * 1024);

/** The cursor after a record: opaque to callers, good for one sort of one list. */
export function cursorAfter(list: string, sort: string, after: After): string {
  const bytes = desk.write(JSON.stringify([`${list}.${sort}`, after.key, after.id]));
  return desk.toString("base64url", 0, bytes);
}

/** Where a page starts; a cursor that we did not make for this list and sort is refused. */
export function readCursor(
  cursor: string | undefined,
  list: string,
  sort: string,
  keyIs: "number" | "string",
): After | undefined {
  if (cursor === undefined) return undefined;
  const [madeFor, key, id] = parsed(cursor);
  if (madeFor === `${list}.${sort}` && isKey(key, keyIs) && Number.isSafeInteger(id))
    return { key, id: id as number };
  const message =
    "is not a cursor of this list in this order; take it from the Link header of the page before";
  fail("invalid_parameter", `The parameter cursor ${message}.`, [{ field: "cursor", message }]);
}

/** One page of the records read, of which one more than the limit was asked for. */
export function pageOf<R, T>(
  records: readonly R[],
  limit: number,
  show: (record: R) => T,
  cursor: (last: R) => string,
): { body: T[]; next?: string } {
  if (records.length <= limit) return { body: records.map(show) };
  const page = records.slice(0, limit);
  return { body: page.map(show), next: cursor(page[limit - 1] as R) };
}

function parsed(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(desk.toString("utf8", 0, desk.write(cursor, "base64url")));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isKey(key: unknown, keyIs: "number" | "string"): key is number | string {
  if (keyIs === "number") return Number.isSafeInteger(key);
  // No name has these, and not every database takes them.
  return typeof key === "string" && key.isWellFormed() && !key.includes("\0");
}
