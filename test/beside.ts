// A test's own connection to the database of a running server, on either engine.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Awaitable } from "../src/core/ports.ts";
import type { OpenedStore } from "../src/store/engine.ts";
import { openPostgresStore } from "../src/store/postgres/store.ts";
import { openWire } from "../src/store/postgres/wire.ts";
import { openStore } from "../src/store/sqlite/store.ts";
import { sharedPostgres } from "./servers/postgres.ts";

/** The engine that this run is about. */
export const ENGINE = process.env.TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

export interface Beside extends OpenedStore {
  readonly db: RawDb;
}

/** Statements as they are, for what no operation does. */
export interface RawDb {
  rows(text: string): Awaitable<Record<string, unknown>[]>;
  /** The first column of the first row. */
  value(text: string): Awaitable<unknown>;
  exec(text: string): Awaitable<void>;
  /** The same for as long as nobody commits anything, here or elsewhere: whoever reads twice under one reads the same. */
  version(): Awaitable<string>;
  /** Holds up every write of a ban, as another process in a long transaction would, until it lets go. */
  holdUp(): Awaitable<void>;
  letGo(): Awaitable<void>;
}

export interface Database {
  readonly url: string;
  open(now: number): Promise<Beside>;
  remove(): Awaitable<void>;
}

/** An empty database for one test. */
export function aDatabase(): Promise<Database> {
  return ENGINE === "postgres" ? aPostgresDatabase() : aFile();
}

async function aFile(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const url = join(folder, "petstore.db");
  return {
    url,
    async open(now) {
      const store = openStore(url, now);
      const { rows, value, exec } = store.db;
      const db: RawDb = {
        rows,
        value,
        exec,
        // The first counts what others commit, the second what this connection changes.
        version: () =>
          String(value("select data_version || ' ' || total_changes() from pragma_data_version")),
        holdUp: () => exec("begin immediate"),
        letGo: () => exec("commit"),
      };
      return { ...store, db };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function aPostgresDatabase(): Promise<Database> {
  const server = await sharedPostgres();
  const url = await server.newStore();
  return {
    url,
    open: (now) => openBeside(url, now),
    remove: () => server.dropDatabase(new URL(url).pathname.slice(1)),
  };
}

async function openBeside(url: string, now: number): Promise<Beside> {
  const store = await openPostgresStore(url, now);
  const patience = { connectMs: 5000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
  const wire = await openWire({ url, ...patience }, () => {});
  const rows = async (text: string) => (await wire.send({ text })).rows as Record<string, unknown>[];
  const exec = async (text: string) => void (await rows(text));
  const value = async (text: string) => Object.values((await rows(text))[0] ?? {})[0];
  const db: RawDb = {
    rows,
    exec,
    value,
    // Which transactions are seen to have ended: PostgreSQL's own name for what a statement reads.
    version: async () => String(await value("select pg_current_snapshot()::text")),
    async holdUp() {
      await exec("begin");
      await exec("lock table bans in exclusive mode");
    },
    letGo: () => exec("commit"),
  };
  const close = async () => {
    await wire.close();
    await store.close();
  };
  return { ...store, db, close };
}
