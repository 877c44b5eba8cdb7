import { afterAll, beforeAll, expect, test } from "bun:test";
import { LOW_STOCK } from "../../src/contract/bounds.ts";
import { roles } from "../../src/contract/route.ts";
import type { Reads } from "../../src/core/ports.ts";
import { limitWrites } from "../../src/store/limits.ts";
import { readsAskedTogether } from "../../src/store/postgres/asked-together.ts";
import { openWire, type Wire } from "../../src/store/postgres/wire.ts";
import {
  type Arguments,
  type Db,
  fragment,
  type Statement,
  sql,
  type Value,
} from "../../src/store/statement.ts";
import { takenSomeUnits } from "../../src/store/stock.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { anId, categoryLists, eventLists, orderLists, petLists } from "./lists.ts";

// A page may read only about as many rows as it shows. PostgreSQL says how many rows each step of a plan has really
// read, those that a filter threw away included; the store is large enough that reading more would be seen.

const PETS = 60_000;
const ORDERS = 60_000;
/** For each range of an index that is merged into a page of 21: the page, and a little on the way. */
const ROWS_OF_A_RANGE = 100;

let wire: Wire;
beforeAll(async () => {
  const server = await sharedPostgres();
  const url = await server.newStore();
  const patience = { connectMs: 5000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
  wire = await openWire({ url, ...patience }, () => {});
  for (const text of [
    "insert into clients (name, plan, per_minute, per_day, created_at) select 'c', 'pro', 1, 1, 0 from generate_series(1, 50)",
    "insert into categories (name, name_key, created_at) select 'Dogs ' || n, 'dogs ' || n, 0 from generate_series(1, 3000) n",
    `insert into pets (name, name_key, category_id, status, quantity, open_orders, created_at)
      select 'Rex', (array['rex', 'tom', 'rey', 'kiwi'])[n % 4 + 1] || n, n % 100 + 1, s, case s when 'sold' then 0 else n % 50 + 1 end, 0, 0
      from (select n, (array['available', 'pending', 'sold'])[(n / 7) % 3 + 1] as s from generate_series(1, ${PETS}) n) as made`,
    `insert into orders (client_id, pet_id, quantity, ship_date, complete, created_at)
      select n % 50 + 1, n % 300 + 1, 1, case when n % 3 = 0 or (n / 5) % 2 = 1 then n % 1000 end, (n / 5) % 2, 0
      from generate_series(1, ${ORDERS}) n`,
    `insert into movements (pet_id, change, balance, reason, at, previous_id)
      select n % 300 + 1, 1, 1, 'created', 0, case when n > 300 then n - 300 end from generate_series(1, 30000) n`,
    "update pets set last_movement_id = 29699 + id where id between 2 and 300",
    "insert into api_keys (client_id, role, hash, last_four, created_at) select n % 50 + 1, 'staff', 'h' || n, 'abcd', 0 from generate_series(1, 5000) n",
    `insert into bans (key_id, client_id, cause, level, since, until, lifted_at)
      select n % 5000 + 1, n % 50 + 1, 'admin', 0, 0, n, case when n % 10 = 0 then 1 end from generate_series(1, 20000) n`,
    "insert into audit (at, operation, subject, input) select n, 'o', 's', '{}' from generate_series(1, 20000) n",
    `insert into kept_answers (client_id, key, fingerprint, kept_at) select n % 50 + 1, 'k' || n, 'f', n from generate_series(1, 20000) n`,
    `insert into events (type, subject, client_id, data, at)
      select case when n % 2 = 0 then (array['pet.created', 'inventory.changed', 'pet.deleted'])[n / 2 % 3 + 1]
          else (array['order.placed', 'key.banned'])[n / 2 % 2 + 1] end,
        's', case when n % 2 = 1 then n % 50 + 1 end, '{}', n
      from generate_series(1, 60000) n`,
    `insert into webhooks (client_id, key_id, role, url, secret, disabled_reason, starts_after, created_at)
      select n % 50 + 1, n % 5000 + 1, 'staff', 'u', 's', case when n % 100 = 0 then null else 'asked' end, n, 0 from generate_series(1, 5000) n`,
    `insert into webhook_deliveries (webhook_id, event_id, message_id, type, body, cause, state, next_at, created_at)
      select n % 300 + 1, n, 'm', 't', '{}', 'event', s, case s when 'pending' then n end, n
      from (select n, (array['pending', 'delivered', 'failed'])[(n / 7) % 3 + 1] as s from generate_series(1, 60000) n) as made`,
    `insert into usage (client_id, day, operation, status_class, requests)
      select n % 1000 + 1, n / 1000, 'pets.list', 2, 1 from generate_series(0, 199999) n`,
    "analyze",
  ])
    await wire.send({ text });
}, 60_000);
afterAll(() => wire.close());

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly Plan[];
}

