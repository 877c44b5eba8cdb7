import type { RowsStatement, Statement, Value } from "../statement.ts";

/**
 * Rows of a transaction that wait to be added to tables that only grow: many in one statement are less work for SQLite
 * than one after another. They are added before the commit, and before anybody asks for such rows.
 */
export interface Appended {
  add<Row extends object>(into: RowsStatement<Row>, rows: readonly Row[]): void;
  count(): number;
  /** Adds what waits. */
  settle(): void;
  /** Lets go of what waits: it was undone. */
  drop(): void;
}

export function appendedRows(run: (statement: Statement, values: Value[]) => void): Appended {
  const waiting = new Map<RowsStatement<object>, object[]>();
  let count = 0;
  const drop = () => {
    waiting.clear();
    count = 0;
  };
  return {
    add(into, rows) {
      const others = waiting.get(into as never);
      if (others) others.push(...rows);
      else waiting.set(into as never, [...rows]);
      count += rows.length;
    },
    count: () => count,
    settle() {
      if (count === 0) return;
      for (const [into, rows] of waiting)
        for (const [statement, values] of into.parts(rows)) run(statement, values);
      drop();
    },
    drop,
  };
}
