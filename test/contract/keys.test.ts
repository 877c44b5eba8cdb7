import { beforeAll, expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { isWrite, roles, successStatus } from "../../src/contract/route.ts";
import { hashOf, KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import { NOON, type Person } from "../harness.ts";
import { aCall, each, refused, refusedCalls, theStore } from "./calls.ts";
import { raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);
let revoked: Person;
let expired: Person;
let suspended: Person;

beforeAll(async () => {
  revoked = await store.newPerson("admin");
  expired = await store.newPerson("admin", { expiresAt: NOON });
  suspended = await store.newPerson("admin");
  await store.beside.transact((writes) => revoke(writes, revoked.keyId));
  store.beside.db.exec(`update clients set suspended_at = ${NOON} where id = ${suspended.clientId}`);
});

/** A key that differs in its last character. */
function mistyped(key: string): string {
  return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}

each(everyEndpoint, "refuses a caller without a key", async (endpoint) => {
  const { send } = await call(endpoint);
  await refused(store, "missing_api_key", () => send({ by: store.nobody }));
});

each(everyEndpoint, "refuses a mistyped key and says so", async (endpoint) => {
  const { send, by } = await call(endpoint);
  const headers = { "x-api-key": mistyped(by.key) };
  const { body } = await refused(store, "invalid_api_key", () => send({ headers }));
  expect(body.message).toContain("mistyped");
});

each(everyEndpoint, "refuses an unknown key", async (endpoint) => {
  const { send } = await call(endpoint);
  const headers = { "x-api-key": keyFrom(new Uint8Array(KEY_BYTES).fill(7)) };
  const { body } = await refused(store, "invalid_api_key", () => send({ headers }));
  expect(body.message).toContain("unknown");
});

each(everyEndpoint, "refuses a revoked key", async (endpoint) => {
  const { send } = await call(endpoint);
  await refused(store, "revoked_api_key", () => send({ by: revoked }));
});

each(everyEndpoint, "refuses an expired key", async (endpoint) => {
  const { send } = await call(endpoint);
  const { body } = await refused(store, "expired_api_key", () => send({ by: expired }));
  expect(body.message).toContain("2026-11-15T12:00:00.000Z");
});

each(everyEndpoint, "refuses the key of a suspended client", async (endpoint) => {
  const { send } = await call(endpoint);
  await refused(store, "client_suspended", () => send({ by: suspended }));
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
    const alone = await aCall(store, endpoint);
    const headers = { authorization: `${scheme} ${alone.by.key}` };
    const reply = await alone.send({ by: store.nobody, headers });
    expect(reply.status).toBe(successStatus(endpoint.route));
    const both = await aCall(store, endpoint);
    expect((await both.send({ headers })).status).toBe(successStatus(endpoint.route));
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
    const needed = roles.indexOf(endpoint.route.role);
    for (const [rank, role] of roles.entries()) {
      if (rank >= needed) {
        const { send } = await aCall(store, endpoint);
        expect((await send({ by: people[role] })).status).toBe(successStatus(endpoint.route));
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

test("a mistyped key is refused without a look-up, even if somebody stored it", async () => {
  const wrong = mistyped(store.admin.key);
  store.beside.db.exec(`insert into api_keys (client_id, role, hash, last_four, created_at)
    values (${store.admin.clientId}, 'admin', '${hashOf(wrong)}', '${wrong.slice(-4)}', ${NOON})`);
  expect((await store.nobody.get("/pets", { "x-api-key": wrong })).body.code).toBe("invalid_api_key");
});

test("a key that was let in is refused within a second of its revocation", async () => {
  const person = await store.newPerson("customer");
  expect((await person.get("/pets")).status).toBe(200);
  await store.beside.transact((writes) => revoke(writes, person.keyId));
  store.clock.now += 1000;
  expect((await person.get("/pets")).body.code).toBe("revoked_api_key");
});

test("a client that was let in is refused within a second of its suspension, and let in again after it", async () => {
  const person = await store.newPerson("customer");
  const set = (at: number | null) =>
    store.beside.db.exec(`update clients set suspended_at = ${at} where id = ${person.clientId}`);
  expect((await person.get("/pets")).status).toBe(200);
  set(store.clock.now);
  store.clock.now += 1000;
  expect((await person.get("/pets")).body.code).toBe("client_suspended");
  set(null);
  store.clock.now += 1000;
  expect((await person.get("/pets")).status).toBe(200);
});

test("a key works until the millisecond of its expiry", async () => {
  const person = await store.newPerson("customer", { expiresAt: store.clock.now + 10_000 });
  store.clock.now += 9_999;
  expect((await person.get("/pets")).status).toBe(200);
  store.clock.now += 1;
  expect((await person.get("/pets")).body.code).toBe("expired_api_key");
});
