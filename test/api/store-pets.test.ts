import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

test("one request gives a pet with its category and its stock", async () => {
  const { body: category } = await store.staff.post("/categories", { name: "Cats", description: "Aloof" });
  const { body: pet } = await store.staff.post("/pets", { name: "Tom", categoryId: category.id });
  await store.staff.put(`/store/inventory/${pet.id}`, { quantity: 3 });
  const { status, body } = await store.customer.get(`/store/pets/${pet.id}`);
  expect(status).toBe(200);
  expect(body).toEqual({ ...pet, category, quantity: 3 });
});

test("a category without a description is shown without one", async () => {
  const pet = await store.aPet();
  const { body } = await store.customer.get(`/store/pets/${pet.id}`);
  expect(body.category).toEqual({ id: pet.categoryId, name: "Dogs" });
});

test("what it shows follows the pet, the category and the stock", async () => {
  const { id, categoryId } = await store.aPet(2);
  const shown = async () => (await store.customer.get(`/store/pets/${id}`)).body;
  await store.staff.patch(`/pets/${id}`, { name: "Max" });
  expect(await shown()).toMatchObject({ name: "Max" });
  await store.staff.patch(`/categories/${categoryId}`, { name: "Hounds", description: "Fast" });
  expect(await shown()).toMatchObject({ category: { id: categoryId, name: "Hounds", description: "Fast" } });
  await store.customer.post("/store/orders", { petId: id, quantity: 2 });
  expect(await shown()).toMatchObject({ quantity: 0, status: "pending" });
  const { body: cats } = await store.staff.post("/categories", { name: "Cats" });
  await store.staff.patch(`/pets/${id}`, { categoryId: cats.id });
  expect(await shown()).toMatchObject({ categoryId: cats.id, category: cats });
});

test("it is the deprecated pet and more", async () => {
  const { id } = await store.aPet();
  const old = await store.customer.get(`/pets/${id}`);
  const { body } = await store.customer.get(`/store/pets/${id}`);
  expect(body).toMatchObject(old.body);
  expect(old.headers.get("link")).toContain(`</store/pets/${id}>; rel="successor-version"`);
});

test.each(["0", "999", "9223372036854775807"])("there is no pet %s", async (id) => {
  const { status, body } = await store.customer.get(`/store/pets/${id}`);
  expect([status, body.code]).toEqual([404, "pet_not_found"]);
  expect(body.message).toContain(id);
});

test.each(["-1", "1.5", "1e3", "rex", "%20", "0x1", "92233720368547758070", "9223372036854775808"])(
  "%s is no id",
  async (id) => {
    const { status, body } = await store.customer.get(`/store/pets/${id}`);
    expect([status, body.code, body.details[0].field]).toEqual([400, "invalid_parameter", "petId"]);
  },
);
