import { expect, test } from "bun:test";
import { raw } from "../contract/raw.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { ask, cookieOf, ours, session, signedOut, signIn } from "./sessions.ts";

test("over TLS the cookie is Secure and bound to the host: by the page's origin, or by a proxy that is believed", async () => {
  await using believing = await aStore({ TRUST_PROXY: "1" });
  await using plain = await aStore();
  const cookie = async (store: TestStore, headers: Record<string, string>) =>
    (await signIn(store, { "x-api-key": store.staff.key, ...headers })).headers.get("set-cookie");
  const secure =
    /^__Host-petstore_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/;
  expect(await cookie(believing, { "x-forwarded-proto": "https" })).toMatch(secure);
  expect(await cookie(believing, { "x-forwarded-proto": "http" })).not.toContain("Secure");
  expect(await cookie(plain, { "x-forwarded-proto": "https" })).not.toContain("Secure");
  const host = new URL(plain.url).host;
  expect(await cookie(plain, { origin: `https://${host}`, "sec-fetch-site": "same-origin" })).toMatch(secure);
});

/** The ways in which a request can say that its browser is on TLS: a proxy that is believed, the page's origin, the page itself. */
function overTls({ url }: TestStore): Record<string, string>[] {
  return [
    { ...ours, "x-forwarded-proto": "https" },
    { ...ours, origin: `https://${new URL(url).host}` },
    { "x-petstore-console": "tls" },
  ];
}

test("over TLS a cookie that anybody can plant, from another host of the domain or over plain HTTP, signs nobody in", async () => {
  await using store = await aStore({ TRUST_PROXY: "1" });
  const planted = await session(store, store.stranger);
  const secure = cookieOf(
    await signIn(store, { "x-api-key": store.staff.key, "x-forwarded-proto": "https" }),
  );
  expect((await ask(store, { ...ours, cookie: planted })).status).toBe(200);
  for (const headers of overTls(store)) {
    expect(await ask(store, { ...headers, cookie: planted })).toMatchObject(signedOut);
    for (const cookie of [`${planted}; ${secure}`, `${secure}; ${planted}`]) {
      const { body } = await ask(store, { ...headers, cookie });
      expect(body.key?.id).toBe(store.staff.keyId);
    }
    const out = { method: "DELETE", headers: { ...headers, cookie: planted } };
    expect((await fetch(`${store.url}/console/session`, out)).status).toBe(204);
  }
  expect((await ask(store, { ...ours, cookie: planted })).status).toBe(200);
});

test("a session counts only in the cookie that it was given as", async () => {
  await using store = await aStore({ TRUST_PROXY: "1" });
  const plain = await session(store, store.staff);
  const tls = { "x-api-key": store.staff.key, "x-forwarded-proto": "https" };
  const secure = cookieOf(await signIn(store, tls));
  for (const headers of overTls(store))
    expect((await ask(store, { ...headers, cookie: secure })).status).toBe(200);
  expect(await ask(store, { ...ours, cookie: secure })).toMatchObject(signedOut);
  // A browser sends both to a server on this machine, whatever stands on the other port.
  expect((await ask(store, { ...ours, cookie: `${secure}; ${plain}` })).status).toBe(200);
  for (const cookie of [
    secure.replace("__Host-", ""),
    secure.replace("__Host-petstore_console=", "petstore_console=__Host-petstore_console"),
    `__Host-${plain}`,
  ])
    for (const headers of [ours, ...overTls(store)])
      expect(await ask(store, { ...headers, cookie })).toMatchObject(signedOut);
});

test("two cookies of one name are nobody's: which of them is the server's cannot be told", async () => {
  await using store = await aStore({ TRUST_PROXY: "1" });
  const tls = { "x-forwarded-proto": "https" };
  for (const headers of [{}, tls]) {
    const cookie = async ({ key }: Person) => cookieOf(await signIn(store, { "x-api-key": key, ...headers }));
    const [own, planted] = [await cookie(store.staff), await cookie(store.stranger)];
    for (const both of [`${own}; ${planted}`, `${planted}; a=b; ${own}`, `${own}; ${own}`]) {
      const { status, body } = await ask(store, { ...ours, ...headers, cookie: both });
      expect([status, body.code, body.message]).toEqual([
        401,
        "missing_api_key",
        "Two cookies have the name of the console's: one of them is not the server's. Delete the cookies of this site, and sign in again.",
      ]);
    }
    expect((await ask(store, { ...ours, ...headers, cookie: `${own}; a=b` })).status).toBe(200);
  }
});

