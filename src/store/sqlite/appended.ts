import type { RowsStatement, Statement, Value } from "../statement.ts";

/** The tables whose new rows wait. */
const tables = /\b(orders|movements|events)\b/;

/**
 * Rows of a transaction that wait to be added: many in one statement are less work for SQLite than one after another. They
 * are added before the commit, before a statement that names their table, and when they are many.
 */
export interface Appended {
  add<Row extends object>(into: RowsStatement<Row>, rows: readonly Row[]): void;
  count(): number;
  /** Adds what waits. */
  settle(): void;
  /** Adds what waits if the statement could miss it. */
  settleFor(statement: Statement): void;
  /** Lets go of what waits: it was undone. */
  drop(): void;
}

/** More than so many are not kept waiting: a batch may be of large writes. */
const WAITING_ROWS = 1000;

export function appendedRows(run: (statement: Statement, values: Value[]) => void): Appended {
  const waiting = new Map<RowsStatement<object>, object[]>();
  let count = 0;
  /** By the place of the statement, because to read its text takes as long as some statements. */
  const named: boolean[] = [];
  const isNamedIn = ({ slot, text }: Statement): boolean => {
    if (slot < 0) return tables.test(text);
    named[slot] ??= tables.test(text);
    return named[slot] as boolean;
  };
  const drop = () => {
    waiting.clear();
    count = 0;
  };
  const settle = () => {
    if (count === 0) return;
    for (const [into, rows] of waiting)
      for (const [statement, values] of into.parts(rows)) {
        if (!isNamedIn(statement)) throw new Error(`Rows of no table that is known wait: ${statement.text}`);
        run(statement, values);
      }
    drop();
  };
  return {
    add(into, rows) {
      const others = waiting.get(into as never);
      if (others) others.push(...rows);
      else waiting.set(into as never, [...rows]);
      count += rows.length;
      if (count >= WAITING_ROWS) settle();
    },
    count: () => count,
    settle,
    settleFor(statement) {
      if (count > 0 && isNamedIn(statement)) settle();
    },
    drop,
  };
}
