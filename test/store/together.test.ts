// Orders that wait for a connection to PostgreSQL share a transaction; nobody may notice but by the time that it takes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { type Command, type Performed, perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine, OpenedStore } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { UNKNOWN_OUTCOME } from "../../src/store/trouble.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";
import { aDoor, type Door } from "../servers/proxy.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const rules = rulesOf(readConfig({}));
const UNITS = 1000;

let server: ReachedPostgres;
let database: string;
let door: Door;
let beside: OpenedStore;
let engine: Engine;
let clientId: number;
let categoryId: number;

/** Of three connections one writes, so that all but the first of several orders wait. */
const anEngine = (connections = 3) => {
  const url = new URL(server.url(database));
  url.port = String(door.port);
  return openPostgresEngine({ url: url.href, rules, connections, perform, onFault: () => {} });
};

beforeAll(async () => {
  server = await sharedPostgres();
  const url = await server.newStore();
  database = new URL(url).pathname.slice(1);
  door = await aDoor(Number(new URL(url).port));
  beside = await openPostgresStore(url, NOW);
  await beside.transact(async (store) => {
    clientId = (await store.addClient({ name: "Shop", plan: "pro", perMinute: 1, perDay: 1 }, NOW)).id;
    categoryId = (await store.addCategory({ name: "Dogs", description: null }, NOW)).id;
  });
  engine = anEngine();
  await order(await aPet(), "opens the connection");
});
afterAll(async () => {
  expect((await beside.diagnose()).findings).toEqual([]);
  await engine.close();
  await beside.close();
  await door[Symbol.asyncDispose]();
});

function aPet(quantity = UNITS): Promise<number> {
  const pet = { name: "Rex", categoryId, status: "available", quantity, openOrders: 0 } as const;
  return beside.transact(async (store) => (await store.addPet(pet, NOW))?.id as number);
}

const ordering = (petId: number, key: string, quantity = 1): Command => ({
  operation: "orders.place",
  caller: { clientId, keyId: 1, role: "customer" },
  input: { body: { petId, quantity } },
  now: NOW,
  idempotency: { key, fingerprint: `${petId} ${quantity}` },
});

const order = (petId: number, key: string, quantity?: number): Promise<Performed> =>
  engine.perform(ordering(petId, key, quantity));

/** The order, or the code of its refusal. */
const outcome = (asked: Promise<Performed>): Promise<unknown> =>
  asked.then(
    ({ body }) => (body as { petId: number }).petId,
    (error) => (error instanceof Failure ? error.code : error),
  );

/** As an answer is kept. */
const kept = (body: unknown) => JSON.parse(JSON.stringify(body));
const stockOf = async (petId: number) => (await beside.reads.pet(petId))?.quantity;
/** Somebody who has a pet's row, and changes nothing in the end. */
async function holding(petId: number): Promise<{ release(): Promise<void> }> {
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = beside.transact(async (store) => {
    await store.moveStock({ petId, units: -1, openOrders: 1, reason: "ordered", orderId: 1 }, NOW);
    taken.resolve();
    await released.promise;
    throw new Error("It was only held.");
  });
  await taken.promise;
  return {
    async release() {
      released.resolve();
      await done.catch(() => {});
    },
  };
}

const count = async (rest: string) =>
  Number((await server.query(`select count(*)::int as n from ${rest}`, database))[0]?.n);
const keys = (prefix: string, number: number) => Array.from({ length: number }, (_, n) => `${prefix} ${n}`);

test("orders that wait share the next connection's transaction, and each is whole", async () => {
  const pets = [await aPet(), await aPet(), await aPet()];
  door.taken();
  const all = keys("shared", 31).map((key, n) => order(pets[n % 3] as number, key));
  expect(await Promise.all(all.map(outcome))).toEqual(all.map((_, n) => pets[n % 3]));
  // By itself each would take two.
  expect(door.taken()).toBeLessThan(8);
  for (const [n, petId] of pets.entries()) {
    expect(await beside.reads.pet(petId)).toMatchObject({ openOrders: n === 0 ? 11 : 10 });
    expect(await count(`orders where pet_id = ${petId}`)).toBe(n === 0 ? 11 : 10);
  }
  expect(await count("kept_answers where key like 'shared %'")).toBe(31);
  expect(await count(`movements where reason = 'ordered' and pet_id in (${pets})`)).toBe(31);
  for (const [n, each] of all.entries()) {
    const { body } = await each;
    expect((await beside.reads.keptAnswer(clientId, `shared ${n}`, 0))?.body).toBe(JSON.stringify(body));
    const { id } = body as { id: number };
    expect(await count(`events where type = 'order.placed' and subject = 'store/orders/${id}'`)).toBe(1);
  }
});

test("one that is refused is refused by itself, and those that it shared with are done", async () => {
  const [many, few, another] = [await aPet(), await aPet(2), await aPet(2)];
  door.taken();
  const asked = [
    order(many, "by itself"),
    order(another, "too many", 3),
    order(many, "beside 1"),
    order(999_999, "unknown"),
    order(few, "the last two", 2),
    order(few, "too late"),
    order(many, "beside 2"),
  ];
  expect(await Promise.all(asked.map(outcome))).toEqual([
    many,
    "insufficient_stock",
    many,
    "unknown_pet",
    few,
    "pet_not_available",
    many,
  ]);
  expect(door.taken()).toBeLessThan(10);
  expect([await stockOf(many), await stockOf(few), await stockOf(another)]).toEqual([UNITS - 3, 0, 2]);
  expect(await count("kept_answers where key in ('too many', 'unknown', 'too late')")).toBe(0);
});