test("a name that only looks like the cookie's is another one", async () => {
  await using store = await aStore({ TRUST_PROXY: "1" });
  const tls = { "x-api-key": store.staff.key, "x-forwarded-proto": "https" };
  const secure = cookieOf(await signIn(store, tls));
  const asks = async (cookie: string) => {
    const headers: [string, string][] = [
      ["X-Petstore-Console", "1"],
      ["X-Forwarded-Proto", "https"],
      ["Cookie", cookie],
    ];
    return (await raw(store.url, { method: "GET", path: "/account", headers })).status;
  };
  expect(await asks(secure)).toBe(200);
  expect(await asks(`a=b;\t${secure} ;c`)).toBe(200);
  // Browsers take these from any host of the domain: the name does not start with `__Host-`.
  for (const blank of ["\xa0", "\x85", "\xa0 ", "%5F"]) expect(await asks(blank + secure)).toBe(401);
  expect(await asks(secure.toLowerCase().replace(/=.*/, secure.slice(secure.indexOf("="))))).toBe(401);
});

test("the cookie counts only in requests of the console's own page", async () => {
  await using store = await aStore({ CORS_ORIGINS: "*" });
  const cookie = await session(store, store.admin);
  const host = new URL(store.url).host;
  const strange: Record<string, string>[] = [
    {},
    { "sec-fetch-site": "same-origin" },
    { origin: `http://${host}` },
    { ...ours, "sec-fetch-site": "cross-site" },
    { ...ours, "sec-fetch-site": "same-site" },
    { ...ours, "sec-fetch-site": "none" },
    { ...ours, origin: "https://evil.example" },
    { ...ours, origin: "null" },
    { ...ours, origin: `http://${host}.evil.example` },
    { ...ours, origin: `http://evil.example/?${host}` },
    { "x-petstore-console": "2" },
  ];
  for (const headers of strange) {
    expect(await ask(store, { cookie, ...headers })).toMatchObject(signedOut);
    const write = await fetch(`${store.url}/categories`, {
      method: "POST",
      headers: { cookie, "content-type": "application/json", ...headers },
      body: '{"name":"Stolen"}',
    });
    expect(write.status).toBe(401);
  }
  expect((await store.staff.get("/categories?name=Stolen")).body).toEqual([]);
  for (const headers of [{}, { "sec-fetch-site": "same-origin" }, { origin: `http://${host}` }])
    expect((await ask(store, { cookie, ...ours, ...headers })).status).toBe(200);
});

test("no other origin is ever told that it may use the console's header or cookie", async () => {
  await using store = await aStore({ CORS_ORIGINS: "*" });
  const preflight = await fetch(`${store.url}/pets`, {
    method: "OPTIONS",
    headers: {
      origin: "https://evil.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-petstore-console",
    },
  });
  expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).not.toContain("console");
  expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
  const cookie = await session(store, store.staff);
  const answer = await ask(store, { cookie, ...ours, "sec-fetch-site": "same-origin" });
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
});

test("nobody signs in or out from another page", async () => {
  await using store = await aStore();
  const cookie = await session(store, store.staff);
  for (const headers of [{ "x-petstore-console": "" }, { origin: "https://evil.example" }]) {
    const response = await signIn(store, { "x-api-key": store.staff.key, ...headers });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
    const out = await fetch(`${store.url}/console/session`, {
      method: "DELETE",
      headers: { ...ours, cookie, ...headers },
    });
    expect(out.status).toBe(403);
  }
  expect((await ask(store, { ...ours, cookie })).status).toBe(200);
});
