import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ErrorBody } from "../../src/contract/shapes.ts";
import { eventually } from "../cli/command.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { aWire, type Wire } from "../http/wire.ts";
import { limitsOf } from "../limits/spending.ts";
import { answersIn, figureOf, metricsOf } from "./shop.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ METRICS_PORT: "0", ANONYMOUS_PER_MINUTE: "10" });
});
afterAll(() => store.stop());

function look(by: Person, method = "GET"): Promise<Response> {
  return fetch(`${store.url}/metrics`, { method, headers: { "x-api-key": by.key } });
}

test("an admin's key reads the figures as text, by GET and HEAD", async () => {
  const reply = await look(store.admin);
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(reply.headers.get("cache-control")).toBe("no-cache");
  const head = await look(store.admin, "HEAD");
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const bearer = { authorization: `Bearer ${store.admin.key}` };
  expect((await fetch(`${store.url}/metrics`, { headers: bearer })).status).toBe(200);
});

test("other keys and none are refused as elsewhere, and pay for it", async () => {
  for (const person of [store.customer, store.staff]) {
    const before = (await limitsOf(person)).minute.remaining;
    const { status, body } = await person.get("/metrics");
    expect([status, body.code]).toEqual([403, "forbidden"]);
    expect(body.message).toContain("needs a key of the role admin");
    expect((await limitsOf(person)).minute.remaining).toBe(before - 1);
  }
  const nobody = await store.nobody.get("/metrics");
  expect([nobody.status, nobody.body.code]).toEqual([401, "missing_api_key"]);
  expect(nobody.headers.get("x-ratelimit-remaining")).toBe("9");
  const inUrl = await store.nobody.get(`/metrics?key=${store.admin.key}`);
  expect([inUrl.status, inUrl.body.code]).toEqual([401, "invalid_api_key"]);
  const head = await store.nobody.send("HEAD", "/metrics");
  expect(head.status).toBe(401);
});

