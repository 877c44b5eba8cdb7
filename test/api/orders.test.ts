import { afterAll, beforeAll, expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

test("an order for the last unit makes the pet pending", async () => {
  const pet = await store.aPet();
  const order = await store.customer.post("/store/orders", { petId: pet.id });
  expect(order.status).toBe(201);
  expect(order.body).toEqual({ id: order.body.id, petId: pet.id, quantity: 1, complete: false });
  const { body } = await store.customer.get(`/store/pets/${pet.id}`);
  expect(body).toMatchObject({ status: "pending", quantity: 0 });
  expect(await store.findings()).toEqual([]);
});
