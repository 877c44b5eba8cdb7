import type { Engine, EngineOptions, Inspected, OpenedStore } from "./engine.ts";
import { openPostgresEngine } from "./postgres/engine.ts";
import { inspectPostgres, openPostgresStore } from "./postgres/store.ts";
import { openSqliteEngine } from "./sqlite/engine.ts";
import { inspectFile, openStore as openFile } from "./sqlite/store.ts";

/** Whether the address is one of a PostgreSQL server; all others are paths of a file. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//i.test(url);
}

/** The database that the address names, for the server; `thread` is where an embedded one writes. */
export async function openEngine(thread: URL, options: EngineOptions): Promise<Engine> {
  return isPostgres(options.url) ? openPostgresEngine(options) : openSqliteEngine(thread, options);
}

/** The database that the address names, for a command; its tables are brought up to date. */
export async function openStore(url: string, now: number): Promise<OpenedStore> {
  return isPostgres(url) ? openPostgresStore(url, now) : openFile(url, now);
}

/** The database that the address names, to look at: it must be there and up to date. */
export async function inspectStore(url: string): Promise<Inspected> {
  return isPostgres(url) ? inspectPostgres(url) : inspectFile(url);
}