test("what is no reading is refused, whoever asks", async () => {
  const reply = await store.admin.send("POST", "/metrics");
  expect([reply.status, reply.body.code]).toEqual([405, "method_not_allowed"]);
  expect(reply.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
});

test("an admin who looks spends nothing, is never limited, and earns no strike", async () => {
  const admin = await store.newPerson("admin", { quota: { perMinute: 2, perDay: 2 } });
  const replies = await Promise.all(Array.from({ length: 100 }, () => look(admin)));
  expect(replies.every(({ status }) => status === 200)).toBe(true);
  expect((await limitsOf(admin)).minute.remaining).toBe(2);
  for (let time = 0; time < 3; time++) await admin.get("/account");
  expect((await admin.get("/account")).status).toBe(429);
  store.clock.now += 10_000;
  for (let time = 0; time < 50; time++) expect((await look(admin)).status).toBe(200);
  expect((await limitsOf(admin)).strikes.count).toBe(0);
});

test("an overloaded server still shows its figures", async () => {
  await using busy = await aStore({ MAX_PENDING_REQUESTS: "1" });
  const headers = { "x-api-key": busy.admin.key };
  const all = (path: string) =>
    Promise.all(Array.from({ length: 20 }, async () => (await fetch(busy.url + path, { headers })).status));
  const writes = Array.from({ length: 20 }, (_, n) => busy.staff.post("/categories", { name: `${n}` }));
  expect(new Set(await all("/metrics"))).toEqual(new Set([200]));
  expect((await Promise.all(writes)).map(({ status }) => status)).toContain(503);
});

test("a banned admin still looks, a revoked one does not", async () => {
  const admin = await store.newPerson("admin");
  expect((await store.admin.put(`/admin/keys/${admin.keyId}/ban`, { minutes: 5 })).status).toBe(200);
  expect((await admin.get("/account")).body.code).toBe("key_banned");
  expect((await look(admin)).status).toBe(200);
  expect((await store.admin.delete(`/admin/keys/${admin.keyId}`)).status).toBe(204);
  expect((await look(admin)).status).toBe(401);
});

test("a port of its own has the figures for whoever reaches it, and nothing else", async () => {
  const at = store.metricsUrl as string;
  expect(at).toStartWith("http://127.0.0.1:");
  expect((await fetch(at)).headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const head = await fetch(at, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const post = await fetch(at, { method: "POST" });
  expect([post.status, post.headers.get("allow"), ((await post.json()) as ErrorBody).code]).toEqual([
    405,
    "GET, HEAD",
    "method_not_allowed",
  ]);
  for (const path of ["/", "/pets", "/livez", "/metrics/", "/constructor", `/${store.admin.key}`]) {
    const reply = await fetch(new URL(path, at), { headers: { "x-api-key": store.admin.key } });
    const body = (await reply.json()) as ErrorBody;
    expect([path, reply.status, body.code, body.status]).toEqual([path, 404, "not_found", 404]);
    expect(body.message).not.toContain(store.admin.key);
  }
});

test("whoever begins requests on a port of its own and never ends them keeps nobody from looking", async () => {
  const at = store.metricsUrl as string;
  const rest = "Host: petstore\r\n\r\n";
  using wires = new DisposableStack();
  const begun: Wire[] = [];
  for (let n = 0; n < 250; n++) {
    const wire = wires.use(await aWire(at));
    wire.say("GET /metrics HTTP/1.1\r\n");
    begun.push(wire);
  }
  for (let time = 0; time < 20; time++) {
    const scrape = await fetch(at, { headers: { connection: "close" } });
    expect([scrape.status, (await scrape.text()).includes("petstore_build_info")]).toEqual([200, true]);
  }
  // The oldest went; the newest are still listened to.
  expect(await begun[0]?.rest()).toEqual([]);
  begun.at(-1)?.say(rest);
  expect((await begun.at(-1)?.answer())?.status).toBe(200);
  const isTold = () => store.logged().includes("those that only waited were closed");
  expect(await eventually(isTold, 3000)).toBe(true);
});

test("looking at a port of its own is no request of the API", async () => {
  const before = answersIn(await metricsOf(store, "port"));
  for (let time = 0; time < 3; time++) await metricsOf(store, "port");
  expect(answersIn(await metricsOf(store, "port"))).toEqual(before);
});

test("nothing that a caller sends, and no key, is in the figures", async () => {
  const keys = [store.admin, store.staff, store.customer, await store.newPerson("customer")];
  const canary = "canary4711";
  for (const { key } of keys) {
    const headers = {
      "x-api-key": key,
      "x-request-id": canary,
      "idempotency-key": canary,
      "user-agent": canary,
    };
    for (const path of [`/${canary}`, `/pets/${canary}`, `/pets?name=${canary}`, `/pets/${key}`, `/${key}`])
      for (const method of ["GET", "POST", "DELETE", canary.toUpperCase()])
        await fetch(store.url + path, { method, headers }).catch(() => null);
  }
  await store.staff.post("/categories", { name: canary });
  const text = await (await fetch(store.metricsUrl as string)).text();
  expect(text.toLowerCase()).not.toContain(canary);
  expect(text).not.toContain("ps_live_");
  for (const { key, clientId } of keys) {
    expect(text).not.toContain(key.slice(8, 30));
    expect(text).not.toContain(`client="${clientId}"`);
  }
});

test("a server that has stopped leaves no port behind", async () => {
  const other = await aStore({ METRICS_PORT: "0" });
  const at = other.metricsUrl as string;
  expect((await fetch(at)).status).toBe(200);
  await other.stop();
  expect(await fetch(at).catch(() => null)).toBeNull();
});

test("a server that has just started counts from zero, and says when it started", async () => {
  await using other = await aStore({ METRICS_PORT: "0" });
  await other.customer.get("/pets");
  const metrics = await metricsOf(other, "port");
  expect(answersIn(metrics)).toEqual({ "GET /pets 200": 1 });
  const started = figureOf(metrics, "process_start_time_seconds");
  expect(started).toBeLessThan(Date.now() / 1000);
  expect(started).toBeGreaterThan(Date.now() / 1000 - 3600);
});
