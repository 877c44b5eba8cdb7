import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const now = () => new Date(store.clock.now).toISOString();
const place = (body: unknown) => store.customer.post("/store/orders", body);
const stateOf = async (petId: number) => {
  const { body } = await store.customer.get(`/store/inventory/${petId}`);
  return [body.status, body.quantity];
};

describe("an order", () => {
  test("for the last unit makes the pet pending", async () => {
    const pet = await store.aPet();
    const order = await place({ petId: pet.id });
    expect(order.status).toBe(201);
    expect(order.body).toEqual({ id: order.body.id, petId: pet.id, quantity: 1, complete: false });
    expect(await stateOf(pet.id)).toEqual(["pending", 0]);
  });

  test("takes its units at once, and is found at its Location", async () => {
    const { id: petId } = await store.aPet(5);
    const { body, headers } = await place({ petId, quantity: 3, shipDate: "2026-11-30T12:00:00Z" });
    expect(body).toEqual({
      id: body.id,
      petId,
      quantity: 3,
      shipDate: "2026-11-30T12:00:00.000Z",
      complete: false,
    });
    expect(await stateOf(petId)).toEqual(["available", 2]);
    expect(headers.get("location")).toBe(`/store/orders/${body.id}`);
    expect((await store.customer.get(`/store/orders/${body.id}`)).body).toEqual(body);
  });

  test("of a pet that does not exist is refused", async () => {
    const refusal = await refused(store, () => place({ petId: 999 }));
    expect(refusal).toMatchObject({ code: "unknown_pet", status: 422 });
    expect(refusal.message).toContain("999");
    expect(refusal.details).toEqual([{ field: "petId", message: refusal.message }]);
  });

  test.each(["pending", "sold"])("of a pet that is %s is refused", async (status) => {
    const { id: petId } = await store.aPet();
    await store.staff.patch(`/pets/${petId}`, { status });
    const refusal = await refused(store, () => place({ petId }));
    expect(refusal).toMatchObject({ code: "pet_not_available", status: 409 });
    expect(refusal.message).toContain(status);
  });

  test("for more than is in stock is refused, with what was asked, what there is and who restocks", async () => {
    const { id: petId } = await store.aPet(2);
    const refusal = await refused(store, () => place({ petId, quantity: 3 }));
    expect(refusal).toMatchObject({ code: "insufficient_stock", status: 409 });
    for (const part of ["3", "2 in stock", `PUT /store/inventory/${petId}`])
      expect(refusal.message).toContain(part);
  });

  test("over the counter is complete, shipped now, and takes its units", async () => {
    const { id: petId } = await store.aPet(3);
    const { status, body } = await place({ petId, quantity: 2, complete: true });
    expect(status).toBe(201);
    expect(body).toEqual({ id: body.id, petId, quantity: 2, shipDate: now(), complete: true });
    expect(await stateOf(petId)).toEqual(["available", 1]);
    const dated = await place({ petId, complete: true, shipDate: "2026-11-14T08:00:00Z" });
    expect(dated.body.shipDate).toBe("2026-11-14T08:00:00.000Z");
    expect(await stateOf(petId)).toEqual(["sold", 0]);
  });

  test("may be asked for by everybody at once: each unit is sold once", async () => {
    const { id: petId } = await store.aPet(5);
    const people = [store.customer, store.stranger, store.staff, store.admin];
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, index) => people[index % 4]!.post("/store/orders", { petId })),
    );
    const placed = replies.filter(({ status }) => status === 201);
    expect(placed).toHaveLength(5);
    expect(new Set(placed.map(({ body }) => body.id)).size).toBe(5);
    for (const { status, body } of replies) if (status !== 201) expect(body.code).toBe("pet_not_available");
    expect(await stateOf(petId)).toEqual(["pending", 0]);
  });

  test.each([
    [{ quantity: 0 }, "quantity"],
    [{ quantity: -1 }, "quantity"],
    [{ quantity: 1.5 }, "quantity"],
    [{ quantity: "1" }, "quantity"],
    [{ quantity: null }, "quantity"],
    [{ quantity: 2147483648 }, "quantity"],
    [{ petId: null }, "petId"],
    [{ petId: 0 }, "petId"],
    [{ petId: "1" }, "petId"],
    [{ complete: null }, "complete"],
    [{ complete: "true" }, "complete"],
    [{ shipDate: null }, "shipDate"],
    [{ clientId: 1 }, "clientId"],
    [{ status: "placed" }, "status"],
  ])("with %j is refused", async (body, field) => {
    const refusal = await refused(store, () => place(body));
    expect(refusal.code).toBe("invalid_body");
    expect(refusal.details.map((detail: { field: string }) => detail.field)).toEqual([field]);
  });

  test.each(["7", "9223372036854775807"])(
    "is numbered by the store, whatever id %s it brings",
    async (id) => {
      const last = (await place({})).body.id;
      const { status, body } = await store.customer.send("POST", "/store/orders", { raw: `{"id":${id}}` });
      expect([status, body.id]).toEqual([201, last + 1]);
    },
  );
});

