import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, NOON, pagesOf, type TestStore } from "../harness.ts";
import { aClient, aKey, denied, holder } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
});
afterAll(() => store.stop());

describe("a new client", () => {
  test.each([
    ["free", {}, 60, 1000],
    ["pro", {}, 300, 10_000],
    ["business", {}, 1000, 100_000],
    ["enterprise", { perMinute: 7, perDay: 4_000_000 }, 7, 4_000_000],
  ])("on the %s plan has its numbers", async (plan, numbers, perMinute, perDay) => {
    const created = await store.admin.post("/admin/clients", { name: "Shop", plan, ...numbers });
    const { id } = created.body;
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/admin/clients/${id}`);
    const createdAt = new Date(NOON).toISOString();
    expect(created.body).toEqual({ id, name: "Shop", plan, perMinute, perDay, suspended: false, createdAt });
    expect((await store.admin.get(`/admin/clients/${id}`)).body).toEqual(created.body);
  });

  test("is on the free plan if nothing else is said", async () => {
    expect(await aClient(store)).toMatchObject({ plan: "free", perMinute: 60, perDay: 1000 });
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: 7 }, "name"],
    [{ plan: "gold" }, "plan"],
    [{ plan: "enterprise", perMinute: 0, perDay: 10 }, "perMinute"],
    [{ plan: "enterprise", perMinute: 1.5, perDay: 10 }, "perMinute"],
    [{ plan: "enterprise", perMinute: 10, perDay: 1_000_000_001 }, "perDay"],
    [{ plan: "enterprise", perMinute: 10, perDay: null }, "perDay"],
    [{ colour: "red" }, "colour"],
    [{ suspended: true }, "suspended"],
  ])("with %j is refused by the name of the field", async (fields, field) => {
    const { body } = await denied(store, () =>
      store.admin.post("/admin/clients", { name: "Odd", ...fields }),
    );
    expect(body).toMatchObject({ code: "invalid_body", details: [{ field }] });
  });
});

describe("the numbers of a plan", () => {
  const faults: [Record<string, unknown>, string[]][] = [
    [{ plan: "enterprise" }, ["perMinute", "perDay"]],
    [{ plan: "enterprise", perMinute: 5 }, ["perDay"]],
    [{ plan: "enterprise", perDay: 5 }, ["perMinute"]],
    [{ plan: "free", perMinute: 60, perDay: 1000 }, ["perMinute", "perDay"]],
    [{ plan: "pro", perMinute: 5 }, ["perMinute"]],
    [{ plan: "business", perDay: 5 }, ["perDay"]],
    [{ perDay: 5 }, ["perDay"]],
  ];

  test.each(faults)("%j is refused for a new client", async (fields, named) => {
    const { status, body } = await denied(store, () =>
      store.admin.post("/admin/clients", { name: "Odd", ...fields }),
    );
    expect([status, body.code]).toEqual([422, "invalid_plan"]);
    expect(body.details.map((each: { field: string }) => each.field)).toEqual(named);
  });

  test.each(faults)("%j is refused for a client on the free plan", async (fields, named) => {
    const { id } = await aClient(store);
    const { status, body } = await denied(store, () => store.admin.patch(`/admin/clients/${id}`, fields));
    expect([status, body.code]).toEqual([422, "invalid_plan"]);
    expect(body.details.map((each: { field: string }) => each.field)).toEqual(named);
  });
});

describe("a list of clients", () => {
  test("has every client once, by id, in pages", async () => {
    const made: number[] = [];
    for (const name of ["A", "B", "C", "D", "E"]) made.push((await aClient(store, { name })).id);
    const gone = made.splice(2, 1)[0];
    expect((await store.admin.delete(`/admin/clients/${gone}`)).status).toBe(204);
    const pages = await pagesOf(store.admin, "/admin/clients?limit=2");
    const ids: number[] = pages.flat().map((client) => client.id);
    expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids).toEqual(expect.arrayContaining([store.customer.clientId, ...made]));
    expect(ids).not.toContain(gone);
  });

  test("refuses a cursor that is none", async () => {
    const { body } = await denied(store, () => store.admin.get("/admin/clients?cursor=nonsense"));
    expect(body).toMatchObject({ code: "invalid_parameter", details: [{ field: "cursor" }] });
  });
});

describe("a change of a client", () => {
  const changed = async (id: number, fields: Record<string, unknown>) =>
    (await store.admin.patch(`/admin/clients/${id}`, fields)).body;

  test("leaves alone what it does not name", async () => {
    const client = await aClient(store, { plan: "enterprise", perMinute: 5, perDay: 50 });
    expect(await changed(client.id, { name: "Other" })).toEqual({ ...client, name: "Other" });
    expect(await changed(client.id, { perDay: 60 })).toEqual({ ...client, name: "Other", perDay: 60 });
    expect(await changed(client.id, {})).toEqual({ ...client, name: "Other", perDay: 60 });
    expect((await store.admin.get(`/admin/clients/${client.id}`)).body.perDay).toBe(60);
  });

  test("of plan brings the plan's numbers, and away from enterprise the agreed ones go", async () => {
    const { id } = await aClient(store);
    expect(await changed(id, { plan: "business" })).toMatchObject({ perMinute: 1000, perDay: 100_000 });
    const agreed = { plan: "enterprise", perMinute: 9, perDay: 99 };
    expect(await changed(id, agreed)).toMatchObject(agreed);
    expect(await changed(id, { plan: "pro" })).toMatchObject({ plan: "pro", perMinute: 300, perDay: 10_000 });
    const { body } = await denied(store, () =>
      store.admin.patch(`/admin/clients/${id}`, { plan: "enterprise" }),
    );
    expect(body.code).toBe("invalid_plan");
  });

  test("of plan keeps what was counted, upward and downward", async () => {
    const { id } = await aClient(store);
    const { person } = await aKey(store, id);
    const windows = async () => (await person.get("/account/limits")).body;
    for (let asked = 0; asked < 3; asked++) await person.get("/pets");
    expect(await windows()).toMatchObject({ minute: { limit: 60, remaining: 57 }, day: { remaining: 997 } });
    await changed(id, { plan: "pro" });
    expect(await windows()).toMatchObject({
      minute: { limit: 300, remaining: 297 },
      day: { limit: 10_000, remaining: 9997 },
    });
    await changed(id, { plan: "enterprise", perMinute: 2, perDay: 4 });
    expect(await windows()).toMatchObject({
      minute: { limit: 2, remaining: 0 },
      day: { limit: 4, remaining: 1 },
    });
    const { status, body, headers } = await person.get("/pets");
    expect([status, body.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(headers.get("x-ratelimit-remaining")).toBe("0");
    await changed(id, { perMinute: 4 });
    expect((await person.get("/pets")).status).toBe(200);
    expect((await person.get("/pets")).body.code).toBe("daily_quota_exceeded");
  });

  test.each(["4711", "9223372036854775807"])("%s is of nobody", async (id) => {
    const sends = [
      () => store.admin.get(`/admin/clients/${id}`),
      () => store.admin.patch(`/admin/clients/${id}`, { name: "X" }),
      () => store.admin.delete(`/admin/clients/${id}`),
      () => store.admin.get(`/admin/clients/${id}/keys`),
      () => store.admin.post(`/admin/clients/${id}/keys`, {}),
    ];
    for (const send of sends) {
      const { status, body } = await denied(store, send);
      expect([status, body.code]).toEqual([404, "client_not_found"]);
    }
  });
});

describe("a suspended client", () => {
  test("is refused with all its keys and all operations, and goes on where it was when resumed", async () => {
    const { id } = await aClient(store, { plan: "pro" });
    const { person: one } = await aKey(store, id);
    const { person: two } = await aKey(store, id, { role: "admin" });
    await one.get("/pets");
    const suspended = await store.admin.patch(`/admin/clients/${id}`, { suspended: true });
    expect(suspended.body).toMatchObject({ id, suspended: true, plan: "pro" });
    for (const person of [one, two]) {
      for (const path of ["/pets", "/account", "/account/limits", "/account/keys"]) {
        const { status, body, headers } = await person.get(path);
        expect([status, body.code]).toEqual([403, "client_suspended"]);
        expect(headers.get("x-should-retry")).toBe("false");
      }
    }
    const { body: own } = await denied(store, () => two.patch(`/admin/clients/${id}`, { suspended: false }));
    expect(own.code).toBe("client_suspended");
    expect((await store.customer.get("/pets")).status).toBe(200);
    expect((await store.admin.patch(`/admin/clients/${id}`, { suspended: true })).status).toBe(200);

    const resumed = await store.admin.patch(`/admin/clients/${id}`, { suspended: false });
    expect(resumed.body.suspended).toBe(false);
    const { status, headers } = await two.get("/pets");
    expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, "298"]);
  });

  test("keeps its orders", async () => {
    const { id } = await aClient(store);
    const { person } = await aKey(store, id);
    const pet = await store.aPet(5);
    const order = (await person.post("/store/orders", { petId: pet.id })).body;
    await store.admin.patch(`/admin/clients/${id}`, { suspended: true });
    expect((await store.staff.get(`/store/orders/${order.id}`)).body).toEqual(order);
  });
});

describe("removing a client", () => {
  test("is refused while it has an open order or a draft", async () => {
    const { id } = await aClient(store);
    const { person } = await aKey(store, id);
    const pet = await store.aPet(5);
    const open = (await person.post("/store/orders", { petId: pet.id })).body;
    const remove = () => store.admin.delete(`/admin/clients/${id}`);
    const refusal = await denied(store, remove);
    expect([refusal.status, refusal.body.code]).toEqual([409, "client_has_open_orders"]);
    expect(refusal.body.message).toContain(`has open orders or drafts: ${open.id}. `);
    await person.patch(`/store/orders/${open.id}`, { complete: true });
    const draft = (await person.post("/store/orders", {})).body;
    expect((await denied(store, remove)).body.code).toBe("client_has_open_orders");
    expect((await person.get("/pets")).status).toBe(200);
    await person.delete(`/store/orders/${draft.id}`);
    expect((await remove()).status).toBe(204);
  });

  test("stops its keys, keeps its completed orders, and nothing finds it any more", async () => {
    const { id } = await aClient(store);
    const { made, person } = await aKey(store, id);
    const { person: second } = await aKey(store, id, { role: "staff" });
    const pet = await store.aPet(5);
    const order = (await person.post("/store/orders", { petId: pet.id, complete: true })).body;
    expect((await store.admin.delete(`/admin/clients/${id}`)).status).toBe(204);

    for (const each of [person, second]) {
      const { status, body } = await each.get("/pets");
      expect([status, body.code]).toEqual([401, "revoked_api_key"]);
    }
    expect((await store.staff.get(`/store/orders/${order.id}`)).body).toEqual(order);
    expect((await store.admin.get(`/admin/keys/${made.id}`)).body.revokedAt).toBe(
      new Date(NOON).toISOString(),
    );
    const sends = [
      () => store.admin.get(`/admin/clients/${id}`),
      () => store.admin.patch(`/admin/clients/${id}`, { suspended: false }),
      () => store.admin.delete(`/admin/clients/${id}`),
      () => store.admin.post(`/admin/clients/${id}/keys`, {}),
    ];
    for (const send of sends) expect((await denied(store, send)).body.code).toBe("client_not_found");
    const rotation = await denied(store, () => store.admin.post(`/admin/keys/${made.id}/rotation`, {}));
    expect(rotation.body.code).toBe("key_not_found");
    expect(await store.findings()).toEqual([]);
  });

  test("leaves its number unused: the next client gets another", async () => {
    const { id } = await aClient(store);
    await store.admin.delete(`/admin/clients/${id}`);
    const next = await aClient(store);
    expect(next.id).toBeGreaterThan(id);
    const key = await store.admin.post(`/admin/clients/${next.id}/keys`, {});
    expect((await holder(store, key.body).get("/account")).body.client.id).toBe(next.id);
  });
});
