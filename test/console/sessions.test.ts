import { expect, test } from "bun:test";
import { hashOf } from "../../src/core/key-format.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { IDLE_MS, LINK_MS, SESSION_MS, SESSIONS_OF_A_KEY } from "../../src/core/sessions.ts";
import { signedIn } from "../../src/http/console/sessions.ts";
import { eventually } from "../cli/command.ts";
import { aStore } from "../harness.ts";
import { ask, cookieOf, ours, session, signedOut, signIn } from "./sessions.ts";

const NOTED_MS = 3000;
const HOUR_MS = 60 * 60 * 1000;

test("a key is traded for a cookie that scripts and other sites cannot reach, and that acts as the key", async () => {
  await using store = await aStore();
  const response = await signIn(store, { "x-api-key": store.staff.key });
  expect(response.headers.get("set-cookie")).toMatch(
    /^petstore_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );
  expect(await response.text()).toBe("");
  const { status, body, headers } = await ask(store, { ...ours, cookie: cookieOf(response) });
  expect([status, body.key.id, body.key.role]).toEqual([200, store.staff.keyId, "staff"]);
  const own = (await store.staff.get("/account")).headers;
  expect(Number(own.get("x-ratelimit-remaining"))).toBe(Number(headers.get("x-ratelimit-remaining")) - 1);
  const lines = store
    .logged()
    .split("\n")
    .filter((line) => line.includes('"/account"'));
  expect(lines.map((line) => JSON.parse(line).keyId)).toEqual([store.staff.keyId, store.staff.keyId]);
});

test("only the hash of a session is stored, and neither cookie nor key is logged", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.staff);
  const token = cookie.slice(cookie.indexOf("=") + 1);
  const rows = await store.beside.db.rows("select * from sessions");
  expect(rows.map(({ hash }) => hash)).toEqual([hashOf(token)]);
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(store.logged()).not.toContain(token);
  expect(store.logged()).not.toContain(store.staff.key);
});

test("a key that does not work signs nobody in, and says why", async () => {
  await using store = await aStore();
  const refused = async (headers: Record<string, string>) => {
    const response = await signIn(store, headers);
    expect(response.headers.get("set-cookie")).toBeNull();
    return ((await response.json()) as { code: string }).code;
  };
  expect(await refused({})).toBe("missing_api_key");
  expect(await refused({ "x-api-key": "ps_live_wrong" })).toBe("invalid_api_key");
  const { key, keyId } = await store.newPerson("staff");
  await store.admin.put(`/admin/keys/${keyId}/ban`, { minutes: 5 });
  expect(await refused({ "x-api-key": key })).toBe("key_banned");
  await store.admin.delete(`/admin/keys/${keyId}`);
  expect(await refused({ "x-api-key": key })).toBe("revoked_api_key");
  expect(await store.beside.db.rows("select * from sessions")).toEqual([]);
});

test("a session cannot renew itself, and signing in again ends the one before", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.staff);
  const renewed = await signIn(store, { cookie });
  expect([renewed.status, renewed.headers.get("set-cookie")]).toEqual([401, null]);
  const other = await signIn(store, { cookie, "x-api-key": store.customer.key });
  expect((await ask(store, { ...ours, cookie: cookieOf(other) })).body.key.role).toBe("customer");
  expect(await ask(store, { ...ours, cookie })).toMatchObject(signedOut);
});

test("a key beside the cookie is the one that counts, even if it is refused", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.admin);
  const { body } = await ask(store, { ...ours, cookie, "x-api-key": store.customer.key });
  expect(body.key.role).toBe("customer");
  const { key } = store.customer;
  for (const headers of [
    { "x-api-key": "nonsense" },
    { "x-api-key": `${key},${key}` },
    { authorization: "Basic nonsense" },
    { authorization: `Bearer ${key}`, "x-api-key": store.staff.key },
  ] as Record<string, string>[])
    expect((await ask(store, { ...ours, cookie, ...headers })).body.code).toBe("invalid_api_key");
  expect((await ask(store, { ...ours, cookie }, `/account?key=${key}`)).body.code).toBe("invalid_api_key");
});

test("signing out ends the session and takes the cookie away", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.staff);
  const second = await session(store, store.staff);
  expect((await ask(store, { ...ours, cookie })).status).toBe(200);
  const response = await fetch(`${store.url}/console/session`, {
    method: "DELETE",
    headers: { ...ours, cookie },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get("set-cookie")).toContain(
    "petstore_console=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
  );
  expect(await ask(store, { ...ours, cookie })).toMatchObject(signedOut);
  expect((await ask(store, { ...ours, cookie: second })).status).toBe(200);
});

test("whoever is limited or banned can still sign out", async () => {
  await using store = await aStore();
  for (const refusal of ["rate_limit_exceeded", "key_banned"]) {
    const person = await store.newPerson("staff", { quota: { perMinute: 2, perDay: 100 } });
    const cookie = await session(store, person);
    if (refusal === "key_banned") await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
    else await ask(store, { ...ours, cookie });
    expect((await ask(store, { ...ours, cookie })).body.code).toBe(refusal);
    const leave = () =>
      fetch(`${store.url}/console/session`, { method: "DELETE", headers: { ...ours, cookie } });
    expect((await leave()).status).toBe(204);
    expect(await ask(store, { ...ours, cookie })).toMatchObject(signedOut);
  }
  expect(await store.beside.db.rows("select * from sessions")).toEqual([]);
});

