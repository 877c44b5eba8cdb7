import { USUAL_LIMIT } from "../core/pages.ts";
import type { After } from "../core/ports.ts";
import { type Fragment, type Statement, statement, type Value } from "./statement.ts";

/** Collects the conditions of a query with their values, each `?` standing for the next of them. */
export class Conditions {
  readonly texts: string[] = [];

  constructor(readonly values: Value[]) {}

  add(text: string, ...values: Value[]): this {
    this.texts.push(text);
    this.values.push(...values);
    return this;
  }
}

export interface Page {
  readonly columns: Fragment;
  /** Of a page that may be merged: what its columns are called. */
  readonly names?: string;
  readonly table: string;
  /** The column that sorts, before `id` breaks ties. */
  readonly key: string;
  readonly descending: boolean;
  readonly after?: After | undefined;
  readonly limit: number;
  /**
   * One index range each, merged by the sort: a filter over several values of a column, or none, still reads
   * only the rows of the page from each range.
   */
  readonly branches: readonly ((where: Conditions) => void)[];
}

/**
 * Not the bare value, because SQLite plans a statement anew each time that one is bound as a limit: more work than the page. A
 * bigint, because PostgreSQL would take an integer.
 */
export const LIMIT = "limit cast(? as bigint)";

/** A keyset page: its cost does not depend on how far down the list it is. The text is the same for all pages of one shape. */
export function page(query: Page): { text: string; values: Value[] } {
  const { branches, key, limit } = query;
  const values: Value[] = [];
  const direction = query.descending ? "desc" : "asc";
  const order = key === "id" ? `id ${direction}` : `${key} ${direction}, id ${direction}`;
  const isMerged = branches.length > 1;
  // What is merged is sorted by its names, so the sort key goes along.
  const columns = isMerged ? `${query.columns.text}, ${key} as sort_key` : query.columns.text;
  const branch = (narrow: (where: Conditions) => void) => {
    const where = new Conditions(values);
    narrow(where);
    const isFiltered = where.texts.length > 0;
    startAfter(where, query);
    const filter = where.texts.length > 0 ? ` where ${where.texts.join(" and ")}` : "";
    const all = `select ${columns} from ${query.table}${filter} order by ${order}`;
    if (!isMerged && !isFiltered && limit === USUAL_LIMIT) return `${all} limit ${USUAL_LIMIT}`;
    values.push(limit);
    return `${all} ${LIMIT}`;
  };
  const texts = branches.map(branch);
  if (!isMerged) return { text: texts[0] as string, values };
  values.push(limit);
  const merged = texts.map((text) => `select * from (${text}) as branch`).join(" union all ");
  const mergedOrder = `sort_key ${direction}, id ${direction}`;
  return {
    text: `select ${query.names} from (${merged}) as merged order by ${mergedOrder} ${LIMIT}`,
    values,
  };
}

/** What columns are called in the rows that they give. */
export function namesOf(columns: Fragment): string {
  return columns.text.replace(/\w+ as ("\w+")/g, "$1");
}

/** Texts of lists that are kept as statements; with more, all but those that connections hold are made anew. */
const LISTINGS = 500;
const listings = new Map<string, Statement>();

/** The statement of a list's text. */
export function listing<Row>(text: string): Statement<Row> {
  return (listings.get(text) ?? newListing(text)) as Statement<Row>;
}

/**
 * A list of a whole table, as most ask for it, is kept prepared by PostgreSQL, which needs half of the time for it then. Its text has the
 * size of the page, which a kept plan would not know otherwise, and its order leaves one index to go by.
 */
function newListing(text: string): Statement {
  let values = 0;
  const made = statement<unknown>(
    text.replaceAll("?", () => `:${values++}`),
    text.includes(LIMIT) ? "list" : "kept list",
  );
  if (listings.size >= LISTINGS)
    for (const [known, { kind }] of listings) if (kind === "list") listings.delete(known);
  listings.set(text, made);
  return made;
}

function startAfter(where: Conditions, { key, descending, after }: Page): void {
  if (!after) return;
  const beyond = descending ? "<" : ">";
  if (key === "id") where.add(`id ${beyond} ?`, after.id);
  else where.add(`(${key}, id) ${beyond} (?, ?)`, after.key, after.id);
}
