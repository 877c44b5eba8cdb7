import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { roles } from "../../src/contract/route.ts";
import { isWellFormed } from "../../src/core/key-format.ts";
import { ENGINE } from "../beside.ts";
import { eventually } from "../cli/command.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { aClient, aKey, codeOf, DAY_MS, denied, holder, iso, MINUTE_MS } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
});
afterAll(() => store.stop());

describe("a new key", () => {
  test.each([...roles])("of the role %s works at once, as that role", async (role) => {
    const { id: clientId } = await aClient(store);
    const created = await store.admin.post(`/admin/clients/${clientId}/keys`, { role, name: "till" });
    const { id, key } = created.body;
    expect([created.status, created.headers.get("location")]).toEqual([201, `/admin/keys/${id}`]);
    expect(isWellFormed(key)).toBe(true);
    const createdAt = iso(store.clock.now);
    const shown = { id, clientId, role, name: "till", lastFour: key.slice(-4), createdAt };
    expect(created.body).toEqual({ ...shown, key });
    expect((await store.admin.get(`/admin/keys/${id}`)).body).toEqual(shown);
    expect((await store.admin.get(`/admin/clients/${clientId}/keys`)).body).toEqual([shown]);
    const { body } = await holder(store, created.body).get("/account");
    expect(body).toMatchObject({ client: { id: clientId }, key: { id, role } });
  });

  test("is a customer's without a name and without an end, if nothing else is said", async () => {
    const { id } = await aClient(store);
    const { made } = await aKey(store, id);
    expect(Object.keys(made).sort()).toEqual(["clientId", "createdAt", "id", "key", "lastFour", "role"]);
    expect(made.role).toBe("customer");
  });

  test.each([
    [{ role: "king" }, "role"],
    [{ name: " " }, "name"],
    [{ expiresInDays: 0 }, "expiresInDays"],
    [{ expiresInDays: 3651 }, "expiresInDays"],
    [{ expiresInDays: 1.5 }, "expiresInDays"],
    [{ key: "ps_live_mine" }, "key"],
    [{ clientId: 1 }, "clientId"],
  ])("with %j is refused by the name of the field", async (fields, field) => {
    for (const path of [`/admin/clients/${store.customer.clientId}/keys`, "/account/keys"]) {
      const { body } = await denied(store, () => store.admin.post(path, fields));
      expect(body).toMatchObject({ code: "invalid_body", details: [{ field }] });
    }
  });

  test("works until its expiry and not a moment longer", async () => {
    const { id } = await aClient(store);
    const { made, person } = await aKey(store, id, { expiresInDays: 30 });
    const end = store.clock.now + 30 * DAY_MS;
    expect(made.expiresAt).toBe(iso(end));
    store.clock.now = end - 1;
    expect(await codeOf(person)).toBe(200);
    store.clock.now = end;
    expect(await codeOf(person)).toBe("expired_api_key");
    const rotation = await denied(store, () => store.admin.post(`/admin/keys/${made.id}/rotation`, {}));
    expect([rotation.status, rotation.body.code]).toEqual([404, "key_not_found"]);
  });
});

describe("when a key was last used", () => {
  const lastUsedAt = async (keyId: number) => (await store.admin.get(`/admin/keys/${keyId}`)).body.lastUsedAt;

  test("is known to the minute", async () => {
    const { id } = await aClient(store);
    const { made, person } = await aKey(store, id);
    expect(await lastUsedAt(made.id)).toBeUndefined();
    const first = store.clock.now;
    await person.get("/pets");
    expect(await eventually(async () => (await lastUsedAt(made.id)) === iso(first), 2000)).toBe(true);
    store.clock.now += MINUTE_MS;
    const second = store.clock.now;
    await person.get("/pets");
    expect(await eventually(async () => (await lastUsedAt(made.id)) === iso(second), 2000)).toBe(true);
    const { body } = await store.admin.get(`/admin/clients/${id}/keys`);
    expect(body).toMatchObject([{ id: made.id, lastUsedAt: iso(second) }]);
  });

  test("is not changed by a request that was refused for its key", async () => {
    const { id } = await aClient(store);
    const { made, person } = await aKey(store, id);
    await store.admin.delete(`/admin/keys/${made.id}`);
    expect(await codeOf(person)).toBe("revoked_api_key");
    await store.admin.patch(`/admin/clients/${id}`, { name: "what was noted is written by now" });
    expect(await lastUsedAt(made.id)).toBeUndefined();
  });
});

describe("a revoked key", () => {
  test("stops at once, stays in the list, and can be revoked again", async () => {
    const { id } = await aClient(store);
    const { made, person } = await aKey(store, id);
    expect(await codeOf(person)).toBe(200);
    expect((await store.admin.delete(`/admin/keys/${made.id}`)).status).toBe(204);
    expect(await codeOf(person)).toBe("revoked_api_key");
    const revokedAt = iso(store.clock.now);
    store.clock.now += 1000;
    expect((await store.admin.delete(`/admin/keys/${made.id}`)).status).toBe(204);
    const { body } = await store.admin.get(`/admin/clients/${id}/keys`);
    expect(body).toMatchObject([{ id: made.id, revokedAt }]);
  });

  test("can be the one that asks: a key may revoke itself", async () => {
    const { id } = await aClient(store);
    const { made, person } = await aKey(store, id);
    expect((await person.delete(`/account/keys/${made.id}`)).status).toBe(204);
    expect(await codeOf(person)).toBe("revoked_api_key");
  });
});

