// What PostgreSQL keeps prepared for as long as a connection lives: its plans, and what the answers look like.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { eventually } from "../cli/command.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
/** More uses than PostgreSQL plans a prepared statement for one by one. */
const USES = 10;
const ANSWERS = 20_000;
/** How late PostgreSQL's own counts may be. */
const COUNTED_MS = 5000;
/** Many who ask at once, and how often tables change meanwhile. */
const [CONNECTIONS, LANES] = [10, 24];
const [CHANGES, CHANGE_EVERY_MS] = [6, 200];
const rules = rulesOf(readConfig({}));

let server: ReachedPostgres;
let database: string;
let engine: Engine;
let open: (connections: number) => void;
let clientId: number;
let petId: number;
beforeEach(async () => {
  server = await sharedPostgres();
  const url = await server.newStore();
  database = new URL(url).pathname.slice(1);
  const store = await openPostgresStore(url, NOW);
  await store.transact(async (s) => {
    clientId = (await s.addClient({ name: "Shop", plan: "pro", perMinute: 1, perDay: 1 }, NOW)).id;
    const { id: categoryId } = await s.addCategory({ name: "Dogs", description: null }, NOW);
    const pet = { name: "Rex", categoryId, status: "available", quantity: 1_000_000, openOrders: 0 } as const;
    petId = (await s.addPet(pet, NOW))?.id as number;
  });
  await store.close();
  open = (connections) => {
    engine = openPostgresEngine({ url, rules, connections, perform, onFault: () => {} });
  };
  open(1);
});
afterEach(() => engine.close());

const order = (key: string) =>
  engine.perform({
    operation: "orders.place",
    caller: { clientId, keyId: 1, role: "customer" },
    input: { body: { petId } },
    now: NOW,
    idempotency: { key, fingerprint: "f" },
  });

/** Rows of kept answers that were read so far, by whatever way. */
async function answersRead(): Promise<{ read: number; uses: number }> {
  const [counted] = await server.query(
    `select (select seq_tup_read from pg_stat_user_tables where relname = 'kept_answers')::int
        + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'kept_answers')::int as read,
      (select n_tup_ins from pg_stat_user_tables where relname = 'orders')::int as uses`,
    database,
  );
  return counted as { read: number; uses: number };
}

test("an order looks at the answer of its own key alone, though its statements were planned when there was none", async () => {
  // As a sweep and a vacuum leave it: PostgreSQL knows that the table is empty.
  await server.query("vacuum analyze", database);
  for (let n = 0; n < USES; n++) await order(`before ${n}`);
  await server.query(
    `insert into kept_answers (client_id, key, fingerprint, kept_at)
      select ${clientId}, 'k' || n, 'f', ${NOW} from generate_series(1, ${ANSWERS}) n`,
    database,
  );
  for (let n = 0; n < USES; n++) await order(`after ${n}`);
  // A connection tells its counts when it ends.
  await engine.close();
  expect(await eventually(async () => (await answersRead()).uses === 2 * USES, COUNTED_MS)).toBe(true);
  expect((await answersRead()).read).toBeLessThan(ANSWERS);
}, 20_000);

test("a table that was changed under a prepared statement costs nobody an answer", async () => {
  for (let n = 0; n < USES; n++) expect(await engine.reads.category(1)).toMatchObject({ description: null });
  await server.query("alter table categories alter column description type varchar(100)", database);
  for (let n = 0; n < USES; n++)
    expect(await engine.reads.category(1)).toMatchObject({ name: "Dogs", version: 1 });
});

test("a table that is changed again and again under many connections costs nobody an answer either", async () => {
  await engine.close();
  open(CONNECTIONS);
  let isOver = false;
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const ask = lane % 2 ? () => engine.reads.category(1) : () => order(crypto.randomUUID());
    let asked = 0;
    for (; !isOver; asked++) await ask();
    return asked;
  });
  const changing = (async () => {
    for (let length = 101; length <= 100 + CHANGES; length++) {
      await Bun.sleep(CHANGE_EVERY_MS);
      await server.query(`alter table categories alter column description type varchar(${length})`, database);
      await server.query(`alter table pets alter column name type varchar(${length})`, database);
    }
    await Bun.sleep(CHANGE_EVERY_MS);
    isOver = true;
  })();
  const asked = await Promise.all(lanes);
  await changing;
  for (const times of asked) expect(times).toBeGreaterThan(CHANGES);
}, 20_000);

test("a statement that PostgreSQL could not prepare at first is prepared when it can be", async () => {
  await server.query("alter table categories rename to kinds", database);
  await expect(Promise.resolve(engine.reads.category(1))).rejects.toThrow("categories");
  await server.query("alter table kinds rename to categories", database);
  for (let n = 0; n < USES; n++) expect(await engine.reads.category(1)).toMatchObject({ name: "Dogs" });
}, 20_000);
