import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const now = () => new Date(store.clock.now).toISOString();
const place = async (body: unknown) => (await store.customer.post("/store/orders", body)).body;
const patch = (order: { id: number }, body: unknown) =>
  store.customer.patch(`/store/orders/${order.id}`, body);
const stateOf = async (petId: number) => {
  const { body } = await store.customer.get(`/store/inventory/${petId}`);
  return [body.status, body.quantity];
};
const lastMovement = async (petId: number) =>
  (await store.staff.get(`/store/inventory/${petId}/movements?limit=1`)).body[0];

describe("an open order of the same pet", () => {
  test("takes more: only the difference is judged", async () => {
    const { id: petId } = await store.aPet(5);
    const order = await place({ petId, quantity: 3 });
    const { status, body } = await patch(order, { quantity: 5 });
    expect([status, body]).toEqual([200, { ...order, quantity: 5 }]);
    expect(await stateOf(petId)).toEqual(["pending", 0]);
    expect(await lastMovement(petId)).toMatchObject({ change: -2, reason: "changed", orderId: order.id });
  });

  test("takes no more than there is", async () => {
    const { id: petId } = await store.aPet(5);
    const order = await place({ petId, quantity: 3 });
    const refusal = await refused(store, () => patch(order, { quantity: 6 }));
    expect(refusal.code).toBe("insufficient_stock");
    expect(refusal.message).toStartWith(
      `Asked for 6 of pet ${petId}, 3 more than the order has, 2 in stock.`,
    );
  });

  test("takes no more of a pet that it made pending itself, but fewer", async () => {
    const { id: petId } = await store.aPet(2);
    const order = await place({ petId, quantity: 2 });
    expect((await refused(store, () => patch(order, { quantity: 3 }))).code).toBe("pet_not_available");
    expect((await patch(order, { quantity: 1 })).body.quantity).toBe(1);
    expect(await stateOf(petId)).toEqual(["available", 1]);
  });

  test("means one unit when its quantity is null", async () => {
    const { id: petId } = await store.aPet(5);
    const order = await place({ petId, quantity: 4 });
    expect((await patch(order, { quantity: null })).body).toEqual({ ...order, quantity: 1 });
    expect(await stateOf(petId)).toEqual(["available", 4]);
  });

  test("changes its ship date without touching stock, and null takes the date away", async () => {
    const { id: petId } = await store.aPet(5);
    const order = await place({ petId });
    const dated = await patch(order, { shipDate: "2026-12-24T10:00:00+01:00" });
    expect(dated.body).toEqual({ ...order, shipDate: "2026-12-24T09:00:00.000Z" });
    expect((await patch(order, { shipDate: null })).body).toEqual(order);
    expect(await lastMovement(petId)).toMatchObject({ change: -1, reason: "ordered" });
  });

  test("changed to what it is stays as it is and tells nobody", async () => {
    const { id: petId } = await store.aPet(5);
    const order = await place({ petId, shipDate: "2026-12-24T10:00:00Z" });
    const before = await store.snapshot();
    for (const body of [{}, order, { quantity: null }, { shipDate: "2026-12-24T11:00:00+01:00" }]) {
      const reply = await patch(order, body);
      expect([reply.status, reply.body]).toEqual([200, order]);
    }
    expect(await store.snapshot()).toBe(before);
  });

  test("may repeat its id and name no other", async () => {
    const order = await place({});
    expect((await patch(order, { id: order.id, quantity: 2 })).status).toBe(200);
    const { code, details } = await refused(store, () => patch(order, { id: order.id + 1 }));
    expect([code, details[0].field]).toEqual(["invalid_body", "id"]);
  });

  test.each([{ complete: null }, { quantity: 0 }, { petId: 0 }, { client: 1 }, { shipDate: "soon" }, null])(
    "patched with %j is refused",
    async (body) => {
      const order = await place({});
      expect((await refused(store, () => patch(order, body))).code).toBe("invalid_body");
    },
  );
});

describe("an open order given another pet", () => {
  test.each(["the later", "the earlier"])(
    "returns the old units and takes the new ones of %s pet",
    async (which) => {
      const pets = [await store.aPet(3), await store.aPet(3)].map(({ id }) => id);
      const [from, to] = (which === "the later" ? pets : pets.reverse()) as [number, number];
      const order = await place({ petId: from, quantity: 3 });
      expect((await patch(order, { petId: to, quantity: 2 })).body).toEqual({
        ...order,
        petId: to,
        quantity: 2,
      });
      expect(await stateOf(from)).toEqual(["available", 3]);
      expect(await stateOf(to)).toEqual(["available", 1]);
      expect(await lastMovement(from)).toMatchObject({ change: 3, reason: "changed", orderId: order.id });
      expect(await lastMovement(to)).toMatchObject({ change: -2, reason: "changed", orderId: order.id });
    },
  );

  test("keeps its quantity unless told otherwise", async () => {
    const [from, to] = [await store.aPet(3), await store.aPet(3)];
    const order = await place({ petId: from.id, quantity: 3 });
    expect((await patch(order, { petId: to.id })).body).toEqual({ ...order, petId: to.id });
    expect(await stateOf(to.id)).toEqual(["pending", 0]);
  });

  test("exchanges both or neither", async () => {
    const [from, scarce, held] = [await store.aPet(3), await store.aPet(1), await store.aPet(3)];
    await store.staff.patch(`/pets/${held.id}`, { status: "pending" });
    const order = await place({ petId: from.id, quantity: 3 });
    const codeOf = async (petId: number) => (await refused(store, () => patch(order, { petId }))).code;
    expect(await codeOf(scarce.id)).toBe("insufficient_stock");
    expect(await codeOf(held.id)).toBe("pet_not_available");
    expect(await codeOf(999_999)).toBe("unknown_pet");
  });
});

