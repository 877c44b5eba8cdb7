import { afterAll, beforeAll, expect, test } from "bun:test";
import { aStore, type Reply, type TestStore } from "../harness.ts";

const AT_ONCE = 100;

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

test("a hundred parallel orders under one key are one order", async () => {
  const pet = await store.aPet(AT_ONCE);
  const replies = await atOnce(() =>
    store.customer.post(
      "/store/orders",
      { petId: pet.id, quantity: 2 },
      { "idempotency-key": "same-moment" },
    ),
  );

  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  expect(replays(replies)).toBe(AT_ONCE - 1);
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(new Set(replies.map(({ headers }) => headers.get("etag"))).size).toBe(1);
  expect(new Set(replies.map(({ headers }) => headers.get("location"))).size).toBe(1);
  expect(new Set(replies.map(({ headers }) => headers.get("x-request-id"))).size).toBe(AT_ONCE);

  const orders = await store.customer.get(`/store/orders?petId=${pet.id}`);
  expect(orders.body).toEqual([replies[0]?.body]);
  const { body } = await store.customer.get(`/store/inventory/${pet.id}`);
  expect(body.quantity).toBe(AT_ONCE - 2);
  expect(await store.findings()).toEqual([]);
});

test("one key of two clients at the same moment is two orders", async () => {
  const pet = await store.aPet(10);
  const order = { petId: pet.id };
  const key = { "idempotency-key": "two-clients" };
  const [one, other] = await Promise.all([
    store.customer.post("/store/orders", order, key),
    store.stranger.post("/store/orders", order, key),
  ]);
  expect([one.status, other.status]).toEqual([201, 201]);
  expect(one.body.id).not.toBe(other.body.id);
  expect(replays([one, other])).toBe(0);
});

test("an answer is repeated to keys of the same role, and not to another that may see less", async () => {
  const [staff, colleague, customer] = [
    store.staff,
    await store.newPerson("staff", { clientId: store.staff.clientId }),
    await store.newPerson("customer", { clientId: store.staff.clientId }),
  ];
  const pet = await store.aPet(10);
  const key = { "idempotency-key": "by-role" };
  const place = (by: typeof staff) => by.post("/store/orders", { petId: pet.id }, key);
  const first = await place(staff);
  expect((await place(colleague)).text).toBe(first.text);
  expect((await place(customer)).body.code).toBe("idempotency_key_reused");
  expect((await staff.get(`/store/orders?petId=${pet.id}`)).body).toEqual([first.body]);
});

test("of two different orders under one key at the same moment one is placed and the other refused", async () => {
  const pet = await store.aPet(10);
  const key = { "idempotency-key": "two-bodies" };
  const replies = await Promise.all([
    store.customer.post("/store/orders", { petId: pet.id, quantity: 1 }, key),
    store.customer.post("/store/orders", { petId: pet.id, quantity: 2 }, key),
  ]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 422]);
  expect(replies.find(({ status }) => status === 422)?.body.code).toBe("idempotency_key_reused");
  expect((await store.customer.get(`/store/orders?petId=${pet.id}`)).body).toHaveLength(1);
  expect(await store.findings()).toEqual([]);
});

test("a hundred parallel cancels under one key give the stock back once", async () => {
  const pet = await store.aPet(5);
  const order = await store.customer.post("/store/orders", { petId: pet.id, quantity: 3 });
  const replies = await atOnce(() =>
    store.customer.delete(`/store/orders/${order.body.id}`, { "idempotency-key": "cancel-once" }),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([204]));
  expect(replays(replies)).toBe(AT_ONCE - 1);
  expect((await store.customer.get(`/store/inventory/${pet.id}`)).body.quantity).toBe(5);
  expect(await store.findings()).toEqual([]);
});

test("a refused order leaves its key free for the same order after a restock", async () => {
  const pet = await store.aPet(1);
  const order = { petId: pet.id, quantity: 4 };
  const key = { "idempotency-key": "after-restock" };
  const refused = await atOnce(() => store.customer.post("/store/orders", order, key));
  expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(["insufficient_stock"]));
  await store.staff.put(`/store/inventory/${pet.id}`, { quantity: 4 });
  const replies = await atOnce(() => store.customer.post("/store/orders", order, key));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  expect(replays(replies)).toBe(AT_ONCE - 1);
  expect(await store.findings()).toEqual([]);
});

function atOnce(send: () => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, send));
}

function replays(replies: readonly Reply[]): number {
  return replies.filter(({ headers }) => headers.get("idempotency-replayed") === "true").length;
}