test("revoking the key, suspending its client or letting it expire signs out", async () => {
  await using store = await aStore();
  const person = await store.newPerson("staff");
  const cookie = await session(store, person);
  await store.admin.patch(`/admin/clients/${person.clientId}`, { suspended: true });
  expect((await ask(store, { ...ours, cookie })).body.code).toBe("client_suspended");
  await store.admin.patch(`/admin/clients/${person.clientId}`, { suspended: false });
  expect((await ask(store, { ...ours, cookie })).status).toBe(200);
  await store.admin.delete(`/admin/keys/${person.keyId}`);
  expect((await ask(store, { ...ours, cookie })).body.code).toBe("revoked_api_key");
  const expiring = await store.newPerson("staff", { expiresAt: store.clock.now + HOUR_MS });
  const short = await session(store, expiring);
  expect((await ask(store, { ...ours, cookie: short })).status).toBe(200);
  store.clock.now += HOUR_MS;
  expect((await ask(store, { ...ours, cookie: short })).body.code).toBe("expired_api_key");
});

test("a session outlives a restart, ends after a working day however busy, and earlier if it is left alone", async () => {
  await using store = await aStore();
  const busy = await session(store, store.staff);
  const idle = await session(store, store.staff);
  await store.restart();
  expect((await ask(store, { ...ours, cookie: busy })).status).toBe(200);
  for (let hours = 1; hours < SESSION_MS / HOUR_MS; hours++) {
    store.clock.now += HOUR_MS;
    expect([hours, (await ask(store, { ...ours, cookie: busy })).status]).toEqual([hours, 200]);
    // The use is noted beside the answer.
    const usedAt = async () => Number(await store.beside.db.value("select max(used_at) from sessions"));
    expect(await eventually(async () => (await usedAt()) === store.clock.now, NOTED_MS)).toBe(true);
  }
  expect(IDLE_MS).toBeLessThan(SESSION_MS);
  expect(await ask(store, { ...ours, cookie: idle })).toMatchObject(signedOut);
  store.clock.now += HOUR_MS;
  expect(await ask(store, { ...ours, cookie: busy })).toMatchObject(signedOut);
});

test("a request is one use of its session, however long it lasts and however often it is looked at", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.staff);
  const uses: number[] = [];
  const { identify } = signedIn({
    store: store.beside.reads,
    introduce: () => {},
    trustProxy: 0,
    wasUsed: (_hash, _keyId, now) => void uses.push(now - store.clock.now),
  });
  const request = () => ({
    url: "/events/stream",
    peer: "127.0.0.1",
    headers: new Headers({ ...ours, cookie }),
  });
  const [stream, later] = [request(), request()];
  for (const [asked, minutes] of [
    [stream, 5],
    [stream, 10],
    [later, 15],
    [stream, 20],
  ] as const)
    expect(await identify(asked, store.clock.now + minutes * 60_000)).toMatchObject({ role: "staff" });
  expect(uses).toEqual([5 * 60_000, 15 * 60_000]);
  expect(await identify(stream, store.clock.now + 15 * 60_000 + IDLE_MS)).toMatchObject({
    code: "missing_api_key",
  });
});

test("a key has a bounded number of sessions: one more ends the oldest", async () => {
  await using store = await aStore();
  const cookies: string[] = [];
  for (let each = 0; each <= SESSIONS_OF_A_KEY; each++) {
    store.clock.now += 1;
    cookies.push(await session(store, store.staff));
  }
  const standing = [];
  for (const cookie of cookies) standing.push((await ask(store, { ...ours, cookie })).status);
  expect(standing).toEqual([401, ...new Array(SESSIONS_OF_A_KEY).fill(200)]);
});

test("a sign-in link works once, and only for its minutes", async () => {
  await using store = await aStore();
  const offer = (hash: string) =>
    store.beside.transact((writes) =>
      perform(
        writes,
        {
          operation: "sessions.offer",
          caller: { clientId: 0, keyId: 0, role: "admin" },
          input: { keyId: store.admin.keyId, hash },
          now: store.clock.now,
        },
        rulesOf(store.config),
      ),
    );
  await offer(hashOf("the first"));
  await offer(hashOf("the second"));
  const response = await signIn(store, { "x-petstore-link": "the first" });
  expect((await ask(store, { ...ours, cookie: cookieOf(response) })).body.key.id).toBe(store.admin.keyId);
  const again = await signIn(store, { "x-petstore-link": "the first" });
  expect([again.status, again.headers.get("set-cookie")]).toEqual([401, null]);
  store.clock.now += LINK_MS;
  expect((await signIn(store, { "x-petstore-link": "the second" })).status).toBe(401);
  expect(await store.beside.db.rows("select hash from sessions")).toHaveLength(1);
});

test("requests of a session count for the key's client, and are refused as the key's would be", async () => {
  await using store = await aStore();
  const person = await store.newPerson("customer", { quota: { perMinute: 4, perDay: 100 } });
  const cookie = await session(store, person);
  for (let each = 0; each < 3; each++) expect((await ask(store, { ...ours, cookie })).status).toBe(200);
  const { status, headers } = await ask(store, { ...ours, cookie });
  expect([status, headers.get("retry-after")]).toEqual([429, "60"]);
  expect((await person.get("/account")).status).toBe(429);
});

test("with CONSOLE=off there is no page, nobody signs in, and a cookie is nothing", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.staff);
  await using off = await aStore({ CONSOLE: "off" });
  for (const path of ["/console", "/console/console.js", "/console/session"])
    expect((await off.nobody.get(path)).status).toBe(404);
  expect((await signIn(off, { "x-api-key": off.staff.key })).status).toBe(404);
  expect((await ask(off, { ...ours, cookie })).status).toBe(401);
});
