import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { aStore, pagesOf, refused, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const restock = (petId: number, quantity: unknown) =>
  store.staff.put(`/store/inventory/${petId}`, { quantity });

describe("the stock of a pet", () => {
  test("is what can be ordered now: units in open orders are taken already", async () => {
    const { id: petId } = await store.aPet(5);
    await store.customer.post("/store/orders", { petId, quantity: 2 });
    const { status, body } = await store.customer.get(`/store/inventory/${petId}`);
    expect([status, body]).toEqual([200, { petId, quantity: 3, status: "available" }]);
    expect((await restock(petId, 4)).body).toEqual({ petId, quantity: 4, status: "available" });
  });

  test("set to what it is changes nothing, moves nothing and tells nobody", async () => {
    for (const quantity of [0, 3]) {
      const { id: petId } = await store.aPet(quantity);
      const before = await store.snapshot();
      expect((await restock(petId, quantity)).status).toBe(200);
      expect(await store.snapshot()).toBe(before);
    }
  });

  test("may be as large as an int32 and not larger", async () => {
    const { id: petId } = await store.aPet();
    expect((await restock(petId, 2147483647)).body.quantity).toBe(2147483647);
    expect((await restock(petId, 0)).body).toEqual({ petId, quantity: 0, status: "sold" });
    for (const quantity of [2147483648, -1, 1.5, "1", null, undefined, true]) {
      const { code, details } = await refused(store, () => restock(petId, quantity));
      expect([code, details[0].field]).toEqual(["invalid_body", "quantity"]);
    }
  });

  test("is what the text of the number says, however it is written, and nothing is rounded to it", async () => {
    const { id: petId } = await store.aPet(7);
    const set = (text: string) =>
      store.staff.send("PUT", `/store/inventory/${petId}`, { raw: `{"quantity":${text}}` });
    for (const text of ["1e-400", "-1e-400", "1.0000000000000000001", "5e-1", "1e400"]) {
      const { code, details } = await refused(store, () => set(text));
      expect([text, code, details[0].field]).toEqual([text, "invalid_body", "quantity"]);
      expect(details[0].message).toStartWith("must be an integer, got ");
    }
    for (const [text, quantity] of [
      ["3.0", 3],
      ["1e2", 100],
      ["120e-1", 12],
      ["-0", 0],
    ] as const)
      expect([text, (await set(text)).body.quantity]).toEqual([text, quantity]);
  });

  test("is set alone: a status or another field beside it is refused", async () => {
    const { id: petId } = await store.aPet();
    const { details } = await refused(store, () =>
      store.staff.put(`/store/inventory/${petId}`, { quantity: 2, status: "available", petId }),
    );
    expect(details.map(({ field }: { field: string }) => field)).toEqual(["status", "petId"]);
  });

  test("of a pet that does not exist is not there", async () => {
    expect((await store.customer.get("/store/inventory/999999")).body.code).toBe("pet_not_found");
    expect((await refused(store, () => restock(999_999, 1))).code).toBe("pet_not_found");
  });

  test("is set by staff and read by customers", async () => {
    const { id: petId } = await store.aPet();
    const set = () => store.customer.put(`/store/inventory/${petId}`, { quantity: 2 });
    expect((await refused(store, set)).code).toBe("forbidden");
    const { status, body } = await store.customer.get(`/store/inventory/${petId}/movements`);
    expect([status, body.code]).toEqual([403, "forbidden"]);
  });

  test("is never ordered below zero while it is restocked", async () => {
    const { id: petId } = await store.aPet(3);
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 4 === 0 ? restock(petId, 2) : store.customer.post("/store/orders", { petId, quantity: 2 }),
      ),
    );
    const { body } = await store.customer.get(`/store/inventory/${petId}`);
    expect(body.quantity).toBeGreaterThanOrEqual(0);
  });
});

describe("the list of stock", () => {
  let shop: TestStore;
  beforeAll(async () => {
    shop = await aStore();
    for (const quantity of [4, 0, 2, 9, 2, 0]) await shop.aPet(quantity);
    await shop.staff.patch("/pets/5", { status: "pending" });
    await shop.customer.post("/store/orders", { petId: 3, quantity: 2 });
  });
  afterAll(() => shop.stop());

  const listed = async (query: string) => {
    const pages = await pagesOf(shop.customer, `/store/inventory?limit=2${query}`);
    return pages.flat().map(({ petId, quantity, status }) => `${petId}: ${quantity} ${status}`);
  };
  const all = ["1: 4 available", "2: 0 sold", "3: 0 pending", "4: 9 available", "5: 2 pending", "6: 0 sold"];
  const only = (...ids: number[]) => ids.map((id) => all[id - 1] as string);

  test("is in the order of the pets", async () => {
    expect(await listed("")).toEqual(all);
  });

  test("is narrowed to one status or several", async () => {
    expect(await listed("&status=pending")).toEqual(only(3, 5));
    expect(await listed("&status=sold&status=available")).toEqual(only(1, 2, 4, 6));
    expect(await listed("&status=sold&status=sold")).toEqual(only(2, 6));
  });

  test("comes lowest first when it is narrowed to low stock", async () => {
    expect(await listed("&maxQuantity=4")).toEqual(only(2, 3, 6, 5, 1));
    expect(await listed("&maxQuantity=0")).toEqual(only(2, 3, 6));
    expect(await listed("&maxQuantity=4&status=available&status=pending")).toEqual(only(3, 5, 1));
  });

  test.each(["maxQuantity=-1", "maxQuantity=x", "maxQuantity=1001", "status=lost", "sort=id", "petId=1"])(
    "is not narrowed by %s",
    async (query) => {
      const { status, body } = await shop.customer.get(`/store/inventory?${query}`);
      expect([status, body.code]).toEqual([400, "invalid_parameter"]);
      expect(body.details[0].field).toStartWith(query.split("=")[0] as string);
    },
  );
});

