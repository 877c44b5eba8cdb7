// A client is removed while an order is being placed for it: one of the two is refused, whichever comes second. While it removes a webhook
// itself neither is.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { OPERATOR } from "../../src/core/clients.ts";
import { Failure } from "../../src/core/failure.ts";
import { type Command, perform } from "../../src/core/perform.ts";
import type { Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { WebhookRecord } from "../../src/core/webhook-ports.ts";
import type { Engine, OpenedStore } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { aFolder, eventually } from "../cli/command.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const rules = rulesOf(readConfig({}));
const WAITING_MS = 2000;

let server: ReachedPostgres;
let database: string;
let store: OpenedStore;
let engine: Engine;
/** What is done to the commands of an operation before they commit. */
const held = new Map<string, Promise<void>>();

beforeAll(async () => {
  server = await sharedPostgres();
  const url = await server.newStore();
  database = new URL(url).pathname.slice(1);
  store = await openPostgresStore(url, NOW);
  engine = openPostgresEngine({
    url,
    rules,
    connections: 4,
    perform: async (writes, command, given) => {
      const done = await perform(writes, command, given);
      await held.get(command.operation);
      return done;
    },
    onFault: () => {},
  });
});
afterAll(async () => {
  await engine.close();
  await store.close();
});

interface Case {
  readonly clientId: number;
  readonly petId: number;
}

/** A client that may be removed, and a pet that it may order. */
function aCase({ transact }: Pick<OpenedStore, "transact">): Promise<Case> {
  return transact(async (s) => {
    const plan = { plan: "enterprise", perMinute: 1, perDay: 1 } as const;
    if (!(await s.clientNamed(OPERATOR, "enterprise"))) await s.addClient({ name: OPERATOR, ...plan }, NOW);
    const { id: clientId } = await s.addClient({ name: "Shop", ...plan }, NOW);
    const category = await s.addCategory({ name: crypto.randomUUID(), description: null }, NOW);
    const pet = await s.addPet(
      { name: "Rex", categoryId: category.id, status: "available", quantity: 5, openOrders: 0 },
      NOW,
    );
    return { clientId, petId: pet?.id as number };
  });
}

async function aWebhook(s: Writes, { clientId }: Case): Promise<WebhookRecord> {
  const key = {
    clientId,
    role: "customer",
    name: null,
    hash: "h",
    lastFour: "abcd",
    expiresAt: null,
  } as const;
  const { id: keyId } = await s.addKey(key, NOW);
  const what = { url: "https://shop.example/", types: null, description: null, secret: "s", startsAfter: 0 };
  return s.addWebhook({ clientId, keyId, role: "customer", ...what }, NOW);
}

const placing = ({ clientId }: Case, body: object): Command => ({
  operation: "orders.place",
  caller: { clientId, keyId: 1, role: "customer" },
  input: { body },
  now: NOW,
});
const removing = ({ clientId }: Case): Command => ({
  operation: "admin.clients.remove",
  changesAccess: true,
  caller: { clientId: 1, keyId: 0, role: "admin" },
  input: { clientId },
  now: NOW,
});
const bodies: [string, (given: Case) => object][] = [
  ["an order", ({ petId }) => ({ petId })],
  ["a draft", () => ({})],
];

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error) => (error instanceof Failure ? error.code : String(error)),
  );

/** Does the first up to its commit, then the second until it waits or is done, then lets the first commit. */
async function bothAtOnce(first: Command, second: Command): Promise<string[]> {
  const gate = Promise.withResolvers<void>();
  held.set(first.operation, gate.promise);
  const one = outcome(engine.perform(first));
  await eventually(() => countOf("wait_event = 'ClientRead' and state = 'idle in transaction'"), WAITING_MS);
  const other = outcome(engine.perform(second));
  await Promise.race([other, eventually(() => countOf("wait_event_type = 'Lock'"), WAITING_MS)]);
  gate.resolve();
  held.clear();
  return Promise.all([one, other]);
}

async function countOf(condition: string): Promise<boolean> {
  const found = await server.query(
    `select pid from pg_stat_activity where datname = '${database}' and ${condition}`,
  );
  return found.length > 0;
}

test.each(bodies)("a removal waits for %s that is being placed, and is refused", async (_, bodyOf) => {
  const given = await aCase(store);
  expect(await bothAtOnce(placing(given, bodyOf(given)), removing(given))).toEqual([
    "done",
    "client_has_open_orders",
  ]);
  expect(await store.reads.client(given.clientId)).not.toBeNull();
  expect((await store.diagnose()).findings).toEqual([]);
});

test.each(bodies)("%s waits for a removal of its client, and is refused", async (_, bodyOf) => {
  const given = await aCase(store);
  expect(await bothAtOnce(removing(given), placing(given, bodyOf(given)))).toEqual([
    "done",
    "revoked_api_key",
  ]);
  const { clientId } = given;
  expect(await store.reads.orders({ clientId, sort: "id", descending: false, limit: 1 })).toEqual([]);
  expect(await store.reads.pet(given.petId)).toMatchObject({ quantity: 5, openOrders: 0 });
  expect((await store.diagnose()).findings).toEqual([]);
});

test("a client is removed though it removes its webhook itself just then, and that is noted once", async () => {
  const given = await aCase(store);
  const { id: webhookId } = await store.transact((s) => aWebhook(s, given));
  const leaving: Command = {
    operation: "webhooks.remove",
    caller: { clientId: given.clientId, keyId: 1, role: "customer" },
    input: { webhookId },
    now: NOW,
  };
  expect(await bothAtOnce(leaving, removing(given))).toEqual(["done", "done"]);
  expect(await store.reads.client(given.clientId)).toBeNull();
  expect(await store.transact(async (s) => s.removedWebhooks(webhookId - 1, 2))).toEqual([
    { id: webhookId, removedAt: NOW },
  ]);
});

test("orders of one client do not wait for each other's commit", async () => {
  const given = await aCase(store);
  const [draft, order] = [placing(given, {}), placing(given, { petId: given.petId })];
  const gate = Promise.withResolvers<void>();
  held.set("orders.place", gate.promise);
  const first = outcome(engine.perform(draft));
  await eventually(() => countOf("wait_event = 'ClientRead' and state = 'idle in transaction'"), WAITING_MS);
  held.clear();
  expect(await outcome(engine.perform(order))).toBe("done");
  gate.resolve();
  expect(await first).toBe("done");
});

test.each(bodies)(
  "in a file, %s that was queued behind the removal of its client is refused",
  async (_, bodyOf) => {
    using folder = aFolder();
    const file = openStore(folder.database, NOW);
    const given = await aCase(file);
    const run = (command: Command) => outcome(file.transact((s) => perform(s, command, rules)));
    expect(await run(removing(given))).toBe("done");
    expect(await run(placing(given, bodyOf(given)))).toBe("revoked_api_key");
    expect(await file.reads.pet(given.petId)).toMatchObject({ quantity: 5, openOrders: 0 });
    expect((await file.diagnose()).findings).toEqual([]);
    await file.close();
  },
);