describe("an order without its pet", () => {
  test("is a draft again: the units return, the quantity stays written", async () => {
    const { id: petId } = await store.aPet(3);
    const order = await place({ petId, quantity: 3 });
    const { status, body } = await patch(order, { petId: null });
    expect([status, body]).toEqual([200, { id: order.id, quantity: 3, complete: false }]);
    expect(await stateOf(petId)).toEqual(["available", 3]);
    expect((await patch(order, { quantity: null })).body).toEqual({ id: order.id, complete: false });
    expect((await store.staff.delete(`/pets/${petId}`)).status).toBe(204);
  });

  test("takes units when it is given a pet: one, or as many as it says", async () => {
    const { id: petId } = await store.aPet(5);
    const [one, three] = [await place({}), await place({ quantity: 3 })];
    expect((await patch(one, { petId })).body).toEqual({ ...one, petId, quantity: 1 });
    expect((await patch(three, { petId })).body).toEqual({ ...three, petId });
    expect(await stateOf(petId)).toEqual(["available", 1]);
    expect(await lastMovement(petId)).toMatchObject({ change: -3, reason: "ordered", orderId: three.id });
  });

  test("is judged as a new order when it is given a pet", async () => {
    const { id: petId } = await store.aPet(2);
    const draft = await place({ quantity: 3 });
    const codeOf = async (body: unknown) => (await refused(store, () => patch(draft, body))).code;
    expect(await codeOf({ petId })).toBe("insufficient_stock");
    expect(await codeOf({ petId: 999_999 })).toBe("unknown_pet");
    await store.staff.patch(`/pets/${petId}`, { status: "pending" });
    expect(await codeOf({ petId, quantity: 1 })).toBe("pet_not_available");
  });

  test("is not completed by the change that takes its pet away", async () => {
    const { id: petId } = await store.aPet();
    const order = await place({ petId });
    const refusal = await refused(store, () => patch(order, { petId: null, complete: true }));
    expect(refusal.code).toBe("order_is_draft");
  });
});

describe("completing an order", () => {
  test("sets its ship date to now, whatever was expected", async () => {
    const { id: petId } = await store.aPet(2);
    const order = await place({ petId, shipDate: "2026-12-24T10:00:00Z" });
    store.clock.now += 3_600_000;
    const { body } = await patch(order, { complete: true });
    expect(body).toEqual({ ...order, shipDate: now(), complete: true });
    const plain = await patch(await place({ petId }), { complete: true, shipDate: null });
    expect(plain.body.shipDate).toBe(now());
  });

  test("with a new ship date keeps that one", async () => {
    const { id: petId } = await store.aPet();
    const order = await place({ petId, shipDate: "2026-12-24T10:00:00Z" });
    const { body } = await patch(order, { complete: true, shipDate: "2026-11-14T10:00:00Z" });
    expect(body.shipDate).toBe("2026-11-14T10:00:00.000Z");
  });

  test("with more units takes them first", async () => {
    const { id: petId } = await store.aPet(3);
    const order = await place({ petId });
    expect((await refused(store, () => patch(order, { quantity: 4, complete: true }))).code).toBe(
      "insufficient_stock",
    );
    const { body } = await patch(order, { quantity: 3, complete: true });
    expect(body).toEqual({ ...order, quantity: 3, shipDate: now(), complete: true });
    expect(await stateOf(petId)).toEqual(["sold", 0]);
  });

  test("with fewer units returns the others first", async () => {
    const { id: petId } = await store.aPet(3);
    const order = await place({ petId, quantity: 3 });
    await patch(order, { quantity: 1, complete: true });
    expect(await stateOf(petId)).toEqual(["available", 2]);
  });

  test("with another pet exchanges them first", async () => {
    const [from, to] = [await store.aPet(), await store.aPet(2)];
    const order = await place({ petId: from.id });
    await patch(order, { petId: to.id, quantity: 2, complete: true });
    expect(await stateOf(from.id)).toEqual(["available", 1]);
    expect(await stateOf(to.id)).toEqual(["sold", 0]);
  });

  test("with its first pet makes a draft a sale", async () => {
    const { id: petId } = await store.aPet(2);
    const { body } = await patch(await place({}), { petId, complete: true });
    expect(body).toMatchObject({ petId, quantity: 1, complete: true, shipDate: now() });
    expect(await stateOf(petId)).toEqual(["available", 1]);
  });

  test("happens once: afterwards nothing of it changes", async () => {
    const [pet, other] = [await store.aPet(3), await store.aPet(3)];
    const { body: order } = await patch(await place({ petId: pet.id }), { complete: true });
    for (const change of [
      { complete: false },
      { quantity: 2 },
      { petId: other.id },
      { petId: null },
      { shipDate: "2026-12-24T10:00:00Z" },
      { shipDate: null },
      { complete: true, quantity: 2 },
    ])
      expect((await refused(store, () => patch(order, change))).code).toBe("order_complete");
    const before = await store.snapshot();
    store.clock.now += 60_000;
    for (const same of [{}, { complete: true }, order, { quantity: null }]) {
      const reply = await patch(order, same);
      expect([reply.status, reply.body]).toEqual([200, order]);
    }
    expect(await store.snapshot()).toBe(before);
  });
});
