import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const setStatus = (petId: number, status: string) => store.staff.patch(`/pets/${petId}`, { status });
const restock = (petId: number, quantity: number) =>
  store.staff.put(`/store/inventory/${petId}`, { quantity });
const order = async (petId: number, quantity = 1) =>
  (await store.customer.post("/store/orders", { petId, quantity })).body.id as number;
const complete = (orderId: number) => store.customer.patch(`/store/orders/${orderId}`, { complete: true });
const cancel = (orderId: number) => store.customer.delete(`/store/orders/${orderId}`);

/** The status and stock of a pet, the same in all its representations. */
async function stateOf(petId: number): Promise<[string, number]> {
  const { body: item } = await store.customer.get(`/store/inventory/${petId}`);
  const { body: shown } = await store.customer.get(`/store/pets/${petId}`);
  const { body: pet } = await store.customer.get(`/pets/${petId}`);
  expect([shown.status, pet.status, shown.quantity]).toEqual([item.status, item.status, item.quantity]);
  return [item.status, item.quantity];
}

test("a pet is available until its last unit is ordered, and sold when its last open order is completed", async () => {
  const { id } = await store.aPet(2);
  const first = await order(id);
  expect(await stateOf(id)).toEqual(["available", 1]);
  const second = await order(id);
  expect(await stateOf(id)).toEqual(["pending", 0]);
  await complete(first);
  expect(await stateOf(id)).toEqual(["pending", 0]);
  await complete(second);
  expect(await stateOf(id)).toEqual(["sold", 0]);
});

test("a sale over the counter of the last unit goes straight to sold, if nothing else is open", async () => {
  const alone = await store.aPet();
  await store.customer.post("/store/orders", { petId: alone.id, complete: true });
  expect(await stateOf(alone.id)).toEqual(["sold", 0]);
  const awaited = await store.aPet(2);
  await order(awaited.id);
  await store.customer.post("/store/orders", { petId: awaited.id, complete: true });
  expect(await stateOf(awaited.id)).toEqual(["pending", 0]);
});

test("completing an order of a pet that is still in stock leaves it available", async () => {
  const { id } = await store.aPet(2);
  await complete(await order(id));
  expect(await stateOf(id)).toEqual(["available", 1]);
});

test("stock that rises from nothing makes a pet available: by a cancel, a smaller order, a restock", async () => {
  const cancelled = await store.aPet();
  await cancel(await order(cancelled.id));
  expect(await stateOf(cancelled.id)).toEqual(["available", 1]);

  const smaller = await store.aPet(2);
  await store.customer.patch(`/store/orders/${await order(smaller.id, 2)}`, { quantity: 1 });
  expect(await stateOf(smaller.id)).toEqual(["available", 1]);

  const awaited = await store.aPet();
  await order(awaited.id);
  await restock(awaited.id, 4);
  expect(await stateOf(awaited.id)).toEqual(["available", 4]);

  const sold = await store.aPet(0);
  expect(await stateOf(sold.id)).toEqual(["sold", 0]);
  await restock(sold.id, 4);
  expect(await stateOf(sold.id)).toEqual(["available", 4]);
});

test("stock set to nothing makes a pet sold, or pending while an order is open", async () => {
  const { id } = await store.aPet(5);
  const open = await order(id);
  await restock(id, 0);
  expect(await stateOf(id)).toEqual(["pending", 0]);
  await complete(open);
  expect(await stateOf(id)).toEqual(["sold", 0]);
});

test("a hold keeps the stock and lets nobody order until staff end it", async () => {
  const { id } = await store.aPet(3);
  expect((await setStatus(id, "pending")).body.status).toBe("pending");
  expect(await stateOf(id)).toEqual(["pending", 3]);
  const { code, message } = await refused(store, () => store.customer.post("/store/orders", { petId: id }));
  expect(code).toBe("pet_not_available");
  expect(message).toContain("pending");
  await setStatus(id, "available");
  expect(await stateOf(id)).toEqual(["available", 3]);
  expect((await store.customer.post("/store/orders", { petId: id })).status).toBe(201);
});

