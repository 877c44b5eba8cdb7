import pg from "pg";
import { type Filling, insertOf, RefusedRows, type Snapshot } from "../move/moving.ts";
import { type CarriedTable, carried, ROWS_AT_ONCE } from "../move/tables.ts";
import { type Db, type Statement, statement, type Value } from "../statement.ts";
import { inTransaction } from "./connection.ts";
import { diagnoseIn } from "./doctor.ts";
import { eventLock } from "./events.ts";
import type { Pool } from "./pool.ts";
import { classified } from "./trouble.ts";
import type { Sent } from "./wire.ts";

/** Moving a large store takes as long as it takes; a connection that was lost is noticed before. */
const MOVING_MS = 24 * 60 * 60_000;

const noTimeOut: Sent = { text: "set local statement_timeout = 0" };
/** Others can read, which finds nothing, until the import is whole. */
const alone: Sent = { text: `lock table ${carried.map(({ name }) => name).join(", ")} in exclusive mode` };

/** What the server says of values that its types or a table's rules do not allow. */
const REFUSED_VALUES = /^(22|23)/;

/** A transaction that sees the store as it was at its start, whatever runs beside it. */
export async function inSnapshot<T>(pool: Pool, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const isolation = "repeatable read, read only";
  const options = { deadline: Date.now() + MOVING_MS, locks: [noTimeOut], isolation } as const;
  try {
    return await inTransaction(pool, options, (db) =>
      work({ db, rows: (table) => someAtOnce(db, table), lastId: (table) => lastIdOf(db, table) }),
    );
  } catch (error) {
    throw classified(error);
  }
}

async function* someAtOnce(db: Db, table: CarriedTable) {
  const { name, columns, rowsAtOnce } = table;
  const names = Object.keys(columns);
  const rows = `select ${names.join(", ")} from ${name} order by ${orderOf(table)}`;
  await db.run(statement(`declare moving no scroll cursor for ${rows}`, "list"), {});
  const fetch = statement<Record<string, Value>>(`fetch ${rowsAtOnce} from moving`, "list");
  for (let some = await db.all(fetch, {}); some.length > 0; some = await db.all(fetch, {}))
    yield some.map((row) => names.map((column) => row[column] as Value));
  await db.run(statement("close moving", "list"), {});
}

/** By code points, whatever the language of the database. */
function orderOf({ key, columns }: CarriedTable): string {
  return key.map((column) => (columns[column] === "text" ? `${column} collate "C"` : column)).join(", ");
}

/** Not part of the snapshot, but never below it. */
async function lastIdOf(db: Db, { name }: CarriedTable): Promise<number> {
  const found = await db.get(
    statement<{ sequence: string }>(`select pg_get_serial_sequence('${name}', 'id') as sequence`, "list"),
    {},
  );
  const last = statement<{ id: number }>(
    `select case when is_called then last_value else last_value - 1 end as id from ${found?.sequence}`,
    "list",
  );
  return (await db.get(last, {}))?.id ?? 0;
}

/** A transaction that nobody else writes beside. */
export async function inFilling<T>(pool: Pool, work: (filling: Filling) => Promise<T>): Promise<T> {
  const options = { deadline: Date.now() + MOVING_MS, locks: [noTimeOut, alone, eventLock] };
  try {
    return await inTransaction(pool, options, (db) => work(fillingOf(db)));
  } catch (error) {
    throw classified(error);
  }
}

function fillingOf(db: Db): Filling {
  // Kept prepared, because most statements add as many rows as the one before.
  const inserts = new Map<CarriedTable, Statement>();
  return {
    db,
    async add(table, rows) {
      const isFull = rows.length === ROWS_AT_ONCE;
      const insert = (isFull && inserts.get(table)) || insertOf(table, rows.length, isFull ? "own" : "list");
      if (isFull) inserts.set(table, insert);
      try {
        await db.all(insert, rows.flat());
      } catch (error) {
        const isRefused = error instanceof pg.DatabaseError && REFUSED_VALUES.test(error.code ?? "");
        throw isRefused ? new RefusedRows(error.message) : error;
      }
    },
    async continueAfter({ name, numbersRows }, id) {
      // Undone with the transaction, as setting a sequence's value is not.
      if (numbersRows)
        await db.run(statement(`alter table ${name} alter column id restart with ${id + 1}`, "list"), {});
    },
    async diagnose() {
      // The checks join whole tables, and the server's own statistics come only later.
      for (const { name } of carried) await db.run(statement(`analyze ${name}`, "list"), {});
      return diagnoseIn(db);
    },
  };
}
