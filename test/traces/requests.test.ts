// What a span says of a request, and whose trace it belongs to.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import { ENGINE } from "../beside.ts";
import { aStore, NOON, type Person, type TestStore } from "../harness.ts";
import { aValkey } from "../servers/valkey.ts";
import { aHook, aReceiver, PRIVATE } from "../webhooks/receiver.ts";
import { aCollector, type Collector, type Span } from "./collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const traced = { traceparent: `00-${TRACE}-${CALLER}-01` };

let collector: Collector;
let store: TestStore;
beforeAll(async () => {
  collector = aCollector();
  store = await aStore({ ...collector.env, OTEL_SERVICE_NAME: "shop-api", CORS_ORIGINS: "*" });
});
afterAll(async () => {
  await store.stop();
  await collector[Symbol.asyncDispose]();
});

/** The server's span of the request with this id, and all others of its trace. */
async function followed(requestId: string): Promise<{ span: Span; others: readonly Span[] }> {
  const isIt = (span: Span) => span.attributes["petstore.request_id"] === requestId;
  for (let count = 1; ; count++) {
    const span = (await collector.seen(count)).find(isIt);
    if (!span) continue;
    return {
      span,
      others: collector.spans().filter((each) => each.traceId === span.traceId && each !== span),
    };
  }
}

/** Sends a request under an id of its own and gives what was told of it. */
async function asked(by: Person, method: string, path: string, headers: Record<string, string> = {}) {
  const requestId = crypto.randomUUID();
  const { status } = await by.send(method, path, { headers: { ...headers, "x-request-id": requestId } });
  return { status, requestId, ...(await followed(requestId)) };
}

function lineOf(requestId: string) {
  const line = store
    .logged()
    .split("\n")
    .find((each) => each.includes(requestId));
  return JSON.parse(line as string);
}

test("a request is a span with its method, route, status and operation, at the log's time", async () => {
  const { id } = await store.aPet();
  const { span, requestId } = await asked(store.customer, "GET", `/store/pets/${id}?`);
  expect(span).toMatchObject({ name: "GET /store/pets/{petId}", kind: "server", isError: false });
  expect([span.parentSpanId, span.traceState]).toEqual([undefined, undefined]);
  expect(span.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/store/pets/{petId}",
    "http.response.status_code": 200,
    "url.path": `/store/pets/${id}`,
    "url.scheme": "http",
    "petstore.request_id": requestId,
    "petstore.operation": "store.pet",
    "petstore.client_id": store.customer.clientId,
    "petstore.key_id": store.customer.keyId,
  });
  expect(span.resource).toEqual({
    "service.name": "shop-api",
    "service.version": "1.0.0",
    "service.instance.id": expect.stringMatching(/^[\w-]{36}$/),
  });
  expect(span.start).toBe(BigInt(NOON) * 1_000_000n);
  const milliseconds = Number(span.end - span.start) / 1e6;
  expect(milliseconds).toBeCloseTo(lineOf(requestId).milliseconds, 2);
});

test("a request of a traced caller is a child of its span, and what others put into the trace stays", async () => {
  const headers = { ...traced, tracestate: "vendor=a1b2,other=x" };
  const { span, requestId } = await asked(store.customer, "GET", "/pets", headers);
  expect([span.traceId, span.parentSpanId, span.traceState]).toEqual([TRACE, CALLER, "vendor=a1b2,other=x"]);
  expect(span.spanId).not.toBe(CALLER);
  expect(lineOf(requestId).trace_id).toBe(TRACE);
});

test("the log has the id of each trace", async () => {
  const { span, requestId } = await asked(store.customer, "GET", "/pets");
  expect(lineOf(requestId).trace_id).toBe(span.traceId);
});

test("a traceparent that is not right is ignored: a trace begins here", async () => {
  const wrong = {
    empty: "",
    "without flags": `00-${TRACE}-${CALLER}`,
    "with more than its version has": `00-${TRACE}-${CALLER}-01-more`,
    "in capitals": `00-${TRACE.toUpperCase()}-${CALLER}-01`,
    "with a trace of zeros": `00-${"0".repeat(32)}-${CALLER}-01`,
    "with a span of zeros": `00-${TRACE}-${"0".repeat(16)}-01`,
    "of the version that there is not": `ff-${TRACE}-${CALLER}-01`,
    "sent twice": `00-${TRACE}-${CALLER}-01, 00-${TRACE}-${CALLER}-01`,
    "with a short trace": `00-${TRACE.slice(1)}-${CALLER}-01`,
    "of nonsense": "nonsense",
  };
  const all = Object.entries(wrong).map(async ([how, traceparent]) => {
    const headers = { traceparent, tracestate: "vendor=a1b2" };
    const { span, status } = await asked(store.customer, "GET", "/pets", headers);
    return [how, status, span.traceId === TRACE, span.parentSpanId, span.traceState];
  });
  expect(await Promise.all(all)).toEqual(
    Object.keys(wrong).map((how) => [how, 200, false, undefined, undefined]),
  );
});

