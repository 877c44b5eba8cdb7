import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Unavailable } from "../../core/failure.ts";
import type { Reads, Writes } from "../../core/ports.ts";
import { reads, writes } from "../store.ts";
import { commitTogether, type Outcome, unwrap } from "./batch.ts";
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
  makeFolder(path);
  const db = connect(path, "write");
  try {
    const migrated = migrate(db, now);
    const store = writes(db);
    return {
      db,
      migrated,
      reads: reads(db),
      transact: async <T>(work: (store: Writes) => Promise<T>) => {
        const [outcome] = await commitTogether(db, [work], (job) => job(store));
        return unwrap(outcome as Outcome<T>);
      },
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw new Unavailable(error);
  }
}
