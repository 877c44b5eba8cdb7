import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";
import { aClient, aKey, codeOf, DAY_MS, denied, holder, iso } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
});
afterAll(() => store.stop());

describe("a rotation", () => {
  const rotated = async (keyId: number, body: Record<string, unknown>) => {
    const reply = await store.admin.post(`/admin/keys/${keyId}/rotation`, body);
    expect(reply.status).toBe(201);
    expect(reply.headers.get("location")).toBe(`/admin/keys/${reply.body.id}`);
    return { made: reply.body, person: holder(store, reply.body) };
  };

  test("without an overlap ends the old key at once", async () => {
    const { id } = await aClient(store);
    const old = await aKey(store, id, { role: "staff", name: "till" });
    expect(await codeOf(old.person)).toBe(200);
    const { made, person } = await rotated(old.made.id, { overlapDays: 0 });
    expect(made).toMatchObject({ clientId: id, role: "staff", name: "till" });
    expect(made.id).not.toBe(old.made.id);
    expect(made.key).not.toBe(old.made.key);
    expect(await codeOf(person)).toBe(200);
    expect(await codeOf(old.person)).toBe("revoked_api_key");
  });

  test.each([
    [{}, 1],
    [{ overlapDays: 1 }, 1],
    [{ overlapDays: 7 }, 7],
    [{ overlapDays: 30 }, 30],
  ])("with %j lets the old key work for %d days", async (body, days) => {
    const { id } = await aClient(store);
    const old = await aKey(store, id);
    const end = store.clock.now + days * DAY_MS;
    const { made, person } = await rotated(old.made.id, body);
    expect(made.expiresAt).toBeUndefined();
    expect((await store.admin.get(`/admin/keys/${old.made.id}`)).body.expiresAt).toBe(iso(end));
    store.clock.now = end - 1;
    expect([await codeOf(old.person), await codeOf(person)]).toEqual([200, 200]);
    store.clock.now = end;
    expect([await codeOf(old.person), await codeOf(person)]).toEqual(["expired_api_key", 200]);
  });

  test("never lengthens the life of the old key, and the new one ends when the old one would have", async () => {
    const { id } = await aClient(store);
    const old = await aKey(store, id, { expiresInDays: 2 });
    const { made } = await rotated(old.made.id, { overlapDays: 30 });
    expect(made.expiresAt).toBe(old.made.expiresAt);
    expect((await store.admin.get(`/admin/keys/${old.made.id}`)).body.expiresAt).toBe(old.made.expiresAt);
  });

  test("can be of the key that asks", async () => {
    const { id } = await aClient(store);
    const old = await aKey(store, id);
    const reply = await old.person.post(`/account/keys/${old.made.id}/rotation`, { overlapDays: 0 });
    expect(reply.status).toBe(201);
    expect(await codeOf(old.person)).toBe("revoked_api_key");
    expect(await codeOf(holder(store, reply.body))).toBe(200);
  });

  test.each([31, -1, 1.5, "7"])("with an overlap of %j days is refused", async (overlapDays) => {
    const { id } = await aClient(store);
    const { made } = await aKey(store, id);
    const { body } = await denied(store, () =>
      store.admin.post(`/admin/keys/${made.id}/rotation`, { overlapDays }),
    );
    expect(body).toMatchObject({ code: "invalid_body", details: [{ field: "overlapDays" }] });
  });

  test("of a revoked key is refused", async () => {
    const { id } = await aClient(store);
    const { made } = await aKey(store, id);
    await store.admin.delete(`/admin/keys/${made.id}`);
    const { status, body } = await denied(store, () =>
      store.admin.post(`/admin/keys/${made.id}/rotation`, { overlapDays: 7 }),
    );
    expect([status, body.code]).toEqual([404, "key_not_found"]);
  });

  test("shares the windows of the client with the old key", async () => {
    const { id } = await aClient(store);
    const old = await aKey(store, id);
    await codeOf(old.person);
    const { person } = await rotated(old.made.id, { overlapDays: 7 });
    expect((await person.get("/pets")).headers.get("x-ratelimit-remaining")).toBe("58");
  });
});
