import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
let categoryId: number;
beforeAll(async () => {
  store = await aStore();
  categoryId = (await store.staff.post("/categories", { name: "Dogs" })).body.id;
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const stockOf = async (petId: number) => (await store.customer.get(`/store/inventory/${petId}`)).body;

describe("a new pet", () => {
  test("is one available animal, found at its Location", async () => {
    const { status, body, headers } = await store.staff.post("/pets", { name: "Rex", categoryId });
    expect(status).toBe(201);
    expect(body).toEqual({ id: body.id, name: "Rex", categoryId, status: "available" });
    expect(headers.get("location")).toBe(`/store/pets/${body.id}`);
    expect((await store.customer.get(headers.get("location") as string)).body).toMatchObject(body);
    expect(await stockOf(body.id)).toEqual({ petId: body.id, quantity: 1, status: "available" });
  });

  test("created sold has nothing in stock and no movement", async () => {
    const { body } = await store.staff.post("/pets", { name: "Rex", categoryId, status: "sold" });
    expect(await stockOf(body.id)).toEqual({ petId: body.id, quantity: 0, status: "sold" });
    expect((await store.staff.get(`/store/inventory/${body.id}/movements`)).body).toEqual([]);
  });

  test("created pending is held: it is in stock and nobody can order it", async () => {
    const { body } = await store.staff.post("/pets", { name: "Rex", categoryId, status: "pending" });
    expect(await stockOf(body.id)).toEqual({ petId: body.id, quantity: 1, status: "pending" });
    const refusal = await refused(store, () => store.customer.post("/store/orders", { petId: body.id }));
    expect(refusal.code).toBe("pet_not_available");
  });

  test("has as many units as the store is set to give", async () => {
    await using other = await aStore({ NEW_PET_STOCK: "3" });
    const pet = await other.aPet();
    const { body } = await other.customer.get(`/store/pets/${pet.id}`);
    expect(body).toMatchObject({ quantity: 3, status: "available" });
    expect(await other.findings()).toEqual([]);
  });

  test("of a category that does not exist is refused", async () => {
    const body = await refused(store, () => store.staff.post("/pets", { name: "Rex", categoryId: 999 }));
    expect(body).toMatchObject({ code: "unknown_category", status: 422 });
    expect(body.message).toContain("999");
    expect(body.details).toEqual([{ field: "categoryId", message: body.message }]);
  });

  test.each([
    [{}, ["name", "categoryId"]],
    [{ name: "Rex" }, ["categoryId"]],
    [{ name: 7, categoryId: "1", status: "lost" }, ["name", "categoryId", "status"]],
    [{ name: "Rex", categoryId: 1, status: null }, ["status"]],
    [{ name: "Rex", categoryId: 0 }, ["categoryId"]],
    [{ name: "Rex", categoryId: -1 }, ["categoryId"]],
    [{ name: "Rex", categoryId: 1.5 }, ["categoryId"]],
    [{ name: "Rex", categoryId: 1, id: 7, colour: "red", quantity: 2 }, ["id", "colour", "quantity"]],
    [[], ["body"]],
    ["Rex", ["body"]],
    [null, ["body"]],
  ])("%j is refused with every problem at once", async (body, fields) => {
    const refusal = await refused(store, () => store.staff.post("/pets", body));
    expect(refusal.code).toBe("invalid_body");
    expect(refusal.details.map(({ field }: { field: string }) => field)).toEqual(fields);
  });

  test("with fields that every object has of itself is refused by their names", async () => {
    const raw = `{"name":"Rex","categoryId":${categoryId},"__proto__":{},"constructor":1}`;
    const refusal = await refused(store, () => store.staff.send("POST", "/pets", { raw }));
    expect(refusal.details.map(({ field }: { field: string }) => field)).toEqual([
      "__proto__",
      "constructor",
    ]);
  });
});

test("customers read pets and do not change them", async () => {
  const { id } = await store.aPet();
  const { customer } = store;
  for (const write of [
    () => customer.post("/pets", { name: "Rex", categoryId }),
    () => customer.post("/pets/batch", [{ name: "Rex", categoryId }]),
    () => customer.put(`/pets/${id}`, { name: "Max", categoryId }),
    () => customer.patch(`/pets/${id}`, { name: "Max" }),
    () => customer.delete(`/pets/${id}`),
  ])
    expect((await refused(store, write)).code).toBe("forbidden");
  expect((await customer.get(`/pets/${id}`)).body).toMatchObject({ id, name: "Rex" });
});

describe("a change of a pet", () => {
  test("by PUT replaces name and category, and without a status keeps the status", async () => {
    const { id } = await store.aPet(3);
    await store.staff.patch(`/pets/${id}`, { status: "pending" });
    const { status, body } = await store.staff.put(`/pets/${id}`, { name: "Max", categoryId });
    expect(status).toBe(200);
    expect(body).toEqual({ id, name: "Max", categoryId, status: "pending" });
    expect(await stockOf(id)).toEqual({ petId: id, quantity: 3, status: "pending" });
    const incomplete = await refused(store, () => store.staff.put(`/pets/${id}`, { name: "Max" }));
    expect(incomplete.details).toEqual([{ field: "categoryId", message: "is required" }]);
  });

  test.each(["application/json", "application/merge-patch+json"])("by PATCH as %s merges", async (type) => {
    const pet = await store.aPet();
    const headers = { "content-type": type };
    const { status, body } = await store.staff.patch(`/pets/${pet.id}`, { name: "Max" }, headers);
    expect([status, body]).toEqual([200, { ...pet, name: "Max" }]);
    expect((await store.customer.get(`/pets/${pet.id}`)).body).toEqual(body);
  });

  test("to what it is changes nothing and tells nobody", async () => {
    const pet = await store.aPet();
    const before = await store.snapshot();
    for (const reply of [
      await store.staff.patch(`/pets/${pet.id}`, {}),
      await store.staff.patch(`/pets/${pet.id}`, pet),
      await store.staff.put(`/pets/${pet.id}`, pet),
      await store.staff.put(`/pets/${pet.id}`, { name: "Rex", categoryId: pet.categoryId }),
    ])
      expect([reply.status, reply.body]).toEqual([200, pet]);
    expect(await store.snapshot()).toBe(before);
  });

  test("may repeat the id of the path and name no other", async () => {
    const { id, categoryId } = await store.aPet();
    const whole = { name: "Max", categoryId };
    expect((await store.staff.put(`/pets/${id}`, { id, ...whole })).status).toBe(200);
    expect((await store.staff.patch(`/pets/${id}`, { id, name: "Tom" })).status).toBe(200);
    for (const change of [
      () => store.staff.put(`/pets/${id}`, { id: id + 1, ...whole }),
      () => store.staff.patch(`/pets/${id}`, { id: id + 1 }),
      () => store.staff.send("PATCH", `/pets/${id}`, { raw: `{"id":9007199254740993}` }),
      () => store.staff.patch(`/pets/${id}`, { id: null }),
      () => store.staff.patch(`/pets/${id}`, { id: String(id) }),
    ]) {
      const { code, details } = await refused(store, change);
      expect([code, details[0].field]).toEqual(["invalid_body", "id"]);
    }
  });

  test("to a category that does not exist, an unknown field or null is refused", async () => {
    const { id } = await store.aPet();
    const codeOf = async (patch: unknown) =>
      (await refused(store, () => store.staff.patch(`/pets/${id}`, patch))).code;
    expect(await codeOf({ categoryId: 999, name: "Max" })).toBe("unknown_category");
    for (const patch of [
      { name: null },
      { categoryId: null },
      { status: null },
      { colour: "red" },
      { name: " " },
    ])
      expect(await codeOf(patch)).toBe("invalid_body");
  });

  test("that is partly refused is wholly refused", async () => {
    const { id } = await store.aPet();
    await store.customer.post("/store/orders", { petId: id });
    const patch = { name: "Max", status: "sold" };
    const { code } = await refused(store, () => store.staff.patch(`/pets/${id}`, patch));
    expect(code).toBe("pet_has_open_orders");
  });
});

describe("a pet that was removed", () => {
  test("is gone everywhere but in its ledger", async () => {
    const { id } = await store.aPet(2);
    const reply = await store.staff.delete(`/pets/${id}`);
    expect([reply.status, reply.text]).toEqual([204, ""]);
    for (const path of [`/pets/${id}`, `/store/pets/${id}`, `/store/inventory/${id}`])
      expect((await store.customer.get(path)).body.code).toBe("pet_not_found");
    for (const write of [
      () => store.staff.delete(`/pets/${id}`),
      () => store.staff.patch(`/pets/${id}`, { name: "Max" }),
      () => store.staff.put(`/pets/${id}`, { name: "Max", categoryId }),
      () => store.staff.put(`/store/inventory/${id}`, { quantity: 3 }),
    ])
      expect((await refused(store, write)).code).toBe("pet_not_found");
    expect((await store.customer.get(`/pets?id=${id}`)).body).toEqual([]);
    const { body: ledger } = await store.staff.get(`/store/inventory/${id}/movements`);
    expect(ledger[0]).toMatchObject({ petId: id, change: -2, balance: 0, reason: "removed" });
  });

  test("never lends its id to another", async () => {
    const ids: number[] = [];
    for (let round = 0; round < 3; round++) {
      const { body } = await store.staff.post("/pets", { name: "Rex", categoryId });
      await store.staff.delete(`/pets/${body.id}`);
      ids.push(body.id);
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  test("had no open orders: until they end it stays", async () => {
    const { id } = await store.aPet(2);
    const { body: order } = await store.customer.post("/store/orders", { petId: id });
    const refusal = await refused(store, () => store.staff.delete(`/pets/${id}`));
    expect(refusal).toMatchObject({ code: "pet_has_open_orders", status: 409 });
    await store.customer.patch(`/store/orders/${order.id}`, { complete: true });
    expect((await store.staff.delete(`/pets/${id}`)).status).toBe(204);
    const { body } = await store.customer.get(`/store/orders/${order.id}`);
    expect(body).toMatchObject({ petId: id, complete: true });
  });
});
