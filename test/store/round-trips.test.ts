import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { type Command, perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aDoor, type Door } from "../servers/proxy.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const rules = rulesOf(readConfig({}));

let door: Door;
let engine: Engine;
let petId: number;
let clientId: number;

beforeAll(async () => {
  const server = await sharedPostgres();
  const direct = await server.newStore();
  const store = await openPostgresStore(direct, NOW);
  await store.transact(async (s) => {
    clientId = (await s.addClient({ name: "Shop", plan: "pro", perMinute: 1, perDay: 1 }, NOW)).id;
    const { id: categoryId } = await s.addCategory({ name: "Dogs", description: null }, NOW);
    const pet = { name: "Rex", categoryId, status: "available", quantity: 1000, openOrders: 0 } as const;
    petId = (await s.addPet(pet, NOW))?.id as number;
  });
  await store.close();
  door = await aDoor(Number(new URL(direct).port));
  const url = new URL(direct);
  url.port = String(door.port);
  engine = openPostgresEngine({ url: url.href, rules, connections: 1, perform, onFault: () => {} });
  await engine.reads.pet(petId);
});
afterAll(async () => {
  await engine.close();
  await door[Symbol.asyncDispose]();
});

const order = (key: string, body: object = { petId }): Command => ({
  operation: "orders.place",
  caller: { clientId, keyId: 1, role: "customer" },
  input: { body },
  now: NOW,
  idempotency: { key, fingerprint: JSON.stringify(body) },
});

/** How many round trips something takes; the rollback that nobody waits for is over first. */
async function tripsOf(work: () => unknown): Promise<number> {
  await engine.reads.accessRevision();
  door.taken();
  await work();
  return door.taken();
}

test("a record is read in one round trip, the first time and ever after", async () => {
  expect(await tripsOf(() => engine.reads.category(1))).toBe(1);
  expect(await tripsOf(() => engine.reads.category(1))).toBe(1);
  expect(await tripsOf(() => engine.reads.petWithCategory(petId))).toBe(1);
});

test("however many ask at once whether the store is ready, it is looked at once", async () => {
  const asked = () => Promise.all(Array.from({ length: 1000 }, () => engine.isReady()));
  expect(await tripsOf(asked)).toBe(1);
  expect(new Set(await asked())).toEqual(new Set([true]));
});

test("pets that are asked for by id in one turn take one round trip, and each asker gets the pet it asked for", async () => {
  const { body } = await engine.perform({
    ...order("some"),
    operation: "pets.createMany",
    input: { body: Array.from({ length: 100 }, (_, n) => ({ name: `Pet ${n}`, categoryId: 1 })) },
  });
  const pets = body as { id: number; name: string }[];
  for (const number of [1, 2, 30, 100]) {
    const some = pets.slice(0, number);
    const asked = () => Promise.all([...some, ...some].map(({ id }) => engine.reads.petWithCategory(id)));
    expect((await asked()).map((pet) => pet?.name)).toEqual([...some, ...some].map(({ name }) => name));
    expect(await tripsOf(asked)).toBe(1);
  }
  const unknown = [9_999_999, 2n ** 62n, -1].map((id) => engine.reads.petWithCategory(id));
  expect(
    (await Promise.all([engine.reads.petWithCategory(petId), ...unknown])).map((pet) => pet?.id),
  ).toEqual([petId, undefined, undefined, undefined]);
});

test("a page that several ask for in one turn takes one round trip, and each can cut its own", async () => {
  const page = (limit: number) => engine.reads.pets({ sort: "id", descending: false, limit });
  const asked = () => Promise.all([page(2), page(2), page(3), page(2)]);
  const [first, second, third] = await asked();
  expect([first?.length, second?.length, third?.length]).toEqual([2, 2, 3]);
  first?.pop();
  expect(second).toHaveLength(2);
  expect(await tripsOf(asked)).toBe(2);
});

test("what is asked in the turn after a change shows the change", async () => {
  const stock = async () => (await engine.reads.petWithCategory(petId))?.quantity as number;
  const before = await stock();
  await engine.perform(order("seen at once"));
  expect(await Promise.all([stock(), stock()])).toEqual([before - 1, before - 1]);
});

test("an order with its key, stock, movement, events and kept answer takes two round trips, begin and commit included", async () => {
  for (const key of ["first", "second"]) expect(await tripsOf(() => engine.perform(order(key)))).toBe(2);
  expect(await engine.reads.keptAnswer(clientId, "second", 0)).not.toBeNull();
});

test("a repeated order is answered from what was kept in three, of which one undoes what was done meanwhile", async () => {
  expect(
    await tripsOf(async () => expect(await engine.perform(order("first"))).toMatchObject({ isReplay: true })),
  ).toBe(3);
});

test("a refused order is told in three, and leaves the connection as it was", async () => {
  const refused = async () => {
    const failure = await engine.perform(order("third", { petId, quantity: 5000 })).catch((error) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure.code).toBe("insufficient_stock");
  };
  expect(await tripsOf(refused)).toBe(3);
  expect(await tripsOf(() => engine.reads.pet(petId))).toBe(1);
});

test("a thousand pets are added without a round trip for each, which would take ten seconds here", async () => {
  const body = Array.from({ length: 1000 }, (_, n) => ({ name: `Pet ${n}`, categoryId: 1 }));
  const since = performance.now();
  const done = await engine.perform({ ...order("many"), operation: "pets.createMany", input: { body } });
  expect(performance.now() - since).toBeLessThan(5000);
  const ids = (done.body as { id: number }[]).map(({ id }) => id);
  expect(ids).toHaveLength(1000);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
});
