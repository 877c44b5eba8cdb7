import { beforeAll, expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { isWrite, roles, successStatus } from "../../src/contract/route.ts";
import { hashOf, KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import { eventually } from "../cli/command.ts";
import { NOON, type Person } from "../harness.ts";
import { aCall, each, refused, refusedCalls, theStore } from "./calls.ts";
import { raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);
let revoked: Person;
let expired: Person;
let suspended: Person;
let banned: Person;

beforeAll(async () => {
  revoked = await store.newPerson("admin");
  expired = await store.newPerson("admin", { expiresAt: NOON });
  suspended = await store.newPerson("admin");
  banned = await store.newPerson("admin");
  await store.admin.delete(`/admin/keys/${revoked.keyId}`);
  await store.admin.patch(`/admin/clients/${suspended.clientId}`, { suspended: true });
  await store.admin.put(`/admin/keys/${banned.keyId}/ban`, { minutes: 10 });
});

/** A key that differs in its last character. */
function mistyped(key: string): string {
  return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}

each(everyEndpoint, "refuses a caller without a key, and says how one is sent", async (endpoint) => {
  const { send } = await call(endpoint);
  const { body } = await refused(store, "missing_api_key", () => send({ by: store.nobody }));
  expect(body.message).toContain("X-API-Key: <API_KEY> or Authorization: Bearer <API_KEY>");
});

each(everyEndpoint, "refuses a mistyped key and says so", async (endpoint) => {
  const { send, by } = await call(endpoint);
  const headers = { "x-api-key": mistyped(by.key) };
  const { body } = await refused(store, "invalid_api_key", () => send({ headers }));
  expect(body.message).toContain("mistyped");
  expect(body.message).toContain("Copy it again");
});

each(everyEndpoint, "refuses an unknown key", async (endpoint) => {
  const { send } = await call(endpoint);
  const headers = { "x-api-key": keyFrom(new Uint8Array(KEY_BYTES).fill(7)) };
  const { body } = await refused(store, "invalid_api_key", () => send({ headers }));
  expect(body.message).toContain("unknown");
  expect(body.message).toContain("Check");
});

each(everyEndpoint, "refuses a revoked key", async (endpoint) => {
  const { send } = await call(endpoint);
  const { body } = await refused(store, "revoked_api_key", () => send({ by: revoked }));
  expect(body.message).toContain("Ask for a new one");
});

each(everyEndpoint, "refuses an expired key", async (endpoint) => {
  const { send } = await call(endpoint);
  const { body } = await refused(store, "expired_api_key", () => send({ by: expired }));
  expect(body.message).toContain("2026-11-15T12:00:00.000Z");
  expect(body.message).toContain("Ask for a new one");
});

each(everyEndpoint, "refuses the key of a suspended client", async (endpoint) => {
  const { send } = await call(endpoint);
  const { body } = await refused(store, "client_suspended", () => send({ by: suspended }));
  expect(body.message).toContain("Contact the operator");
});

each(
  everyEndpoint.filter(({ route }) => !route.uncounted),
  "refuses a banned key, and says until when",
  async (endpoint) => {
    const { send } = await call(endpoint);
    const { body, headers } = await refused(store, "key_banned", () => send({ by: banned }));
    expect(headers.get("retry-after")).toBe("600");
    expect(body.message).toContain(new Date(NOON + 600_000).toISOString());
    expect(body.message).toContain("Send nothing for 600 s");
    expect(body.message).toContain("GET /account/limits");
  },
);

test("what tells of the limits is the one thing that a banned key may ask", async () => {
  expect(everyEndpoint.filter(({ route }) => route.uncounted).map(({ id }) => id)).toEqual([
    "account.limits",
  ]);
  const { status, body } = await banned.get("/account/limits");
  expect([status, body.bannedUntil]).toEqual([200, new Date(NOON + 600_000).toISOString()]);
});

each(everyEndpoint, "refuses a key in the URL, even beside a good one", async (endpoint) => {
  const { send, by } = await call(endpoint);
  for (const query of [`?api_key=${by.key}`, `?${by.key}`]) {
    const { body } = await refused(store, "invalid_api_key", () => send({ query }));
    expect(body.message).toContain("URL");
    await refused(store, "invalid_api_key", () => send({ query, by: store.nobody }));
  }
});

each(everyEndpoint, "refuses a key that is sent twice", async (endpoint) => {
  const { method, path, body, by } = await call(endpoint);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const rest = rawHeaders("", text);
  const twice = { method, path, ...(text !== undefined && { body: text }) };
  for (const line of [["X-API-Key", by.key] as const, ["Authorization", `Bearer ${by.key}`] as const]) {
    const headers = [line, line, ...rest];
    await refused(store, "invalid_api_key", () => raw(store.url, { ...twice, headers }));
  }
});

each(everyEndpoint, "refuses two different keys", async (endpoint) => {
  const { send } = await call(endpoint);
  const headers = { authorization: `Bearer ${store.admin.key}` };
  const by = store.stranger;
  const { body } = await refused(store, "invalid_api_key", () => send({ by, headers }));
  expect(body.message).toContain("different");
});

each(everyEndpoint, "takes the key as a bearer token, alone or beside the same key", async (endpoint) => {
  for (const scheme of ["Bearer", "bearer"]) {
    const bearer = ({ key }: Person) => ({ authorization: `${scheme} ${key}` });
    const alone = await aCall(store, endpoint);
    const reply = await alone.send({ by: store.nobody, headers: bearer(alone.by) });
    expect(reply.status).toBe(successStatus(endpoint.route));
    const both = await aCall(store, endpoint);
    expect((await both.send({ headers: bearer(both.by) })).status).toBe(successStatus(endpoint.route));
  }
});

each(everyEndpoint, "refuses another scheme of authorization", async (endpoint) => {
  const { send, by } = await call(endpoint);
  for (const authorization of [`Basic ${btoa(`${by.key}:`)}`, by.key, "Bearer", "Bearer "]) {
    await refused(store, "invalid_api_key", () => send({ by: store.nobody, headers: { authorization } }));
  }
});

each(
  everyEndpoint,
  "lets in its role and those above, and tells those below what they need",
  async (endpoint) => {
    const people = { customer: store.customer, staff: store.staff, admin: store.admin };
    const isPersonal = endpoint.path.startsWith("/account/keys");
    const needed = roles.indexOf(endpoint.route.role);
    for (const [rank, role] of roles.entries()) {
      if (rank >= needed) {
        const by = isPersonal ? await store.newPerson(role) : people[role];
        const { send } = await aCall(store, endpoint, by);
        expect((await send()).status).toBe(successStatus(endpoint.route));
      } else {
        const { send } = await call(endpoint);
        const { body } = await refused(store, "forbidden", () => send({ by: people[role] }));
        expect(body.message).toContain(endpoint.route.role);
      }
    }
  },
);

test("customers read the catalogue and write only their orders; the rest is for staff", () => {
  for (const { id, method, path, route } of everyEndpoint) {
    if (!/^\/(pets|categories|store)(\/|$)/.test(path)) continue;
    const isForStaff = (isWrite(method) && !path.startsWith("/store/orders")) || path.endsWith("/movements");
    expect([id, route.role]).toEqual([id, isForStaff ? "staff" : "customer"]);
  }
});

test("what concerns the caller's own client is for every key, and what concerns others for admins", () => {
  for (const { id, path, route } of everyEndpoint) {
    if (path.startsWith("/account")) expect([id, route.role]).toEqual([id, "customer"]);
    if (path.startsWith("/admin")) expect([id, route.role]).toEqual([id, "admin"]);
  }
});

test("every write of clients, keys and bans makes the server look the keys up anew", () => {
  for (const { id, method, path, route } of everyEndpoint) {
    const changesAccess = isWrite(method) && /^\/(account|admin)\/(?!webhooks)/.test(path);
    expect([id, route.access]).toEqual([id, changesAccess ? "changes" : undefined]);
  }
});

test("a mistyped key is refused without a look-up, even if somebody stored it", async () => {
  const wrong = mistyped(store.admin.key);
  store.beside.db.exec(`insert into api_keys (client_id, role, hash, last_four, created_at)
    values (${store.admin.clientId}, 'admin', '${hashOf(wrong)}', '${wrong.slice(-4)}', ${NOON})`);
  expect((await store.nobody.get("/pets", { "x-api-key": wrong })).body.code).toBe("invalid_api_key");
});

test("a key that was let in is refused by the first request after its revocation", async () => {
  const person = await store.newPerson("customer");
  expect((await person.get("/pets")).status).toBe(200);
  expect((await store.admin.delete(`/admin/keys/${person.keyId}`)).status).toBe(204);
  expect((await person.get("/pets")).body.code).toBe("revoked_api_key");
});

test("a client that was let in is refused from its suspension on, and let in again after it", async () => {
  const person = await store.newPerson("customer");
  const suspend = (isSuspended: boolean) =>
    store.admin.patch(`/admin/clients/${person.clientId}`, { suspended: isSuspended });
  expect((await person.get("/pets")).status).toBe(200);
  expect((await suspend(true)).body.suspended).toBe(true);
  expect((await person.get("/pets")).body.code).toBe("client_suspended");
  expect((await suspend(false)).body.suspended).toBe(false);
  expect((await person.get("/pets")).status).toBe(200);
});

test("the keys of a removed client are refused from then on", async () => {
  const person = await store.newPerson("customer");
  expect((await person.get("/pets")).status).toBe(200);
  expect((await store.admin.delete(`/admin/clients/${person.clientId}`)).status).toBe(204);
  expect((await person.get("/pets")).body.code).toBe("revoked_api_key");
});

test("a ban holds from the first request after it, and no longer than until it is lifted", async () => {
  const person = await store.newPerson("customer");
  expect((await person.get("/pets")).status).toBe(200);
  await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
  expect((await person.get("/pets")).body.code).toBe("key_banned");
  expect((await store.admin.delete(`/admin/keys/${person.keyId}/ban`)).status).toBe(204);
  expect((await person.get("/pets")).status).toBe(200);
});

/** What another process does to the store; it says that something has changed, as every process does. */
const besideTheServer: Readonly<Record<string, [change: (person: Person) => string, code: string]>> = {
  "a key revoked": [
    ({ keyId }) => `update api_keys set revoked_at = ${NOON} where id = ${keyId}`,
    "revoked_api_key",
  ],
  "a client suspended": [
    ({ clientId }) => `update clients set suspended_at = ${NOON} where id = ${clientId}`,
    "client_suspended",
  ],
  "a key banned": [
    ({ keyId, clientId }) =>
      `insert into bans (key_id, client_id, cause, level, since, until)
       values (${keyId}, ${clientId}, 'admin', 0, ${NOON}, ${NOON + 1e9})`,
    "key_banned",
  ],
};

for (const [what, [change, code]] of Object.entries(besideTheServer)) {
  test(`${what} by another process is refused within a second`, async () => {
    const person = await store.newPerson("customer");
    expect((await person.get("/pets")).status).toBe(200);
    await store.beside.db.exec(change(person));
    await store.beside.db.exec("update access set revision = revision + 1");
    const isRefused = async () => (await person.get("/pets")).body.code === code;
    expect(await eventually(isRefused, 1000)).toBe(true);
  });
}

test("a key works until the millisecond of its expiry", async () => {
  const person = await store.newPerson("customer", { expiresAt: store.clock.now + 10_000 });
  store.clock.now += 9_999;
  expect((await person.get("/pets")).status).toBe(200);
  store.clock.now += 1;
  expect((await person.get("/pets")).body.code).toBe("expired_api_key");
});
