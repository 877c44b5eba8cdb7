import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hashOf } from "../../src/core/key-format.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { aStore, type TestStore } from "../harness.ts";
import { aCertificate } from "../servers/certificate.ts";
import { aBrowser, aVisitor, until } from "./browser.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await aBrowser();
}, 120_000);
afterAll(() => browser.close());

test("a wrong key is refused at its field, the right one signs in, and the browser keeps neither", async () => {
  await using store = await aStore();
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await page.goto(`${store.url}/console`);
  await page.getByLabel("API key").fill("ps_live_nonsense");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The API key is mistyped").waitFor();
  await visitor.signIn(store.staff);
  const kept = await page.evaluate(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, location.href])",
  );
  expect(kept).toStartWith('[{},{},"",');
  expect(kept).not.toContain(store.staff.key);
  const [cookie, ...others] = await page.context().cookies();
  expect(others).toEqual([]);
  expect(cookie).toMatchObject({ name: "petstore_console", httpOnly: true, sameSite: "Strict", path: "/" });
  expect(visitor.faults).toEqual([]);
});

test("a link signs in once, and does not stay in the address", async () => {
  await using store = await aStore();
  await offer(store, "a-secret-of-the-first-start");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  const link = `${store.url}/console#link=a-secret-of-the-first-start`;
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${store.url}/console`);
  await page.getByText("admin key …").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  // It comes to a page that is open: only what is behind # changes.
  await page.goto(link);
  await page.getByRole("alert").getByText("This sign-in link was used already").waitFor();
  expect(page.url()).toBe(`${store.url}/console`);
  expect(store.logged()).not.toContain("a-secret-of-the-first-start");
});

test("signing out leaves nothing on the page, and going back shows nothing either", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open("pets", "Pets");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goBack();
  await page.goForward();
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.getByText("Rex").count()).toBe(0);
  expect(await store.beside.db.rows("select * from sessions")).toEqual([]);
});

test("whoever's key is revoked is signed out; what was being entered is still there after signing in again", async () => {
  await using store = await aStore();
  await store.staff.post("/categories", { name: "Cats" });
  const till = await store.newPerson("staff");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(till);
  await visitor.open("categories", "Categories");
  await page.getByRole("button", { name: "Add a category" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  await store.admin.delete(`/admin/keys/${till.keyId}`);
  await page.getByRole("button", { name: "Add the category" }).click();
  const dialog = page.getByRole("dialog", { name: "You are signed out" });
  await dialog.waitFor();
  expect((await store.staff.get("/categories")).body).toHaveLength(1);
  await dialog.getByRole("button", { name: "Close" }).click();
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Dogs");
  await page.getByRole("button", { name: "Add the category" }).click();
  await dialog.waitFor();
});

test("somebody whose session is over goes on where it was after signing in again", async () => {
  await using store = await aStore();
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open("categories", "Categories");
  await page.getByRole("button", { name: "Add a category" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Add the category" }).click();
  const dialog = page.getByRole("dialog", { name: "You are signed out" });
  await dialog.getByLabel("API key").fill(store.staff.key);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Add the category" }).click();
  await page.getByRole("row", { name: /Dogs/ }).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("the page of another origin can do nothing with the session, even if every origin may call the API", async () => {
  await using store = await aStore({ CORS_ORIGINS: "*" });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.signIn(store.admin);
  // Another port of the same host: another origin, but the same site, to which the browser does send the cookie.
  using evil = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("<p>Hello") });
  const [before, cookies] = [await store.snapshot(), await page.context().cookies()];
  expect(cookies).toHaveLength(1);
  await page.goto(`http://127.0.0.1:${evil.port}/`);
  const tries = (await page.evaluate(`(async () => {
    const at = ${JSON.stringify(store.url)};
    const ask = (path, init) => fetch(at + path, { mode: "cors", ...init }).then((r) => r.status, () => "blocked");
    const json = { method: "POST", body: '{"name":"Stolen"}', headers: { "content-type": "application/json" } };
    const ours = { "x-petstore-console": "1" };
    return [
      await ask("/account", {}),
      await ask("/account", { credentials: "include" }),
      await ask("/account", { credentials: "include", headers: ours }),
      await ask("/categories", { ...json, credentials: "include" }),
      await ask("/categories", { ...json, credentials: "include", headers: { ...json.headers, ...ours } }),
      await ask("/console/session", { method: "DELETE", credentials: "include", headers: ours }),
      await ask("/categories", { method: "POST", body: json.body, mode: "no-cors", credentials: "include" }),
    ];
  })()`)) as unknown[];
  // Without credentials it is nobody; with them, or with our header, the browser does not hand the answer over.
  expect(tries).toEqual([401, "blocked", "blocked", "blocked", "blocked", "blocked", 0]);
  await page.setContent(
    `<form method="post" action="${store.url}/categories" enctype="text/plain"><input name='{"name":"Stolen","x":"' value='"}'><button>Win</button></form>`,
  );
  await page.getByRole("button").click();
  await page.waitForURL(`${store.url}/categories`);
  expect(await page.textContent("body")).toContain("missing_api_key");
  expect(await store.snapshot()).toBe(before);
  await visitor.open("", "Overview");
});