test("a traceparent of a later version is read as far as it is known", async () => {
  const { span } = await asked(store.customer, "GET", "/pets", {
    traceparent: `cc-${TRACE}-${CALLER}-03-what.later.versions.say`,
  });
  expect([span.traceId, span.parentSpanId]).toEqual([TRACE, CALLER]);
});

test("a parent that is not sampled is not sent, and the log does not name it", async () => {
  const requestId = crypto.randomUUID();
  await store.customer.get("/pets", {
    traceparent: `00-${TRACE}-${"c".repeat(16)}-02`,
    "x-request-id": requestId,
  });
  await asked(store.customer, "GET", "/pets");
  expect(collector.spans().filter((span) => span.attributes["petstore.request_id"] === requestId)).toEqual(
    [],
  );
  expect(lineOf(requestId)).not.toHaveProperty("trace_id");
});

test("a refusal is told by its code and is no error; what the server could not do is one", async () => {
  const missing = await asked(store.customer, "GET", "/pets/999999");
  expect(missing.span).toMatchObject({ name: "GET /pets/{petId}", isError: false });
  expect(missing.span.attributes).toMatchObject({
    "http.response.status_code": 404,
    "petstore.error_code": "pet_not_found",
  });
  expect(missing.span.attributes).not.toHaveProperty("error.type");
  const away = await asked(store.customer, "GET", "/pets", { prefer: "simulate=unavailable" });
  expect(away.span).toMatchObject({ isError: true });
  expect(away.span.attributes).toMatchObject({
    "http.response.status_code": 503,
    "error.type": "unavailable",
    "petstore.error_code": "unavailable",
  });
});

test("where no path is found, or a method was made up, the name is short and the same for all", async () => {
  const nowhere = await asked(store.nobody, "GET", "/nothing/here");
  expect(nowhere.span.name).toBe("GET");
  expect(nowhere.span.attributes).not.toHaveProperty("http.route");
  expect(nowhere.span.attributes).not.toHaveProperty("petstore.client_id");
  const strange = await asked(store.nobody, "PURGE", "/pets");
  expect(strange.span.name).toBe("HTTP /pets");
  expect(strange.span.attributes["http.request.method"]).toBe("_OTHER");
});

test("pages beside the API and preflights are not told: they are in no line of the log either", async () => {
  for (const page of ["/livez", "/readyz", "/openapi.json"])
    expect((await fetch(store.url + page, { headers: traced })).status).toBe(200);
  const preflight = { origin: "https://shop.example", "access-control-request-method": "GET" };
  const allowed = await fetch(`${store.url}/pets`, { method: "OPTIONS", headers: preflight });
  expect(allowed.headers.get("access-control-allow-headers")).toContain("traceparent, tracestate");
  await asked(store.customer, "GET", "/pets");
  const routes = collector.spans().map((span) => span.attributes["http.route"]);
  for (const page of ["/livez", "/readyz", "/openapi.json"]) expect(routes).not.toContain(page);
  expect(collector.spans().map(({ name }) => name)).not.toContain("OPTIONS /pets");
});

test("an answer says nothing of the trace", async () => {
  const { headers } = await store.customer.get("/pets", traced);
  expect([...headers.keys()].filter((name) => name.startsWith("trace"))).toEqual([]);
});

test("a key, a query or a network address is in no span, wherever it was sent", async () => {
  const key = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  const escaped = key.replaceAll("_", "%5F");
  const places: readonly [string, Record<string, string>][] = [
    ["/pets", { "x-api-key": key }],
    ["/pets", { authorization: `Bearer ${key}` }],
    [`/pets?api_key=${key}`, {}],
    ["/pets?name=a-secret-of-the-query", { "x-api-key": store.customer.key }],
    [`/pets/${key}`, { "x-api-key": store.customer.key }],
    [`/pets/${escaped}`, {}],
    [`/${key}/pets`, {}],
    ["/pets", { "x-request-id": key, "user-agent": key, cookie: `k=${key}`, referer: `https://x/${key}` }],
    ["/pets", { ...traced, tracestate: `shop=${key}` }],
    ["/pets", { ...traced, tracestate: `shop=${escaped}` }],
    ["/pets", { traceparent: key, tracestate: key, "x-forwarded-for": "203.0.113.77" }],
  ];
  const before = collector.spans().filter(({ kind }) => kind === "server").length;
  for (const [path, headers] of places) await (await fetch(store.url + path, { headers })).text();
  await collector.seen(before + places.length);
  const told = collector.posts.map(({ body }) => body).join("\n");
  for (const secret of [key.slice("ps_live_".length), "a-secret-of-the-query", "203.0.113.77", "127.0.0.1"])
    expect(told.includes(secret)).toBe(false);
  expect(told).toContain("ps_live_[redacted]");
});