describe("a draft", () => {
  test("is an order of nothing: it takes no stock and shows no pet or quantity", async () => {
    const before = await store.beside.db.rows("select * from movements");
    const { status, body } = await place({});
    expect([status, body]).toEqual([201, { id: body.id, complete: false }]);
    expect(await store.beside.db.rows("select * from movements")).toEqual(before);
    expect((await store.customer.get(`/store/orders/${body.id}`)).body).toEqual(body);
  });

  test("keeps the quantity and ship date that it is given", async () => {
    const { body } = await place({ quantity: 3, shipDate: "2026-12-01T00:00:00Z" });
    expect(body).toEqual({ id: body.id, quantity: 3, shipDate: "2026-12-01T00:00:00.000Z", complete: false });
  });

  test("cannot be completed, at once or later", async () => {
    const { body } = await place({});
    const at = `/store/orders/${body.id}`;
    for (const complete of [
      () => place({ complete: true }),
      () => place({ complete: true, quantity: 1 }),
      () => store.customer.patch(at, { complete: true }),
    ])
      expect(await refused(store, complete)).toMatchObject({ code: "order_is_draft", status: 409 });
  });

  test("can be cancelled", async () => {
    const { body } = await place({});
    expect((await store.customer.delete(`/store/orders/${body.id}`)).status).toBe(204);
    expect((await store.customer.get(`/store/orders/${body.id}`)).body.code).toBe("order_not_found");
  });
});

