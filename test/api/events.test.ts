import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

/** What a change tells, in order: the type, what it is about, and whom it concerns (`null`: everybody). */
async function told(change: () => Promise<unknown>): Promise<unknown[][]> {
  const before = (await store.events()).length;
  await change();
  return (await store.events()).slice(before).map(({ type, subject, clientId }) => [type, subject, clientId]);
}
const lastEvent = async () => (await store.events()).at(-1);
const place = async (body: unknown) => (await store.customer.post("/store/orders", body)).body.id as number;
const patch = (orderId: number, body: unknown) => store.customer.patch(`/store/orders/${orderId}`, body);

test("a category tells that it was created, updated and deleted, with what it is", async () => {
  let id = 0;
  const created = await told(async () => {
    id = (await store.staff.post("/categories", { name: "Dogs" })).body.id;
  });
  expect(created).toEqual([["category.created", `categories/${id}`, null]]);
  expect((await lastEvent())?.data).toEqual({ id, name: "Dogs" });
  expect(await told(() => store.staff.patch(`/categories/${id}`, { description: "Loyal" }))).toEqual([
    ["category.updated", `categories/${id}`, null],
  ]);
  expect((await lastEvent())?.data).toEqual({ id, name: "Dogs", description: "Loyal" });
  expect(await told(() => store.staff.put(`/categories/${id}`, { name: "Dogs" }))).toHaveLength(1);
  expect(await told(() => store.staff.delete(`/categories/${id}`))).toEqual([
    ["category.deleted", `categories/${id}`, null],
  ]);
  expect((await lastEvent())?.data).toEqual({ id, name: "Dogs" });
});

test("a pet tells that it was created, updated and deleted, with what it is", async () => {
  const { body: category } = await store.staff.post("/categories", { name: "Dogs" });
  let pet = { id: 0 };
  const created = await told(async () => {
    pet = (await store.staff.post("/pets", { name: "Rex", categoryId: category.id })).body;
  });
  const { id } = pet;
  expect(created).toEqual([["pet.created", `pets/${id}`, null]]);
  expect((await lastEvent())?.data).toEqual(pet);
  expect(await told(() => store.staff.patch(`/pets/${id}`, { name: "Max" }))).toEqual([
    ["pet.updated", `pets/${id}`, null],
  ]);
  expect((await lastEvent())?.data).toEqual({ ...pet, name: "Max" });
  expect(await told(() => store.staff.delete(`/pets/${id}`))).toEqual([["pet.deleted", `pets/${id}`, null]]);
  expect((await lastEvent())?.data).toEqual({ ...pet, name: "Max" });
});

test("a batch tells of each of its pets, in its order", async () => {
  const { body: category } = await store.staff.post("/categories", { name: "Dogs" });
  const pets = ["Rex", "Tom", "Max"].map((name) => ({ name, categoryId: category.id }));
  let ids: number[] = [];
  const created = await told(async () => {
    ids = (await store.staff.post("/pets/batch", pets)).body.map(({ id }: { id: number }) => id);
  });
  expect(created).toEqual(ids.map((id) => ["pet.created", `pets/${id}`, null]));
});

test("a status that staff set tells of the stock that it changed", async () => {
  const { id } = await store.aPet(3);
  const [pet, stock] = [`pets/${id}`, `store/inventory/${id}`];
  const set = (body: unknown) => told(() => store.staff.patch(`/pets/${id}`, body));
  expect(await set({ status: "pending" })).toEqual([["pet.status_changed", pet, null]]);
  expect((await lastEvent())?.data).toMatchObject({ id, status: "pending", previousStatus: "available" });
  expect(await set({ status: "sold", name: "Max" })).toEqual([
    ["pet.updated", pet, null],
    ["inventory.changed", stock, null],
    ["inventory.depleted", stock, null],
    ["pet.status_changed", pet, null],
  ]);
  expect((await store.events()).at(-3)?.data).toEqual({ petId: id, quantity: 0, status: "sold", change: -3 });
  expect((await store.events()).at(-2)?.data).toEqual({ petId: id, quantity: 0, status: "sold" });
  expect(await set({ status: "available" })).toEqual([
    ["inventory.changed", stock, null],
    ["pet.status_changed", pet, null],
  ]);
  expect((await lastEvent())?.data).toMatchObject({ status: "available", previousStatus: "sold" });
});

test("stock that staff set tells of the change, of the last unit, and of the status that follows", async () => {
  const { id } = await store.aPet(3);
  const [pet, stock] = [`pets/${id}`, `store/inventory/${id}`];
  const set = (quantity: number) => told(() => store.staff.put(`/store/inventory/${id}`, { quantity }));
  expect(await set(5)).toEqual([["inventory.changed", stock, null]]);
  expect((await lastEvent())?.data).toEqual({ petId: id, quantity: 5, status: "available", change: 2 });
  expect(await set(5)).toEqual([]);
  expect(await set(0)).toEqual([
    ["inventory.changed", stock, null],
    ["inventory.depleted", stock, null],
    ["pet.status_changed", pet, null],
  ]);
  expect(await set(2)).toEqual([
    ["inventory.changed", stock, null],
    ["pet.status_changed", pet, null],
  ]);
});

