import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiError, Petstore } from "../../client/src/index.ts";
import { everyEndpoint } from "../../src/contract/api.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";

let store: TestStore;

beforeAll(async () => {
  store = await aStore();
});

afterAll(() => store.stop());

function clientOf({ key }: Person): Petstore {
  return new Petstore({ baseUrl: store.url, apiKey: key });
}

test("the client has every operation of the contract, under its one name", () => {
  const client: unknown = clientOf(store.customer);
  for (const { id } of everyEndpoint) {
    const found = id.split(".").reduce((at, name) => (at as Record<string, unknown>)?.[name], client);
    expect([id, typeof found]).toEqual([id, "function"]);
  }
});

test("every DELETE answers with nothing, and nothing else does: elsewhere a client takes a 204 for no answer", () => {
  for (const { id, method, route } of everyEndpoint)
    expect([id, route.returns === undefined]).toEqual([id, method === "DELETE"]);
});

test("catalogue, stock and orders are worked with from start to end", async () => {
  const staff = clientOf(store.staff);
  const customer = clientOf(store.customer);
  const category = await staff.categories.create({ name: "Birds" });
  const created = await staff.pets.create({ name: "Kiki", categoryId: category.id }).withResponse();
  expect(created.status).toBe(201);
  const { data: pet, etag } = created;
  const renamed = await staff.pets.update(pet.id, { name: "Kiki II" }, { ifMatch: etag });
  expect(renamed.name).toBe("Kiki II");
  const stale = await staff.pets
    .update(pet.id, { name: "Kiki III" }, { ifMatch: etag })
    .catch((error) => error);
  expect([stale.name, stale.code]).toEqual(["PreconditionFailedError", "precondition_failed"]);

  await staff.inventory.set(pet.id, { quantity: 2 });
  const order = await customer.orders.place({ petId: pet.id, quantity: 2 });
  const refused = await customer.orders.place({ petId: pet.id }).catch((error) => error);
  expect([refused.name, refused.code]).toEqual(["ConflictError", "pet_not_available"]);
  await customer.orders.update(order.id as number, { complete: true });
  expect(await customer.store.pet(pet.id)).toEqual({
    id: pet.id,
    name: "Kiki II",
    categoryId: category.id,
    status: "sold",
    category,
    quantity: 0,
  });
  const ledger = await staff.inventory.movements(pet.id);
  expect(ledger.map(({ reason }) => reason)).toEqual(["ordered", "restocked", "created"]);
});

test("lists are walked over real cursors", async () => {
  const staff = clientOf(store.staff);
  const { id: categoryId } = await staff.categories.create({ name: "Many" });
  await staff.pets.createMany(
    Array.from({ length: 45 }, (_, index) => ({ name: `Pet ${index}`, categoryId })),
  );
  const names: string[] = [];
  for await (const { name } of staff.pets.list({ categoryId, status: ["available"], limit: 20 }))
    names.push(name);
  expect(names).toEqual(Array.from({ length: 45 }, (_, index) => `Pet ${index}`));
});

test("an id above 2^53 names nothing, in path, query and body", async () => {
  const staff = clientOf(store.staff);
  const beyond = 2n ** 53n + 1n;
  expect((await staff.store.pet(beyond).catch((error) => error)).message).toContain(String(beyond));
  expect(await staff.pets.list({ id: [beyond] })).toHaveLength(0);
  const refused = await staff.pets.create({ name: "Rex", categoryId: beyond }).catch((error) => error);
  expect(refused.code).toBe("unknown_category");
});

test("the same idempotency key gives the first answer again", async () => {
  const customer = clientOf(store.customer);
  const first = await customer.orders.place({}, { idempotencyKey: "draft-1" }).withResponse();
  const second = await customer.orders.place({}, { idempotencyKey: "draft-1" }).withResponse();
  expect(second.data).toEqual(first.data);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
});