test("what a request waits for is a child of it, within its time; what is there at once is not told", async () => {
  const { body } = await store.staff.post("/categories", { name: "Cats" }, { "x-request-id": "a-write" });
  const { span, others } = await followed("a-write");
  const write = others.find(({ name }) => name === "store.perform") as Span;
  const [kind, system] = ENGINE === "sqlite" ? ["internal", "sqlite"] : ["client", "postgresql"];
  expect(write).toMatchObject({ kind, parentSpanId: span.spanId, isError: false });
  expect(write.attributes).toEqual({ "db.system.name": system });
  expect(write.start).toBeGreaterThanOrEqual(span.start);
  expect(write.end).toBeLessThanOrEqual(span.end + 1000n);
  const read = await asked(store.staff, "GET", `/categories/${body.id}`);
  const names = read.others.map(({ name }) => name).filter((name) => name.startsWith("store."));
  expect(names).toEqual(ENGINE === "sqlite" ? [] : ["store.category"]);
});

test("a write that the rules refuse is no error of the store", async () => {
  const { id } = await store.aPet(1);
  const order = { petId: id, quantity: 5 };
  const { status } = await store.customer.post("/store/orders", order, { "x-request-id": "too-many" });
  const { span, others } = await followed("too-many");
  expect([status, span.attributes["petstore.error_code"]]).toEqual([409, "insufficient_stock"]);
  expect(others.filter(({ name }) => name === "store.perform")).toMatchObject([{ isError: false }]);
});

test("a fault's line in the log has the trace too, and what failed is an error of its span", async () => {
  await using other = aCollector();
  await using shop = await aStore(other.env);
  await shop.beside.db.exec("alter table categories rename to elsewhere");
  const { status } = await shop.staff.get("/categories", traced);
  expect(status).toBeGreaterThanOrEqual(500);
  const faults = shop
    .logged()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));
  expect(faults.map((line) => JSON.parse(line).trace_id)).toEqual([TRACE]);
  expect(await other.seen(1)).toMatchObject([{ traceId: TRACE, isError: true }]);
});

test("limits in Valkey are a child: the request waited for another server", async () => {
  await using valkey = await aValkey();
  await using other = aCollector();
  await using shop = await aStore({ ...other.env, VALKEY_URL: valkey.url, VALKEY_PREFIX: "traces:" });
  await shop.customer.get("/pets");
  const [span] = await other.seen(1);
  const [limits] = other.spans().filter(({ name }) => name === "limits.admit");
  expect(limits).toMatchObject({ kind: "client", parentSpanId: span?.spanId, traceId: span?.traceId });
  expect(limits?.attributes).toEqual({ "db.system.name": "redis" });
});

test("the try of a webhook is a trace of its own, with the receiver's host alone; the receiver is told of none", async () => {
  await using other = aCollector();
  await using shop = await aStore({ ...other.env, ...PRIVATE, OTEL_TRACES_SAMPLER_ARG: "1" });
  await using receiver = aReceiver(() => new Response(null, { status: 500 }));
  const hook = await aHook(shop.staff, {
    url: `${receiver.url}/path-is-a-secret`,
    types: ["category.created"],
  });
  await shop.staff.post("/categories", { name: "Dogs" });
  const { headers } = await receiver.nth(1);
  const tried = (await other.seen(1, "client")).find((span) => span.attributes["petstore.webhook_id"]);
  expect(tried).toMatchObject({ name: "POST", isError: true, parentSpanId: undefined });
  expect(tried?.attributes).toEqual({
    "http.request.method": "POST",
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(receiver.url).port),
    "http.response.status_code": 500,
    "petstore.webhook_id": hook.id,
    "petstore.delivery_id": expect.any(Number),
    "error.type": "status_5xx",
  });
  expect([headers.get("traceparent"), headers.get("tracestate")]).toEqual([null, null]);
  expect(other.posts.some(({ body }) => body.includes("path-is-a-secret"))).toBe(false);
});