/** Steps that have read more than a page, of the statements that a question runs. */
async function costly(ask: (asked: Reads, db: Db) => unknown, query: unknown): Promise<string[]> {
  const found: string[] = [];
  const explain = async (statement: Statement, args: Arguments) => {
    const { rows } = await explained(statement, statement.values(args));
    const [{ Plan: root }] = (rows[0] as { "QUERY PLAN": [{ Plan: Plan }] })["QUERY PLAN"];
    for (const step of steps(root)) {
      if (step["Relation Name"] === undefined) continue;
      const thrown = (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Index Recheck"] ?? 0);
      const read = (step["Actual Rows"] + thrown) * step["Actual Loops"];
      if (read > ROWS_OF_A_RANGE)
        found.push(
          `${JSON.stringify(query)}: ${step["Node Type"]} of ${step["Relation Name"]} read ${read} rows`,
        );
    }
  };
  const db: Db = {
    get: async (statement, args) => {
      await explain(statement, args);
      return null;
    },
    all: async (statement, args) => {
      await explain(statement, args);
      return [];
    },
    run: explain,
  };
  await ask(readsAskedTogether(db), db);
  return found;
}

/** What is kept prepared is run by the plan that is kept for whatever values. */
async function explained({ text, kind }: Statement, values: Value[]) {
  const explain = "explain (analyze, format json)";
  if (kind !== "kept list") return wire.send({ text: `${explain} ${text}`, values });
  keptLists.add(text);
  await wire.send({ text: `set plan_cache_mode = force_generic_plan; prepare kept as ${text}` });
  const literals = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const execute = literals.length > 0 ? `execute kept(${literals.join(", ")})` : "execute kept";
  const answered = await wire.send({ text: `${explain} ${execute}` });
  await wire.send({ text: "deallocate kept; reset plan_cache_mode" });
  return answered;
}

/** Texts of lists that connections keep prepared. */
const keptLists = new Set<string>();

function steps(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(steps)];
}

test("postgres: a page of pets or of stock reads about as many rows as it shows, whatever the filter and the order", async () => {
  const found = [];
  for (const query of petLists()) found.push(...(await costly((asked) => asked.pets(query), query)));
  expect(found).toEqual([]);
  // From the beginning and from further on, upwards and downwards.
  expect([...keptLists].filter((text) => text.includes(" from pets "))).toHaveLength(4);
}, 60_000);

test("postgres: units taken of plenty make no new entry in any index of pets, units of few do", async () => {
  const inPlace = async (quantity: number) => {
    await wire.send({ text: "begin" });
    await wire.send({ text: `update pets set quantity = ${quantity}, status = 'available' where id = 1` });
    const before = await hotUpdates();
    const args = { id: 1, units: -1, openOrders: 1, more: -1, opened: 1, takes: 1, movementId: 1 };
    const taken = sql`${takenSomeUnits(fragment`:movementId`)}`;
    await wire.send({ text: taken.text, values: taken.values(args) });
    const after = await hotUpdates();
    await wire.send({ text: "rollback" });
    return after - before;
  };
  expect([await inPlace(LOW_STOCK + 2), await inPlace(LOW_STOCK)]).toEqual([1, 0]);
});

/** Rows of pets that this transaction changed without a new entry in an index. */
async function hotUpdates(): Promise<number> {
  const text = "select pg_stat_get_xact_tuples_hot_updated('pets'::regclass) as updates";
  const [counted] = (await wire.send({ text })).rows as { updates: number }[];
  return Number(counted?.updates);
}

test("postgres: a page of categories reads about as many rows as it shows", async () => {
  const found = [];
  for (const query of categoryLists())
    found.push(...(await costly((asked) => asked.categories(query), query)));
  expect(found).toEqual([]);
});

test("postgres: a page of orders reads about as many rows as it shows, whatever the filter and the order", async () => {
  const found = [];
  for (const query of orderLists()) found.push(...(await costly((asked) => asked.orders(query), query)));
  expect(found).toEqual([]);
}, 60_000);

