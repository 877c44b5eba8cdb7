import { Database } from "bun:sqlite";
import { numberAfterRestore } from "../../core/event-gap.ts";
import { CannotMove } from "../move/moving.ts";

/** Who is signed in to the console: a sign-out since the backup must not be undone. */
const FORGOTTEN = ["sessions", "sign_in_links"];

/** The last number that a store gave in each of its tables. */
export type Given = ReadonlyMap<string, number>;

/**
 * Takes from a copy of a backup what must not come back with it, and lets its numbers go on beyond all that were given since by the store
 * that it replaces. Its events go on beyond those of a store that is lost, too. Says whether the store that it replaces can be the one
 * that went on from the backup: a store that has given less cannot, and what the right one has given since is then not known.
 */
export function beginAnew(file: string, given: Given, now: number): boolean {
  const database = new Database(file, { readwrite: true });
  try {
    return database.transaction(() => {
      for (const table of FORGOTTEN) if (hasTable(database, table)) database.run(`delete from ${table}`);
      const own = givenBy(database);
      const last = (table: string) => Math.max(given.get(table) ?? 0, own.get(table) ?? 0);
      for (const table of new Set([...given.keys(), "events"])) {
        if (!hasTable(database, table)) continue;
        const number = table === "events" ? numberAfterRestore(last(table), now) : last(table);
        database.run("delete from sqlite_sequence where name = ?", [table]);
        database.run("insert into sqlite_sequence (name, seq) values (?, ?)", [table, number]);
      }
      return given.size > 0 && [...own].every(([table, number]) => number <= (given.get(table) ?? 0));
    })();
  } catch (error) {
    throw new CannotMove(`Cannot write ${file}: ${(error as Error).message}. Nothing was changed.`);
  } finally {
    database.close();
  }
}

/** None of a database in which nothing was ever numbered. */
export function givenBy(database: Database): Given {
  if (!hasTable(database, "sqlite_sequence")) return new Map();
  const rows = database.query("select name, seq from sqlite_sequence").values();
  return new Map(rows.map(([table, last]) => [String(table), Number(last)]));
}

/** A backup of an older version may be without it. */
function hasTable(database: Database, name: string): boolean {
  return database.query("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== null;
}