test("clients, keys and bans are administered", async () => {
  const admin = clientOf(store.admin);
  const shop = await admin.admin.clients.create({ name: "Shop", plan: "pro" });
  const made = await admin.admin.keys.create(shop.id, { role: "customer" });
  const till = new Petstore({ baseUrl: store.url, apiKey: made.key as string });
  expect((await till.account.get()).client).toMatchObject({ id: shop.id, plan: "pro", perMinute: 300 });
  await admin.admin.bans.impose(made.id, { minutes: 5, reason: "A try" });
  const banned = await till.pets.list().catch((error) => error);
  expect([banned.name, banned.code, banned.retryAfterSeconds]).toEqual([
    "PermissionDeniedError",
    "key_banned",
    300,
  ]);
  expect((await till.account.limits()).bannedUntil).toBeDefined();
  await admin.admin.bans.lift(made.id);
  expect((await till.account.keys.list()).map(({ id }) => id)).toEqual([made.id]);
  expect(await admin.admin.clients.remove(shop.id)).toBeUndefined();
  expect((await till.pets.list().catch((error) => error)).name).toBe("AuthenticationError");
});

test("an order whose answer was lost on the way is placed once", async () => {
  const pet = await store.aPet(10);
  let sent = 0;
  const client = new Petstore({
    baseUrl: store.url,
    apiKey: store.customer.key,
    surroundings: { random: () => 0 },
    async fetch(url, init) {
      const response = await fetch(url, init);
      sent += 1;
      if (sent > 2) return response;
      await response.text();
      throw new TypeError("The connection was reset.");
    },
  });
  const { data: order, headers } = await client.orders.place({ petId: pet.id, quantity: 4 }).withResponse();
  expect([sent, headers.get("idempotency-replayed")]).toEqual([3, "true"]);
  expect((await client.inventory.get(pet.id)).quantity).toBe(6);
  const orders = await client.orders.list({ petId: pet.id });
  expect(orders.map(({ id }) => id)).toEqual([order.id]);
});

test("the deprecated operation is told of, with the server's own dates", async () => {
  const pet = await store.aPet();
  const told: string[] = [];
  const logger = { warn: (text: string) => void told.push(text) };
  const client = new Petstore({ baseUrl: store.url, apiKey: store.customer.key, logger });
  await client.pets.get(pet.id);
  await client.pets.get(pet.id);
  expect(told).toEqual([
    "pets.get (GET /pets/{petId}) is deprecated since 2026-11-01 and ends on 2027-11-30. Use store.pet instead.",
  ]);
});

test("a program that follows events goes on over a restart of the server, and misses nothing", async () => {
  await using own = await aStore();
  const stopping = new AbortController();
  const client = new Petstore({ baseUrl: own.url, apiKey: own.customer.key });
  const names: string[] = [];
  let heard = Promise.withResolvers<void>();
  const following = (async () => {
    for await (const event of client.events.stream(
      { type: ["category.created"], lastEventId: "0" },
      { signal: stopping.signal },
    )) {
      if (event.type === "category.created") names.push(event.data.name);
      heard.resolve();
    }
  })();
  const until = async (count: number) => {
    while (names.length < count) {
      await heard.promise;
      heard = Promise.withResolvers();
    }
  };
  const create = (name: string) => own.staff.post("/categories", { name });
  await create("before");
  await until(1);
  await own.restart();
  await create("while nobody listens");
  await create("after");
  await until(3);
  stopping.abort();
  await following;
  expect(names).toEqual(["before", "while nobody listens", "after"]);
});

test("a program whose key is revoked while it follows events is told so", async () => {
  const person = await store.newPerson("customer");
  const events = clientOf(person).events.stream();
  const following = (async () => {
    for await (const _ of events) await store.admin.delete(`/admin/keys/${person.keyId}`);
  })();
  while (events.lastEventId === undefined) await Bun.sleep(5);
  await store.aPet();
  const error = await following.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error.code).toBe("revoked_api_key");
});
