import { type Changes, Database, type Statement as Prepared } from "bun:sqlite";
import { Unavailable } from "../../core/failure.ts";
import type { Arguments, Db, Statement, Value } from "../statement.ts";
import { type Appended, appendedRows } from "./appended.ts";

/** How long a connection waits for another process's write, such as a command beside a running server. */
const BUSY_TIMEOUT_MS = 5000;
const BUSY_RETRY_MS = 20;
/** A log file that a burst made larger than this is cut back when it begins anew; one that is cut back each time has to grow again, which costs each commit of that time. */
const LOG_FILE_BYTES = 128 * 1024 * 1024;

/**
 * Pages that a connection keeps in memory: enough for what one commit changes, and in a large file for the inner pages of
 * every index. The others are in the system's own cache.
 */
const CACHE_KIB = { least: 4 * 1024, most: 32 * 1024 };
const CACHED_SHARE = 1 / 64;

const WRITING = {
  // This one is a change of the file.
  journal_mode: "wal",
  synchronous: 2,
  wal_autocheckpoint: 0,
  journal_size_limit: LOG_FILE_BYTES,
  // What a savepoint may have to undo stays in memory, and is no file.
  temp_store: 2,
};

/** Statements of lists that a connection holds at once. */
const HELD_LISTS = 100;

type PreparedStatement = Prepared<unknown, Value[]>;

export interface Connection extends Db {
  get<Row>(statement: Statement<Row>, args: Arguments): Row | null;
  /** Runs it and says how many rows it changed, and the id of the last new one. */
  change(statement: Statement, args: Arguments): Changes;
  readonly appended: Appended;
  /** Goes up with each statement that changed rows, and with rows that wait to be added. */
  changes(): number;
  exec(text: string): void;
  /** Begins a transaction for writing. If SQLite ends it by itself, as on a full disk, nothing more is done until it is given up. */
  begin(): void;
  /** Undoes what was done since a savepoint. */
  undoTo(savepoint: string): void;
  /** A number for as long as nothing is committed or undone: what is known with it may not hold with the next. */
  stretch(): number;
  commit(): void;
  /** Undoes what is open, if anything is. */
  rollback(): void;
  /** The first column of the first row. */
  value(text: string): unknown;
  rows(text: string): Record<string, unknown>[];
  /** One row after another, however many there are. */
  each(text: string): Iterable<Record<string, unknown>>;
  close(): void;
}

/**
 * Opens the database; a writer makes the file if it is not there. Every setting is read back. `admit` looks at the file
 * before anything of it is changed, and throws if it must stay as it is.
 */