test("a hold outlasts every change that leaves stock", async () => {
  const { id } = await store.aPet(5);
  const [first, second, third] = [await order(id), await order(id, 2), await order(id)];
  await setStatus(id, "pending");
  expect(await stateOf(id)).toEqual(["pending", 1]);
  await complete(first);
  await cancel(third);
  await store.customer.patch(`/store/orders/${second}`, { quantity: 1 });
  expect(await stateOf(id)).toEqual(["pending", 3]);
  await restock(id, 9);
  await restock(id, 1);
  expect(await stateOf(id)).toEqual(["pending", 1]);
});

test("a hold ends when stock crosses zero", async () => {
  const { id } = await store.aPet(3);
  await setStatus(id, "pending");
  await restock(id, 0);
  expect(await stateOf(id)).toEqual(["sold", 0]);
  await restock(id, 2);
  expect(await stateOf(id)).toEqual(["available", 2]);

  const open = await order(id);
  await setStatus(id, "pending");
  await restock(id, 0);
  expect(await stateOf(id)).toEqual(["pending", 0]);
  await cancel(open);
  expect(await stateOf(id)).toEqual(["available", 1]);
});

test("a held pet gives no more units to an order that is open already, and takes some back", async () => {
  const { id } = await store.aPet(3);
  const open = await order(id, 2);
  await setStatus(id, "pending");
  const more = () => store.customer.patch(`/store/orders/${open}`, { quantity: 3 });
  expect((await refused(store, more)).code).toBe("pet_not_available");
  expect((await store.customer.patch(`/store/orders/${open}`, { quantity: 1 })).status).toBe(200);
  expect(await stateOf(id)).toEqual(["pending", 2]);
});

test("a pet with nothing in stock cannot be made available", async () => {
  const { id } = await store.aPet();
  await order(id);
  const refusal = await refused(store, () => setStatus(id, "available"));
  expect(refusal).toMatchObject({ code: "invalid_status_transition", status: 409 });
  expect(refusal.message).toContain(`PUT /store/inventory/${id}`);
});

test.each(["available", "pending"])(
  "staff set a pet that is %s to sold: its stock is gone",
  async (status) => {
    const { id } = await store.aPet(4);
    await setStatus(id, status);
    await setStatus(id, "sold");
    expect(await stateOf(id)).toEqual(["sold", 0]);
    const { body } = await store.staff.get(`/store/inventory/${id}/movements`);
    expect(body[0]).toMatchObject({ change: -4, balance: 0, reason: "sold" });
  },
);

test("a pet with open orders cannot be set to sold, whether it is available, held or waiting", async () => {
  const { id } = await store.aPet(2);
  const open = await order(id);
  const sold = () => setStatus(id, "sold");
  const replaced = () => store.staff.put(`/pets/${id}`, { name: "Rex", categoryId: 1, status: "sold" });
  expect((await refused(store, sold)).code).toBe("pet_has_open_orders");
  await setStatus(id, "pending");
  expect((await refused(store, sold)).code).toBe("pet_has_open_orders");
  await restock(id, 0);
  expect((await refused(store, replaced)).code).toBe("pet_has_open_orders");
  await complete(open);
  expect(await stateOf(id)).toEqual(["sold", 0]);
});

test.each(["available", "pending"])("a sold pet comes back as %s with one unit", async (status) => {
  await using many = await aStore({ NEW_PET_STOCK: "5" });
  const { id } = await many.aPet(0);
  await many.staff.patch(`/pets/${id}`, { status });
  expect((await many.customer.get(`/store/inventory/${id}`)).body).toEqual({
    petId: id,
    quantity: 1,
    status,
  });
  const { body } = await many.staff.get(`/store/inventory/${id}/movements`);
  expect(body[0]).toMatchObject({ change: 1, balance: 1, reason: "returned" });
  expect(await many.findings()).toEqual([]);
});

test.each(["available", "pending", "sold"])(
  "setting %s on a pet that is so already is no change",
  async (status) => {
    const { id } = await store.aPet(3);
    await setStatus(id, status);
    const before = await store.snapshot();
    expect((await setStatus(id, status)).status).toBe(200);
    expect(await store.snapshot()).toBe(before);
  },
);