test("postgres: a page of events reads about as many rows as it shows, whoever asks and whatever the filter", async () => {
  const found = [];
  for (const query of eventLists()) found.push(...(await costly((asked) => asked.events(query), query)));
  found.push(...(await costly((asked) => asked.lastEventBefore(30_000, 60_000), "the first of a time")));
  expect(found).toEqual([]);
});

test("postgres: a page of movements, bans, clients, keys or the audit trail reads about as many rows as it shows", async () => {
  const found = [];
  for (const after of [undefined, anId]) {
    const page = { descending: false, limit: 21, after };
    const down = { ...page, descending: true };
    const ledger = { petId: 7, limit: 21, after: after && { key: 15_006, id: 15_006 } };
    found.push(...(await costly((asked) => asked.movements(ledger), "movements")));
    found.push(...(await costly((asked) => asked.bans(page, 1), "bans")));
    found.push(...(await costly((asked) => asked.clients(page), "clients")));
    const keys = { ...page, clientId: 7, roles } as const;
    found.push(...(await costly((asked) => asked.keyPage(keys), "keys")));
    found.push(...(await costly((asked) => asked.audit(down), "audit")));
  }
  expect(found).toEqual([]);
});

test("postgres: a page of webhooks or of deliveries reads about as many rows as it shows", async () => {
  const found = [];
  for (const after of [undefined, anId]) {
    const page = { limit: 21, after };
    const webhooks = { ...page, clientId: 7, roles, descending: false } as const;
    // Of each client all keys are looked at, a hundred at the most; this store's clients are so few that they are read whole.
    const ofWebhooks = await costly((asked) => asked.webhooks(webhooks), "webhooks");
    found.push(...ofWebhooks.filter((line) => !/ (api_keys|clients) /.test(line)));
    for (const enabled of [undefined, true, false]) {
      const ofAll = { ...page, enabled, descending: false } as const;
      const lines = await costly((asked) => asked.webhooks(ofAll), `all webhooks ${enabled}`);
      found.push(...lines.filter((line) => !/ (api_keys|clients) /.test(line)));
    }
    for (const state of [undefined, "failed"] as const) {
      const deliveries = { ...page, webhookId: 7, state, descending: true } as const;
      found.push(...(await costly((asked) => asked.deliveries(deliveries), `deliveries ${state}`)));
    }
  }
  found.push(...(await costly((asked) => asked.fanOut(), "the state of webhooks")));
  found.push(...(await costly((asked) => asked.delivery(5), "a delivery")));
  expect(found).toEqual([]);
});

test("postgres: pets that are asked for in one turn are each found by its key, and so is its category", async () => {
  const pets = Array.from({ length: 30 }, (_, n) => n * 100 + 1);
  const asked = (asked: Reads) => Promise.all(pets.map((id) => asked.petWithCategory(id)));
  expect(await costly(asked, "pets of a turn")).toEqual([]);
});

test("postgres: a look-up of one record reads that record alone", async () => {
  const asks: ((asked: Reads) => unknown)[] = [
    (asked) => asked.pet(1),
    (asked) => asked.petWithCategory(1),
    (asked) => asked.category(1),
    (asked) => asked.order(1),
    (asked) => asked.keyByHash("h1"),
    (asked) => asked.keptAnswer(1, "k50", 0),
    (asked) => asked.client(1),
    (asked) => asked.key(1),
    (asked) => asked.hasKeys(),
    (asked) => asked.ban(1, 2),
    (asked) => asked.clientBan(1, 2),
    (asked) => asked.countWorkingKeys(1, 2),
    (asked) => asked.accessRevision(),
  ];
  const found = [];
  for (const ask of asks) found.push(...(await costly(ask, String(ask))));
  expect(found).toEqual([]);
});

test("postgres: a day's usage reads that day, once for each of its two sums, and a client's its own", async () => {
  const ofDay = await costly((asked) => asked.usageOfDay(77), "a day");
  expect(ofDay.map((line) => line.replace(/^.* of /, ""))).toEqual([
    "usage read 1000 rows",
    "usage read 1000 rows",
  ]);
  expect(await costly((asked) => asked.usage({ clientId: 7, fromDay: 1, toDay: 92 }), "a client")).toEqual(
    [],
  );
});

test("postgres: a step of dropping old usage reads what it drops, however much is old", async () => {
  const found: string[] = [];
  await wire.send({ text: "begin" });
  for (let step = 1; step <= 7; step++)
    found.push(...(await costly((_, db) => limitWrites(db).forgetUsage(150), step)));
  await wire.send({ text: "rollback" });
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((line) => !line.endsWith(" of usage read 1000 rows"))).toEqual([]);
});
