import type { Engine, EngineOptions, Inspected, OpenedStore } from "./engine.ts";
import type { BackedUp, BackupOptions } from "./sqlite/backup.ts";
import type { Filled } from "./sqlite/place.ts";
import type { Restored, RestoreOptions } from "./sqlite/restore.ts";

// Each database's own code is loaded when an address names it.

/** Whether the address is one of a PostgreSQL server; all others are paths of a file. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//i.test(url);
}

/** The database that the address names, for the server; `thread` is where an embedded one writes. */
export async function openEngine(thread: URL, options: EngineOptions): Promise<Engine> {
  return isPostgres(options.url)
    ? (await import("./postgres/engine.ts")).openPostgresEngine(options)
    : (await import("./sqlite/engine.ts")).openSqliteEngine(thread, options);
}

/** The database that the address names, for a command; its tables are brought up to date. */
export async function openStore(url: string, now: number): Promise<OpenedStore> {
  return isPostgres(url)
    ? (await import("./postgres/store.ts")).openPostgresStore(url, now)
    : (await import("./sqlite/store.ts")).openStore(url, now);
}

/** The database that the address names, to look at: it must be there and up to date. */
export async function inspectStore(url: string): Promise<Inspected> {
  return isPostgres(url)
    ? (await import("./postgres/store.ts")).inspectPostgres(url)
    : (await import("./sqlite/store.ts")).inspectFile(url);
}

/** Keeps other servers off a database that can have only one, a file; null if another server has it. */
export async function holdStore(url: string): Promise<Disposable | null> {
  return isPostgres(url) ? { [Symbol.dispose]: () => {} } : (await import("./sqlite/place.ts")).holdFile(url);
}

/** The same for an import, which fills a database; a file that was made for it goes again if it is not kept. */
export async function holdStoreToFill(url: string): Promise<Filled | null> {
  return isPostgres(url)
    ? { keep: () => {}, [Symbol.dispose]: () => {} }
    : (await import("./sqlite/place.ts")).holdToFill(url);
}

/** Whether an import is filling a database that is a file: until its end there is nothing in it. */
export async function isBeingFilled(url: string): Promise<boolean> {
  return !isPostgres(url) && (await import("./sqlite/place.ts")).isFileBeingFilled(url);
}

/** Copies a database that is a file into another, as it is at one moment, whether a server runs on it or not. */
export async function backUpStore(path: string, file: string, options: BackupOptions): Promise<BackedUp> {
  return (await import("./sqlite/backup.ts")).backUpFile(path, file, options);
}

/** Puts such a copy in the place of a database that is a file, on which no server runs. */
export async function restoreStore(path: string, file: string, options: RestoreOptions): Promise<Restored> {
  return (await import("./sqlite/restore.ts")).restoreFile(path, file, options);
}
