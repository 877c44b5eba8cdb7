import { Database } from "bun:sqlite";
import { constants, copyFileSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { hashOf, KEY_BYTES, keyFrom } from "../src/core/key-format.ts";

/** Enough for 10,000 pages of 20. */
export const PETS = 250_000;
export const CATEGORIES = 10;
export const PLENTY = 1_000_000_000;
/** What every stock starts with: more than any run orders. */
export const UNITS = 2_000_000_000;
/** Room that ten million rows with their indexes, and the log beside them, may take. */
const GIB_FOR_MILLIONS = 10;
const MILLIONS = 1_000_000;

export interface Filling {
  readonly pets: number;
  /** Completed orders of the first client. */
  readonly orders?: number;
}

export interface Filled {
  readonly path: string;
  readonly pets: number;
  /** A key that may ask as much as it likes, and one that is spent after one request. */
  readonly key: string;
  readonly spentKey: string;
}

/** A store with our own tables and this many rows, made by SQL. Every tenth pet is sold out. */
export function filled(path: string, { pets, orders = 0 }: Filling): Filled {
  if (pets + orders >= MILLIONS) requireRoom(path);
  migrated(path);
  const now = Date.now();
  const keys = withDatabase(path, (db) => {
    db.run(`${counting(CATEGORIES)} insert into categories (name, name_key, description, created_at)
      select 'Category ' || i, 'category ' || i, 'Animals of kind ' || i, ${now} from n`);
    withoutIndexes(db, ["pets"], () => {
      db.run(`${counting(pets)}
        insert into pets (id, name, name_key, category_id, status, quantity, open_orders, created_at, last_movement_id)
        select i, 'Pet ' || i, 'pet ' || i, 1 + i % ${CATEGORIES}, case when i % 10 = 0 then 'sold' else 'available' end,
          case when i % 10 = 0 then 0 else ${UNITS} end, 0, ${now},
          case when i % 10 <> 0 then i end from n`);
      db.run(`insert into movements (id, pet_id, change, balance, reason, at)
        select last_movement_id, id, quantity, quantity, 'created', created_at from pets where quantity > 0`);
    });
    const made = [addClients(db, 1, PLENTY), addClients(db, 1, 1)].flat();
    if (orders > 0) {
      withoutIndexes(db, ["orders"], () => {
        db.run(`${counting(orders)}
          insert into orders (client_id, pet_id, quantity, ship_date, complete, created_at)
          select 1, 1 + i % ${pets}, 1, ${now} - i, 1, ${now} - i from n`);
      });
    }
    return made;
  });
  return { path, pets, key: keys[0] as string, spentKey: keys[1] as string };
}

/** The tables, made by the command as an operator would: nothing of it stays open in this process. */
function migrated(path: string): void {
  const env = { ...process.env, DATABASE_URL: path };
  const { exitCode, stderr } = Bun.spawnSync([join(import.meta.dir, "../petstore"), "migrate"], { env });
  if (exitCode !== 0) throw new Error(`petstore migrate failed: ${stderr}`);
}

/** A copy of a filled store, for a server of its own. */
export function copied(from: Filled, path: string): Filled {
  copyFileSync(from.path, path, constants.COPYFILE_FICLONE);
  return { ...from, path };
}

/** More clients, each with a key; gives the keys. */
export function moreClients(path: string, count: number, perMinute = PLENTY): string[] {
  return withDatabase(path, (db) => addClients(db, count, perMinute));
}

function addClients(db: Database, count: number, perMinute: number): string[] {
  const now = Date.now();
  const client = db.prepare<{ id: number }, [number, number, number]>(
    "insert into clients (name, plan, per_minute, per_day, created_at) values ('bench', 'enterprise', ?, ?, ?) returning id",
  );
  const key = db.prepare(
    "insert into api_keys (client_id, role, hash, last_four, created_at) values (?, 'customer', ?, ?, ?)",
  );
  const keys: string[] = [];
  db.transaction(() => {
    for (let n = 0; n < count; n++) {
      const made = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
      const { id } = client.get(perMinute, PLENTY, now) as { id: number };
      key.run(id, hashOf(made), made.slice(-4), now);
      keys.push(made);
    }
  })();
  return keys;
}

/** A connection that hurries: what is lost in a crash is made again. */
function withDatabase<T>(path: string, work: (db: Database) => T): T {
  const db = new Database(path);
  try {
    // Not straight to none: a log beside the file would not be copied with it.
    db.run("pragma journal_mode = delete");
    db.run("pragma journal_mode = off");
    db.run("pragma synchronous = off");
    db.run("pragma cache_size = -262144");
    return work(db);
  } finally {
    db.close(true);
  }
}

/** Indexes are made after the rows, sorted, which is many times faster than row by row. */
function withoutIndexes(db: Database, tables: readonly string[], work: () => void): void {
  const indexes = db
    .query<{ name: string; sql: string }, []>(
      `select name, sql from sqlite_schema where type = 'index' and sql is not null
        and tbl_name in (${tables.map((table) => `'${table}'`).join(", ")})`,
    )
    .all();
  const statistics = db.query<Record<string, string>, []>("select * from sqlite_stat1").all();
  for (const { name } of indexes) db.run(`drop index ${name}`);
  work();
  for (const { sql } of indexes) db.run(sql);
  // A dropped index takes what the planner was told with it.
  db.run("delete from sqlite_stat1");
  const tell = db.prepare("insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)");
  for (const { tbl, idx, stat } of statistics) tell.run(tbl as string, idx as string, stat as string);
}

function counting(count: number): string {
  return `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
}

function requireRoom(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  const gib = (bavail * bsize) / 1024 ** 3;
  if (gib < GIB_FOR_MILLIONS)
    throw new Error(
      `Millions of rows need ${GIB_FOR_MILLIONS} GiB in ${dirname(path)}, which has ${gib.toFixed(1)}. Set TMPDIR to a folder with more room.`,
    );
}