test("an order tells its own client what became of it, and everybody what became of the stock", async () => {
  const { id } = await store.aPet(2);
  const { clientId } = store.customer;
  const [pet, stock] = [`pets/${id}`, `store/inventory/${id}`];
  let first = 0;
  let second = 0;
  const placed = await told(async () => {
    first = await place({ petId: id });
  });
  expect(placed).toEqual([
    ["order.placed", `store/orders/${first}`, clientId],
    ["inventory.changed", stock, null],
  ]);
  expect((await store.events()).at(-2)?.data).toEqual({ id: first, petId: id, quantity: 1, complete: false });
  const last = await told(async () => {
    second = await place({ petId: id });
  });
  expect(last).toEqual([
    ["order.placed", `store/orders/${second}`, clientId],
    ["inventory.changed", stock, null],
    ["inventory.depleted", stock, null],
    ["pet.status_changed", pet, null],
  ]);
  expect((await lastEvent())?.data).toMatchObject({ status: "pending", previousStatus: "available" });
  expect(await told(() => patch(first, { complete: true }))).toEqual([
    ["order.completed", `store/orders/${first}`, clientId],
  ]);
  expect((await lastEvent())?.data).toMatchObject({ id: first, complete: true });
  expect(await told(() => store.customer.delete(`/store/orders/${second}`))).toEqual([
    ["order.cancelled", `store/orders/${second}`, clientId],
    ["inventory.changed", stock, null],
    ["pet.status_changed", pet, null],
  ]);
  expect((await store.events()).at(-3)?.data).toEqual({
    id: second,
    petId: id,
    quantity: 1,
    complete: false,
  });
});

test("a sale over the counter is placed and completed at once", async () => {
  const { id } = await store.aPet(1);
  const types = (await told(() => place({ petId: id, complete: true }))).map(([type]) => type);
  expect(types).toEqual([
    "order.placed",
    "order.completed",
    "inventory.changed",
    "inventory.depleted",
    "pet.status_changed",
  ]);
  expect((await lastEvent())?.data).toMatchObject({ status: "sold", previousStatus: "available" });
});

test("a draft is made in silence, placed when it is given a pet, and tells of its changes and its end", async () => {
  const { id } = await store.aPet(5);
  let draft = 0;
  const drafted = await told(async () => {
    draft = await place({});
  });
  expect(drafted).toEqual([]);
  const typesOf = async (body: unknown) => (await told(() => patch(draft, body))).map(([type]) => type);
  expect(await typesOf({ petId: id })).toEqual(["order.placed", "inventory.changed"]);
  expect(await typesOf({ petId: null })).toEqual(["order.updated", "inventory.changed"]);
  expect(await typesOf({ petId: id, complete: true })).toEqual([
    "order.placed",
    "order.completed",
    "inventory.changed",
  ]);

  draft = await place({});
  expect(await typesOf({ quantity: 2 })).toEqual(["order.updated"]);
  expect(await told(() => store.customer.delete(`/store/orders/${draft}`))).toEqual([
    ["order.cancelled", `store/orders/${draft}`, store.customer.clientId],
  ]);
});

test("a change of an order tells of it, and of the pets in the order of their ids", async () => {
  const [low, high] = [await store.aPet(5), await store.aPet(5)];
  const order = await place({ petId: high.id });
  const about = `store/orders/${order}`;
  const { clientId } = store.customer;
  expect(await told(() => patch(order, { shipDate: "2026-12-24T10:00:00Z" }))).toEqual([
    ["order.updated", about, clientId],
  ]);
  expect(await told(() => patch(order, { petId: low.id, quantity: 5 }))).toEqual([
    ["order.updated", about, clientId],
    ["inventory.changed", `store/inventory/${low.id}`, null],
    ["inventory.depleted", `store/inventory/${low.id}`, null],
    ["pet.status_changed", `pets/${low.id}`, null],
    ["inventory.changed", `store/inventory/${high.id}`, null],
  ]);
  expect(await told(() => patch(order, {}))).toEqual([]);
  expect((await told(() => patch(order, { quantity: 4, complete: true }))).map(([type]) => type)).toEqual([
    "order.updated",
    "order.completed",
    "inventory.changed",
    "pet.status_changed",
  ]);
});

test("an order that staff change still concerns the client that placed it", async () => {
  const { id } = await store.aPet(2);
  const order = await place({ petId: id });
  const completed = await told(() => store.staff.patch(`/store/orders/${order}`, { complete: true }));
  expect(completed).toEqual([["order.completed", `store/orders/${order}`, store.customer.clientId]]);
  const own = await told(() => store.staff.post("/store/orders", { petId: id }));
  expect(own[0]?.[2]).toBe(store.staff.clientId);
});

test("what is refused tells nothing", async () => {
  const { id, categoryId } = await store.aPet(1);
  const order = await place({ petId: id });
  for (const refusal of [
    () => store.staff.post("/pets", { name: "Rex", categoryId: 999 }),
    () =>
      store.staff.post("/pets/batch", [
        { name: "Rex", categoryId },
        { name: "Tom", categoryId: 999 },
      ]),
    () => store.staff.patch(`/pets/${id}`, { name: "Max", status: "sold" }),
    () => store.staff.delete(`/pets/${id}`),
    () => store.staff.delete(`/categories/${categoryId}`),
    () => store.customer.post("/store/orders", { petId: id }),
    () => patch(order, { shipDate: "2026-12-24T10:00:00Z", quantity: 9 }),
    () => store.stranger.delete(`/store/orders/${order}`),
    () => store.staff.put(`/store/inventory/${id}`, { quantity: -1 }),
  ])
    expect(await told(() => refused(store, refusal))).toEqual([]);
});