describe("the ledger of a pet", () => {
  const movements = async (petId: number) =>
    (await store.staff.get(`/store/inventory/${petId}/movements`)).body;

  test("tells of every change, newest first, with its reason, order and balance", async () => {
    const { id: petId } = await store.aPet();
    const startedAt = new Date(store.clock.now).toISOString();
    store.clock.now += 60_000;
    await restock(petId, 5);
    const first = (await store.customer.post("/store/orders", { petId, quantity: 2 })).body.id;
    const second = (await store.customer.post("/store/orders", { petId, complete: true })).body.id;
    await store.customer.patch(`/store/orders/${first}`, { quantity: 1 });
    await store.customer.delete(`/store/orders/${first}`);
    await store.staff.patch(`/pets/${petId}`, { status: "sold" });
    await store.staff.patch(`/pets/${petId}`, { status: "available" });
    await store.staff.delete(`/pets/${petId}`);

    const ledger = await movements(petId);
    expect(
      ledger.map(({ reason, change, balance, orderId }: Record<string, unknown>) => [
        reason,
        change,
        balance,
        orderId,
      ]),
    ).toEqual([
      ["removed", -1, 0, undefined],
      ["returned", 1, 1, undefined],
      ["sold", -4, 0, undefined],
      ["cancelled", 1, 4, first],
      ["changed", 1, 3, first],
      ["ordered", -1, 2, second],
      ["ordered", -2, 3, first],
      ["restocked", 4, 5, undefined],
      ["created", 1, 1, undefined],
    ]);
    expect(ledger.at(-1).at).toBe(startedAt);
    expect(ledger[0].at).toBe(new Date(store.clock.now).toISOString());
  });

  test("adds up to the stock", async () => {
    const { id: petId } = await store.aPet(7);
    await store.customer.post("/store/orders", { petId, quantity: 3 });
    const sum = (await movements(petId)).reduce(
      (total: number, { change }: { change: number }) => total + change,
      0,
    );
    expect(sum).toBe(4);
  });

  test("has every change in its turn, however many come at once", async () => {
    const { id: petId } = await store.aPet(100);
    const place = async () => (await store.customer.post("/store/orders", { petId, quantity: 2 })).body;
    const orders = await Promise.all(Array.from({ length: 30 }, place));
    await Promise.all([
      ...orders.slice(0, 10).map(({ id }) => store.customer.patch(`/store/orders/${id}`, { quantity: 1 })),
      ...orders.slice(10, 20).map(({ id }) => store.customer.patch(`/store/orders/${id}`, { quantity: 3 })),
      ...orders.slice(20).map(({ id }) => store.customer.delete(`/store/orders/${id}`)),
      ...Array.from({ length: 10 }, place),
    ]);
    const ledger = (await store.staff.get(`/store/inventory/${petId}/movements?limit=100`)).body;
    expect(ledger).toHaveLength(2 + 30 + 40);
    const balances = ledger.map(({ balance }: { balance: number }) => balance);
    const before = ledger.map(
      ({ balance, change }: Record<string, number>) => Number(balance) - Number(change),
    );
    expect(before.slice(0, -1)).toEqual(balances.slice(1));
    expect([balances[0], before.at(-1)]).toEqual([40, 0]);
  });

  test("says nothing of changes that leave stock as it is", async () => {
    const { id: petId } = await store.aPet();
    const { body } = await store.customer.post("/store/orders", { petId });
    await store.customer.patch(`/store/orders/${body.id}`, { complete: true });
    await store.staff.patch(`/pets/${petId}`, { name: "Max" });
    expect(await movements(petId)).toHaveLength(2);
  });

  test("outlives a pet that was sold out, without a closing entry of nothing", async () => {
    const { id: petId } = await store.aPet(0);
    await store.staff.delete(`/pets/${petId}`);
    expect((await movements(petId))[0]).toMatchObject({ reason: "restocked", change: -1, balance: 0 });
  });

  test("comes in pages and says that it is beta", async () => {
    const { id: petId } = await store.aPet();
    for (const quantity of [2, 3, 4, 5]) await restock(petId, quantity);
    const pages = await pagesOf(store.staff, `/store/inventory/${petId}/movements?limit=2`);
    expect(pages.map((page) => page.map(({ balance }: { balance: number }) => balance))).toEqual([
      [5, 4],
      [3, 2],
      [1],
    ]);
    const { headers } = await store.staff.get(`/store/inventory/${petId}/movements`);
    expect(headers.get("x-api-stability")).toBe("beta");
  });

  test("of a pet that never was is not there", async () => {
    expect((await store.staff.get("/store/inventory/999999/movements")).body.code).toBe("pet_not_found");
  });
});
