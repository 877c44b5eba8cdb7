import { sql } from "../statement.ts";
import { type Connection, connect } from "./connection.ts";

/**
 * A server's reads map the file, as much of it as SQLite can: every commit empties a connection's own pages, so most of
 * them would be fetched again by system calls, one by one. The mapping ends with a commit too, but comes back sixteen pages at a time.
 */
const SERVED = { mmap_size: 2 ** 31 - 2 ** 16, cache_size: -512 };

/** A connection whose reads of one turn of the event loop see one state: taking and giving back locks costs more than a read. */
export interface Reader extends Connection {
  /** The next read sees all that is committed by now. */
  refresh(): void;
}

const beginSnapshot = sql`begin`;
const endSnapshot = sql`commit`;

/** Opens the database for a server's reads. */
export function connectReader(path: string): Reader {
  const db = connect(path, "read");
  // Wishes, not read back: a library without mapping serves as well, only slower.
  for (const [name, wanted] of Object.entries(SERVED)) db.exec(`pragma ${name} = ${wanted}`);
  let isOpen = false;
  const refresh = () => {
    if (!isOpen) return;
    isOpen = false;
    try {
      db.run(endSnapshot, []);
    } catch {
      // A read that met trouble has ended it; that read has told of it.
      db.rollback();
    }
  };
  const inSnapshot = () => {
    if (isOpen) return;
    db.run(beginSnapshot, []);
    isOpen = true;
    setImmediate(refresh);
  };
  return {
    ...db,
    get(statement, args) {
      inSnapshot();
      return db.get(statement, args);
    },
    all(statement, args) {
      inSnapshot();
      return db.all(statement, args);
    },
    refresh,
    close() {
      refresh();
      db.close();
    },
  };
}