test("a repetition among them is answered from what was kept, and undoes nobody's order", async () => {
  const petId = await aPet();
  const first = await order(petId, "done before");
  const asked = [order(petId, "a"), order(petId, "b"), order(petId, "done before"), order(petId, "c")];
  const [a, b, again, c] = await Promise.all(asked);
  expect([again?.isReplay, again?.tag, again?.body]).toEqual([true, first.tag, kept(first.body)]);
  expect([a, b, c].map((each) => each?.isReplay)).toEqual([undefined, undefined, undefined]);
  expect(await stockOf(petId)).toBe(UNITS - 4);
});

test("two with one key while all wait are one order, and have one answer", async () => {
  const [other, last] = [await aPet(), await aPet(1)];
  const asked = [
    order(other, "x"),
    order(last, "twice"),
    order(other, "y"),
    order(last, "twice"),
    order(last, "twice"),
  ];
  const [, one, , two, three] = await Promise.all(asked);
  expect([kept(two?.body), kept(three?.body)]).toEqual([kept(one?.body), kept(one?.body)]);
  expect([one, two, three].filter((each) => !each?.isReplay)).toHaveLength(1);
  expect([await stockOf(last), await stockOf(other)]).toEqual([0, UNITS - 2]);
});

test("a row that somebody holds keeps only those waiting who want it", async () => {
  const [free, held] = [await aPet(), await aPet()];
  const wide = anEngine(5);
  const ask = (petId: number, key: string) => wide.perform(ordering(petId, key));
  await Promise.all(keys("opens connections", 5).map((key) => ask(free, key)));
  const holder = await holding(held);
  const others = keys("free", 5).map((key) => ask(free, key));
  const waiting = ask(held, "held");
  let isDone = false;
  void waiting.then(() => {
    isDone = true;
  });
  await Promise.all([...others, ...keys("also free", 5).map((key) => ask(free, key))]);
  expect([isDone, await stockOf(free)]).toEqual([false, UNITS - 15]);
  await holder.release();
  expect(await outcome(waiting)).toBe(held);
  expect(await stockOf(held)).toBe(UNITS - 1);
  await wide.close();
});

test("if their connection ends before the commit, each is done once all the same", async () => {
  const petId = await aPet();
  door.cutAfter("cut off 3");
  const all = keys("cut off", 8).map((key) => order(petId, key));
  expect(await Promise.all(all.map(outcome))).toEqual(all.map(() => petId));
  expect(await stockOf(petId)).toBe(UNITS - 8);
});

test("if the answer to their commit is lost, all are told so, and each can ask again what became of it", async () => {
  const petId = await aPet();
  const [first, ...others] = keys("in doubt", 6).map((key) => order(petId, key));
  await first;
  door.cutAfter("commit\0");
  const told = await Promise.all(others.map((each) => each.catch((error: Failure) => error.message)));
  expect(told).toEqual(others.map(() => UNKNOWN_OUTCOME));
  for (const key of keys("in doubt", 6)) expect((await order(petId, key)).isReplay).toBe(true);
  expect(await stockOf(petId)).toBe(UNITS - 6);
});

test("two servers whose orders want the same pets the other way round do not wait for each other in a circle", async () => {
  const pets = await Promise.all([aPet(), aPet(), aPet()]);
  const held = pets[1] as number;
  const other = anEngine();
  // Each has opened its connection, and its first order leaves nothing to the others but to wait together.
  const [ours, theirs] = [await aPet(), await aPet()];
  const round = (name: string) => [
    ...[ours, ...pets].map((petId, n) => engine.perform(ordering(petId, `${name} there ${n}`))),
    ...[theirs, ...pets.toReversed()].map((petId, n) => other.perform(ordering(petId, `${name} back ${n}`))),
  ];
  await Promise.all(round("first"));
  const holder = await holding(held);
  door.taken();
  const orders = round("second");
  while ((await count("pg_locks where not granted")) < 2) await Bun.sleep(1);
  await holder.release();
  await Promise.all(orders);
  await other.close();
  // In a circle none would get on until the wait for a row is given up, and each then has two of its own.
  expect(door.taken()).toBeLessThan(16);
  for (const petId of pets) expect(await stockOf(petId)).toBe(UNITS - 4);
});

test("more than ten thousand do not wait: the next is refused at once, and nothing of it is done", async () => {
  const petId = await aPet(1_000_000);
  const first = order(petId, "before all");
  const many = keys("many", 10_400).map((key) => outcome(order(petId, key)));
  expect(await Promise.race(many)).toBe("overloaded");
  await first;
  const outcomes = await Promise.all(many);
  const done = await server.query("select key from kept_answers where key like 'many %'", database);
  const isDone = new Set(done.map(({ key }) => key));
  // A commit whose answer did not come in time may have been done.
  for (const [n, each] of outcomes.entries())
    if (each !== "unavailable") expect(isDone.has(`many ${n}`)).toBe(each === petId);
  expect(isDone.size).toBeGreaterThan(0);
  expect(await count(`orders where pet_id = ${petId}`)).toBe(1 + isDone.size);
  expect(await stockOf(petId)).toBe(1_000_000 - 1 - isDone.size);
});
