import { Database } from "bun:sqlite";
import { numberAfterRestore } from "../../core/event-gap.ts";
import { CannotMove } from "../move/moving.ts";

/** Who is signed in to the console: a sign-out since the backup must not be undone. */
const FORGOTTEN = ["sessions", "sign_in_links"];

/**
 * Takes from a copy of a backup what must not come back with it, and lets its events go on beyond all that were given since: by the
 * store that it replaces, of which the last is `given`, or by one that is lost.
 */
export function beginAnew(file: string, given: number, now: number): void {
  const database = new Database(file, { readwrite: true });
  try {
    database.transaction(() => {
      for (const table of FORGOTTEN) if (hasTable(database, table)) database.run(`delete from ${table}`);
      const number = numberAfterRestore(Math.max(given, lastEvent(database)), now);
      database.run("delete from sqlite_sequence where name = 'events'");
      database.run("insert into sqlite_sequence (name, seq) values ('events', ?)", [number]);
    })();
  } catch (error) {
    throw new CannotMove(`Cannot write ${file}: ${(error as Error).message}. Nothing was changed.`);
  } finally {
    database.close();
  }
}

/** The last number that a store gave an event; 0 where it cannot be read, which may be why a backup is restored. */
export function lastEventOf(path: string): number {
  try {
    const database = new Database(path, { readonly: true });
    try {
      return lastEvent(database);
    } finally {
      database.close();
    }
  } catch {
    return 0;
  }
}

/** A backup of an older version may be without it. */
function hasTable(database: Database, name: string): boolean {
  return database.query("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== null;
}

function lastEvent(database: Database): number {
  const [row] = database.query("select seq from sqlite_sequence where name = 'events'").values();
  return Number(row?.[0] ?? 0);
}