export function connect(
  path: string,
  mode: "write" | "read",
  admit: (db: Connection) => void = () => {},
): Connection {
  const database = classifying(
    () => new Database(path, mode === "write" ? { create: true, readwrite: true } : { readonly: true }),
  );
  const set = (pragmas: Readonly<Record<string, string | number>>) =>
    classifying(() => {
      for (const [name, wanted] of Object.entries(pragmas)) setPragma(database, name, wanted);
    });
  try {
    set({
      busy_timeout: BUSY_TIMEOUT_MS,
      foreign_keys: 1,
      trusted_schema: 0,
      cache_size: -cacheKib(path),
    });
    const db = connection(database);
    admit(db);
    set(mode === "write" ? WRITING : { query_only: 1 });
    return db;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** By the file as it is now; only asked for its size, because closing a descriptor of it would drop locks. */
function cacheKib(path: string): number {
  const share = Math.ceil((Bun.file(path).size * CACHED_SHARE) / 1024);
  return Math.min(Math.max(share, CACHE_KIB.least), CACHE_KIB.most);
}

function connection(database: Database): Connection {
  // Held for as long as the connection: Bun's own cache keeps only twenty.
  const prepared: PreparedStatement[] = [];
  const lists = new Map<string, PreparedStatement>();
  const held = (statement: Statement): PreparedStatement => {
    if (statement.kind !== "own") return heldList(database, lists, statement.text);
    prepared[statement.slot] ??= database.prepare(statement.text);
    return prepared[statement.slot] as PreparedStatement;
  };
  let isWriting = false;
  let stretch = 0;
  // Counted here, because to ask SQLite takes as long as some writes.
  let changed = 0;
  /** Without its transaction each statement would be committed by itself. */
  const requireWhole = () => {
    if (isWriting && !database.inTransaction) throw new Unavailable("SQLite has ended the transaction.");
  };
  const exec = (text: string) => {
    requireWhole();
    classifying(() => database.run(text));
  };
  const changeAtOnce = (statement: Statement, args: Arguments): Changes => {
    requireWhole();
    try {
      const changes = held(statement).run(...statement.valuesForNow(args));
      changed += changes.changes;
      return changes;
    } catch (error) {
      throw classified(error);
    }
  };
  const appended = appendedRows(changeAtOnce);
  const change = (statement: Statement, args: Arguments): Changes => {
    appended.settleFor(statement);
    return changeAtOnce(statement, args);
  };
  return {
    get<Row>(statement: Statement<Row>, args: Arguments): Row | null {
      requireWhole();
      appended.settleFor(statement);
      try {
        const row = held(statement).get(...statement.valuesForNow(args));
        if (statement.isWrite && row !== null) changed++;
        return row === null || !statement.shape ? (row as Row | null) : statement.shape(row as never);
      } catch (error) {
        throw classified(error);
      }
    },
    all<Row>(statement: Statement<Row>, args: Arguments): Row[] {
      requireWhole();
      appended.settleFor(statement);
      try {
        const rows = held(statement).all(...statement.valuesForNow(args));
        if (statement.isWrite) changed += rows.length;
        return statement.shape ? rows.map((row) => statement.shape?.(row as never) as Row) : (rows as Row[]);
      } catch (error) {
        throw classified(error);
      }
    },
    run(statement: Statement, args: Arguments): void {
      change(statement, args);
    },
    append: appended.add,
    appended,
    change,
    changes() {
      requireWhole();
      return changed + appended.count();
    },
    exec,
    begin() {
      exec("begin immediate");
      isWriting = true;
      stretch++;
    },
    undoTo(savepoint) {
      stretch++;
      appended.drop();
      exec(`rollback to ${savepoint}`);
    },
    stretch: () => stretch,
    commit() {
      appended.settle();
      exec("commit");
      isWriting = false;
    },
    rollback() {
      isWriting = false;
      appended.drop();
      try {
        exec("rollback");
      } catch {
        // Nothing was open any more, which is what was wanted.
      }
    },
    // Bun keeps the last of these, and lets go of them with the connection.
    value: (text) => classifying(() => database.query<unknown, []>(text).values()[0]?.[0]),
    rows: (text) => classifying(() => database.query<Record<string, unknown>, []>(text).all()),
    *each(text) {
      const statement = classifying(() => database.prepare<Record<string, unknown>, []>(text));
      try {
        yield* statement.iterate();
      } catch (error) {
        throw classified(error);
      } finally {
        statement.finalize();
      }
    },
    close() {
      for (const statement of [...prepared, ...lists.values()]) statement?.finalize();
      database.close();
    },
  };
}

/** The least recently used list makes room: a list's statement is large, and there are many lists. */
function heldList(
  database: Database,
  lists: Map<string, PreparedStatement>,
  text: string,
): PreparedStatement {
  const statement = lists.get(text) ?? database.prepare<unknown, Value[]>(text);
  lists.delete(text);
  lists.set(text, statement);
  if (lists.size > HELD_LISTS) {
    const [[oldest, dropped]] = lists as unknown as [[string, PreparedStatement]];
    lists.delete(oldest);
    dropped.finalize();
  }
  return statement;
}

function setPragma(database: Database, name: string, wanted: string | number): void {
  patiently(() => database.run(`pragma ${name} = ${wanted}`));
  const [row] = database.query(`pragma ${name}`).values();
  if (row?.[0] !== wanted)
    throw new Error(`SQLite keeps ${name} at ${row?.[0]} where ${wanted} was asked for.`);
}

/** The change to WAL, or from it, does not always wait for others by itself. */
export function patiently(work: () => void): void {
  for (const deadline = Date.now() + BUSY_TIMEOUT_MS; ; ) {
    try {
      work();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== "SQLITE_BUSY" || Date.now() > deadline) throw error;
      Bun.sleepSync(BUSY_RETRY_MS);
    }
  }
}

function classifying<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw classified(error);
  }
}

/** What is the database's trouble and not ours: busy, full, unreadable, not there. */
const troubles = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB|PROTOCOL|NOMEM)/;

function classified(error: unknown): unknown {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" && troubles.test(code) ? new Unavailable(error) : error;
}