test("over TLS a planted cookie signs nobody in to the page, whatever the proxy tells", async () => {
  await using store = await aStore();
  using certificate = await aCertificate();
  // It says nothing of TLS, and nothing that it says would be believed.
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { key: Bun.file(certificate.key), cert: Bun.file(certificate.certificate) },
    fetch: ({ url, method, headers, body }) => {
      const { pathname, search } = new URL(url);
      const passed = new Headers(headers);
      passed.delete("accept-encoding");
      return fetch(store.url + pathname + search, { method, headers: passed, body });
    },
  });
  const url = `https://localhost:${proxy.port}`;
  await using visitor = await aVisitor(browser, { url }, { ignoreHTTPSErrors: true });
  const { page } = visitor;
  await using stranger = await aVisitor(browser, store);
  await stranger.enter(store.stranger);
  const [planted] = await stranger.page.context().cookies();
  const { name, value } = planted as { name: string; value: string };
  await page.context().addCookies([{ name, value, domain: "localhost", path: "/" }]);
  await page.goto(`${url}/console`);
  await page.getByLabel("API key").waitFor();
  await visitor.signIn(store.staff);
  await visitor.open("account", "Account");
  const names = (await page.context().cookies()).map((each) => each.name);
  expect(names.sort()).toEqual([`__Host-${name}`, name]);
  expect(visitor.faults).toEqual([]);
});

test("the page can be framed by nobody", async () => {
  await using store = await aStore();
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  using evil = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(`<iframe src="${store.url}/console"></iframe>`, {
        headers: { "content-type": "text/html" },
      }),
  });
  await page.goto(`http://127.0.0.1:${evil.port}/`);
  await until(async () => page.frames().some((frame) => frame.url().startsWith("chrome-error:")));
  expect(page.frames().some((frame) => frame.url().startsWith(store.url))).toBe(false);
});

test("the page works below a path of a proxy", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith("/shop/")) return new Response(null, { status: 404 });
      const headers = new Headers(request.headers);
      headers.delete("accept-encoding");
      const body = await request.arrayBuffer();
      return fetch(store.url + pathname.slice("/shop".length) + search, {
        method: request.method,
        headers,
        ...(body.byteLength > 0 && { body }),
      });
    },
  });
  await using visitor = await aVisitor(browser, { url: `http://127.0.0.1:${proxy.port}/shop` });
  await visitor.signIn(store.staff);
  await visitor.page.getByRole("link", { name: "Pets", exact: true }).click();
  await visitor.page.getByRole("row", { name: /Rex/ }).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("whoever types a slash behind the address gets to the page", async () => {
  await using store = await aStore();
  const response = await fetch(`${store.url}/console/`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([308, "../console"]);
  expect((await fetch(`${store.url}/console/`)).url).toBe(`${store.url}/console`);
});

test("the script is made for the first who asks, and a browser that has it asks no more for it", async () => {
  await using store = await aStore();
  for (const [path, type] of [
    ["/console", "text/html; charset=utf-8"],
    ["/console/console.js", "text/javascript; charset=utf-8"],
    ["/console/style.css", "text/css; charset=utf-8"],
    ["/console/icon.svg", "image/svg+xml"],
  ] as const) {
    const response = await fetch(store.url + path);
    const text = await response.text();
    expect([path, response.status, response.headers.get("content-type")]).toEqual([path, 200, type]);
    expect(/<script>|style="|\son\w+="/.test(text)).toBe(false);
    expect(response.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const etag = response.headers.get("etag") as string;
    const again = await fetch(store.url + path, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
});

/** A link as the first start makes it, for the admin's key. */
async function offer(store: TestStore, secret: string): Promise<void> {
  const command = {
    operation: "sessions.offer",
    caller: { clientId: 0, keyId: 0, role: "admin" },
    input: { keyId: store.admin.keyId, hash: hashOf(secret) },
    now: store.clock.now,
  } as const;
  await store.beside.transact((writes) => perform(writes, command, rulesOf(store.config)));
}
