import type { After } from "../core/ports.ts";
import { type Fragment, type Statement, statement, type Value } from "./statement.ts";

/** Collects the conditions of a query with their values. */
export class Conditions {
  readonly texts: string[] = [];

  constructor(readonly values: Value[]) {}

  /** Adds a condition, each `?` in it standing for the next of the values. */
  add(text: string, ...values: Value[]): this {
    let next = 0;
    this.texts.push(text.replaceAll("?", () => `:${this.values.push(values[next++] as Value) - 1}`));
    return this;
  }
}

export interface Page {
  readonly columns: Fragment;
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

/** A keyset page: its cost does not depend on how far down the list it is. */
export function page(query: Page): { text: string; values: Value[] } {
  const values: Value[] = [];
  const direction = query.descending ? "desc" : "asc";
  const order = query.key === "id" ? `id ${direction}` : `${query.key} ${direction}, id ${direction}`;
  const branch = (narrow: (where: Conditions) => void) => {
    const where = new Conditions(values);
    narrow(where);
    startAfter(where, query);
    const filter = where.texts.length > 0 ? ` where ${where.texts.join(" and ")}` : "";
    const limit = `:${values.push(query.limit) - 1}`;
    return `select ${query.columns.text} from ${query.table}${filter} order by ${order} limit ${limit}`;
  };
  const texts = query.branches.map(branch);
  if (texts.length === 1) return { text: texts[0] as string, values };
  const merged = texts.map((text) => `select * from (${text}) as branch`).join(" union all ");
  return {
    text: `select * from (${merged}) as merged order by ${order} limit :${values.push(query.limit) - 1}`,
    values,
  };
}

/** Texts of lists that are kept as statements; with more, all are made anew. */
const LISTINGS = 500;
const listings = new Map<string, Statement>();

/** The statement of a list's text. */
export function listing<Row>(text: string): Statement<Row> {
  let known = listings.get(text);
  if (!known) {
    if (listings.size >= LISTINGS) listings.clear();
    known = statement<unknown>(text, "list");
    listings.set(text, known);
  }
  return known as Statement<Row>;
}

function startAfter(where: Conditions, { key, descending, after }: Page): void {
  if (!after) return;
  const beyond = descending ? "<" : ">";
  if (key === "id") where.add(`id ${beyond} ?`, after.id);
  else where.add(`(${key}, id) ${beyond} (?, ?)`, after.key, after.id);
}
