import type { Inspected, OpenedStore } from "../engine.ts";
import type { Snapshot } from "../move/moving.ts";
import { reads } from "../store.ts";
import { type Connection, connect } from "./connection.ts";
import { diagnoseFile } from "./doctor.ts";
import { migrate, requireCurrentFile, requireOurFile } from "./migrate.ts";
import { fillingOf, inSnapshot } from "./move.ts";
import { makePlace } from "./place.ts";
import { sqliteWrites } from "./writes.ts";

/** The embedded database, opened for a command: everything in this thread. */
export interface EmbeddedStore extends OpenedStore {
  readonly db: Connection;
  close(): void;
}

/** Opens the database file, makes it if it is not there, and brings its tables up to date. */
export function openStore(path: string, now: number): EmbeddedStore {
  makePlace(path);
  const db = connect(path, "write", requireOurFile);
  try {
    const migrated = migrate(db, now);
    const store = sqliteWrites(db);
    return {
      db,
      migrated,
      ...inspected(db),
      transact: (work) => inTransaction(db, () => work(store)),
      fill: (work) => inTransaction(db, () => work(fillingOf(db))),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens a file that must be there, and changes nothing in it. */
export function inspectFile(path: string): Inspected {
  const db = connect(path, "read");
  try {
    requireCurrentFile(db);
  } catch (error) {
    db.close();
    throw error;
  }
  return inspected(db);
}

function inspected(db: Connection) {
  return {
    reads: reads(db),
    diagnose: () => diagnoseFile(db),
    snapshot: <T>(work: (snapshot: Snapshot) => Promise<T>) => inSnapshot(db, work),
    close: () => db.close(),
  };
}

async function inTransaction<T>(db: Connection, work: () => Promise<T>): Promise<T> {
  db.begin();
  try {
    const done = await work();
    db.commit();
    return done;
  } catch (error) {
    db.rollback();
    throw error;
  }
}
