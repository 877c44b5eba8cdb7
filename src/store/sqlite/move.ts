import type { Awaitable } from "../../core/ports.ts";
import { type Filling, insertOf, type MovedRow, RefusedRows, type Snapshot } from "../move/moving.ts";
import type { CarriedTable } from "../move/tables.ts";
import { type Statement, sql, type Value } from "../statement.ts";
import type { Connection } from "./connection.ts";
import { diagnoseIn } from "./doctor.ts";

const lastId = sql<{ seq: number }>`select seq from sqlite_sequence where name = :table`;
const forgetLastId = sql`delete from sqlite_sequence where name = :table`;
const keepLastId = sql`insert into sqlite_sequence (name, seq) values (:table, :lastId)`;

/** One read transaction: a running server writes beside it, and nothing of that is seen. */
export async function inSnapshot<T>(db: Connection, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  db.exec("begin");
  try {
    return await work({
      db,
      rows: (table) => someAtOnce(db, table),
      lastId: async ({ name }) => (await db.get(lastId, { table: name }))?.seq ?? 0,
    });
  } finally {
    db.rollback();
  }
}

async function* someAtOnce(db: Connection, { name, columns, key, rowsAtOnce }: CarriedTable) {
  const names = Object.keys(columns);
  let some: MovedRow[] = [];
  for (const row of db.each(`select ${names.join(", ")} from ${name} order by ${key.join(", ")}`)) {
    some.push(names.map((column) => row[column] as Value));
    if (some.length < rowsAtOnce) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** The database in a transaction that has the write lock. */
export function fillingOf(db: Connection): Filling {
  const inserts = new Map<CarriedTable, Statement>();
  return {
    db,
    add(table, rows): Awaitable<void> {
      const insert = inserts.get(table) ?? insertOf(table, 1, "own");
      inserts.set(table, insert);
      let place = 0;
      try {
        for (; place < rows.length; place++) db.run(insert, rows[place] as MovedRow);
      } catch (error) {
        const { code, message } = error as { code?: unknown; message: string };
        throw String(code).startsWith("SQLITE_CONSTRAINT") ? new RefusedRows(message, place) : error;
      }
    },
    continueAfter({ name, numbersRows }, id) {
      if (!numbersRows) return;
      db.run(forgetLastId, { table: name });
      if (id > 0) db.run(keepLastId, { table: name, lastId: id });
    },
    diagnose: () => diagnoseIn(db),
  };
}