test("a key that nobody has is not found", async () => {
  for (const id of ["4711", "9223372036854775807"]) {
    const sends = [
      () => store.admin.get(`/admin/keys/${id}`),
      () => store.admin.delete(`/admin/keys/${id}`),
      () => store.admin.post(`/admin/keys/${id}/rotation`, {}),
      () => store.admin.put(`/admin/keys/${id}/ban`, { minutes: 1 }),
      () => store.admin.delete(`/admin/keys/${id}/ban`),
      () => store.admin.delete(`/account/keys/${id}`),
      () => store.admin.post(`/account/keys/${id}/rotation`, {}),
    ];
    for (const send of sends) {
      const { status, body } = await denied(store, send);
      expect([status, body.code]).toEqual([404, "key_not_found"]);
    }
  }
});

test("a client has at most 100 keys that work; revoked and expired ones do not count", async () => {
  const { id } = await aClient(store, { plan: "business" });
  const { made, person } = await aKey(store, id);
  const { made: brief } = await aKey(store, id, { expiresInDays: 1 });
  for (let count = 2; count < 100; count++) await aKey(store, id);
  const sends = [
    () => store.admin.post(`/admin/clients/${id}/keys`, {}),
    () => person.post("/account/keys", {}),
    () => store.admin.post(`/admin/keys/${made.id}/rotation`, { overlapDays: 1 }),
    () => person.post(`/account/keys/${made.id}/rotation`, { overlapDays: 1 }),
  ];
  for (const send of sends) {
    const { status, body } = await denied(store, send);
    expect([status, body.code]).toEqual([409, "too_many_keys"]);
  }
  store.clock.now = Date.parse(brief.expiresAt);
  const { body: one } = await person.post("/account/keys", {});
  expect((await denied(store, () => person.post("/account/keys", {}))).body.code).toBe("too_many_keys");
  expect((await person.delete(`/account/keys/${one.id}`)).status).toBe(204);
  expect((await person.post("/account/keys", {})).status).toBe(201);
  const { body: other } = await store.admin.post(`/admin/clients/${store.customer.clientId}/keys`, {});
  expect(other.clientId).toBe(store.customer.clientId);
});

test("requests at the same time make no more than 100 keys, and rotate a key once", async () => {
  const { id } = await aClient(store, { plan: "business" });
  const { made } = await aKey(store, id);
  for (let count = 1; count < 95; count++) await aKey(store, id);
  const make = () => store.admin.post(`/admin/clients/${id}/keys`, {});
  const statuses = (await Promise.all(Array.from({ length: 12 }, make))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([...Array(5).fill(201), ...Array(7).fill(409)]);

  const { body } = await store.admin.get(`/admin/clients/${id}/keys`);
  for (const { id: keyId } of body.slice(-10)) await store.admin.delete(`/admin/keys/${keyId}`);
  const rotate = () => store.admin.post(`/admin/keys/${made.id}/rotation`, { overlapDays: 0 });
  const rotations = (await Promise.all(Array.from({ length: 8 }, rotate))).map(({ status }) => status);
  expect(rotations.sort()).toEqual([201, ...Array(7).fill(404)]);
});

test("a key is shown once: not in a list, a replay, the log, the trail, an event or the files of the database", async () => {
  await using own = await aStore();
  const { admin } = own;
  const { id } = await aClient(own);
  const secrets: string[] = [];
  const once = async (person: Person, path: string, body: unknown, idempotencyKey: string) => {
    const headers = { "idempotency-key": idempotencyKey };
    const first = await person.post(path, body, headers);
    expect(first.status).toBe(201);
    const replay = await person.post(path, body, headers);
    const { key, ...shown } = first.body;
    expect(replay.headers.get("idempotency-replayed")).toBe("true");
    expect([replay.status, replay.body]).toEqual([201, shown]);
    secrets.push(key.slice("ps_live_".length, -6));
    return holder(own, first.body);
  };
  const made = await once(admin, `/admin/clients/${id}/keys`, { role: "staff", name: "till" }, "1");
  const rotated = await once(admin, `/admin/keys/${made.keyId}/rotation`, { overlapDays: 3 }, "2");
  const own1 = await once(rotated, "/account/keys", { role: "staff" }, "3");
  await once(rotated, `/account/keys/${own1.keyId}/rotation`, {}, "4");
  expect(new Set(secrets).size).toBe(4);
  expect((await made.get("/pets")).status).toBe(200);
  expect((await made.get(`/pets?key=${own1.key}`)).body.code).toBe("invalid_api_key");

  const shown = await Promise.all(
    [
      `/admin/clients/${id}/keys`,
      `/admin/keys/${made.keyId}`,
      "/admin/audit?limit=100",
      "/admin/bans",
      "/account",
      "/account/keys",
    ].map(async (path) => (await (path.startsWith("/account") ? rotated : admin).get(path)).text),
  );
  const tables = await Promise.all(
    ["kept_answers", "events", "audit", "api_keys"].map(async (table) =>
      JSON.stringify(await own.beside.db.rows(`select * from ${table}`)),
    ),
  );
  const files = ENGINE === "sqlite" ? filesBeside(own.config.databaseUrl) : [];
  for (const text of [own.logged(), ...shown, ...tables, ...files])
    for (const secret of secrets) expect(text.includes(secret)).toBe(false);
  expect(own.logged()).not.toMatch(/ps_live_[0-9A-Za-z]/);

  const [row] = await own.beside.db.rows(`select hash from api_keys where id = ${made.keyId}`);
  expect(row).toEqual({ hash: createHash("sha256").update(made.key).digest("hex") });
});

/** The database's own files, where what was deleted may still be. */
function filesBeside(path: string): string[] {
  const folder = dirname(path);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  expect(files.length).toBeGreaterThanOrEqual(2);
  return files;
}
