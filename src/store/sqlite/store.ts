import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { Unavailable } from "../../core/failure.ts";
import type { Reads, Writes } from "../../core/ports.ts";
import { reads, writes } from "../store.ts";
import { tryRollback } from "./batch.ts";
import { type Connection, connect } from "./connection.ts";
import { migrate } from "./migrate.ts";

/** The embedded database, opened for a command: everything in this thread. */
export interface EmbeddedStore {
  readonly db: Connection;
  readonly reads: Reads;
  transact<T>(work: (store: Writes) => Promise<T>): Promise<T>;
  close(): void;
}

/** Opens the database file, makes it if it is not there, and brings its tables up to date. */
export function openStore(
  path: string,
  now: number,
): EmbeddedStore & { readonly migrated: readonly string[] } {
  makePlace(path);
  const db = connect(path, "write");
  try {
    const migrated = migrate(db, now);
    const store = writes(db);
    return {
      db,
      migrated,
      reads: reads(db),
      transact: (work) => inTransaction(db, () => work(store)),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

async function inTransaction<T>(db: Connection, work: () => Promise<T>): Promise<T> {
  db.exec("begin immediate");
  try {
    const done = await work();
    db.exec("commit");
    return done;
  } catch (error) {
    tryRollback(db);
    throw error;
  }
}

/** What is in the store is nobody's business but its owner's: folder and file are made so. */
function makePlace(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Only ever a new file: closing another descriptor of an open database would drop the process's locks on it.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw new Unavailable(error);
  }
}