describe("a ship date", () => {
  test.each([
    ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000Z"],
    ["2026-11-30T12:00:00.5Z", "2026-11-30T12:00:00.500Z"],
    ["2026-11-30T01:00:00+05:30", "2026-11-29T19:30:00.000Z"],
    ["2026-11-30T23:00:00-05:00", "2026-12-01T04:00:00.000Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
    ["9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"],
    ["2026-11-30T12:00:00.123456789Z", "2026-11-30T12:00:00.123Z"],
    ["1969-12-31T23:59:59.9995Z", "1969-12-31T23:59:59.999Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
  ])("%s is kept in UTC as %s, and found so", async (shipDate, kept) => {
    const { body } = await place({ shipDate });
    expect(body.shipDate).toBe(kept);
    const query = new URLSearchParams({ shippedAfter: shipDate, limit: "100" });
    const found = await store.customer.get(`/store/orders?${query}`);
    expect(found.body.map(({ id }: { id: number }) => id)).toContain(body.id);
  });

  test.each([
    "2026-11-30",
    "2026-11-30T12:00:00",
    "2026-11-30T12:00Z",
    "2026-11-30 12:00:00Z",
    "2026-02-29T12:00:00Z",
    "2026-11-31T12:00:00Z",
    "2026-11-30T24:00:00Z",
    "2026-12-31T23:59:60Z",
    "2026-12-31T15:59:60.5-08:00",
    "2026-11-30T12:00:00+05",
    "2026-11-30T12:00:00+24:00",
    "2026-11-30T12:00:00.Z",
    "10000-01-01T00:00:00Z",
    "-000001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00+01:00",
    "tomorrow",
    "",
    1796040000,
  ])("%j is refused, in a body and in an address, and the problem is told once", async (shipDate) => {
    const { code, details } = await refused(store, () => place({ shipDate }));
    expect(code).toBe("invalid_body");
    expect(details.map(({ field }: { field: string }) => field)).toEqual(["shipDate"]);
    const query = new URLSearchParams({ shippedAfter: String(shipDate) });
    const asked = await store.customer.get(`/store/orders?${query}`);
    expect([asked.status, asked.body.code]).toEqual([400, "invalid_parameter"]);
    if (typeof shipDate === "string") expect(asked.body.details[0].message).toBe(details[0].message);
  });

  test.each([
    ["9999-12-31T23:59:59-01:00", "must be within the years 0000 to 9999 in UTC, got"],
    ["2026-12-31T23:59:60Z", "must be a time without a leap second, got"],
    ["2026-12-31T23:59:61Z", "must be an RFC 3339 date-time with an offset, such as"],
  ])("%s is refused for what is wrong with it", async (shipDate, problem) => {
    expect((await refused(store, () => place({ shipDate }))).details[0].message).toStartWith(problem);
  });
});

describe("cancelling", () => {
  test("gives the units back, and the record is gone", async () => {
    const { id: petId } = await store.aPet(3);
    const { body } = await place({ petId, quantity: 3 });
    const reply = await store.customer.delete(`/store/orders/${body.id}`);
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expect(await stateOf(petId)).toEqual(["available", 3]);
    for (const gone of [
      () => store.customer.get(`/store/orders/${body.id}`),
      () => store.customer.delete(`/store/orders/${body.id}`),
      () => store.customer.patch(`/store/orders/${body.id}`, {}),
    ])
      expect((await refused(store, gone)).code).toBe("order_not_found");
    expect((await place({})).body.id).toBeGreaterThan(body.id);
  });

  test("a completed order is refused", async () => {
    const { id: petId } = await store.aPet();
    const { body } = await place({ petId, complete: true });
    const refusal = await refused(store, () => store.customer.delete(`/store/orders/${body.id}`));
    expect(refusal).toMatchObject({ code: "order_complete", status: 409 });
  });

  test("is no fault of the server, even when the stock is as large as can be", async () => {
    await using full = await aStore();
    const { id: petId } = await full.aPet(2);
    const { body } = await full.customer.post("/store/orders", { petId, quantity: 2 });
    await full.staff.put(`/store/inventory/${petId}`, { quantity: 2147483647 });
    const smaller = await full.customer.patch(`/store/orders/${body.id}`, { quantity: 1 });
    expect(smaller.status).toBeLessThan(500);
    expect((await full.customer.delete(`/store/orders/${body.id}`)).status).toBeLessThan(500);
    expect(await full.findings()).toEqual([]);
  });
});

describe("a customer", () => {
  test("sees and touches the orders of its own client, whichever key placed them", async () => {
    const colleague = await store.newPerson("customer", { clientId: store.customer.clientId });
    const { body } = await place({});
    expect((await colleague.get(`/store/orders/${body.id}`)).body).toEqual(body);
    expect((await colleague.patch(`/store/orders/${body.id}`, { quantity: 2 })).status).toBe(200);
    expect((await colleague.delete(`/store/orders/${body.id}`)).status).toBe(204);
  });

  test("finds no order of another client, as if it never was", async () => {
    const { id: petId } = await store.aPet(2);
    const { body } = await place({ petId });
    const missing = (await store.stranger.get("/store/orders/999999")).body;
    for (const attempt of [
      () => store.stranger.get(`/store/orders/${body.id}`),
      () => store.stranger.patch(`/store/orders/${body.id}`, { quantity: 2 }),
      () => store.stranger.patch(`/store/orders/${body.id}`, {}),
      () => store.stranger.delete(`/store/orders/${body.id}`),
    ]) {
      const refusal = await refused(store, attempt);
      expect({ ...refusal, message: "" }).toEqual({ ...missing, message: "" });
      expect(refusal.message).toBe(missing.message.replace("999999", String(body.id)));
    }
    const { body: seen } = await store.stranger.get(`/store/orders?petId=${petId}`);
    expect(seen).toEqual([]);
  });

  test.each(["staff", "admin"] as const)("is served by %s, who see and touch every order", async (role) => {
    const { id: petId } = await store.aPet(2);
    const { body } = await place({ petId });
    const served = store[role];
    expect((await served.get(`/store/orders/${body.id}`)).body).toEqual(body);
    expect((await served.get(`/store/orders?petId=${petId}`)).body).toEqual([body]);
    expect((await served.patch(`/store/orders/${body.id}`, { complete: true })).status).toBe(200);
    expect((await store.customer.get(`/store/orders/${body.id}`)).body.complete).toBe(true);
  });
});
