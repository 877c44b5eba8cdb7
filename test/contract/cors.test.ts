import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { aCall, each, theStore } from "./calls.ts";
import { raw, rawHeaders } from "./raw.ts";

const SHOP = "https://shop.example";
const closed = theStore();
const open = theStore({ CORS_ORIGINS: `${SHOP}, http://localhost:5173` });
const toAll = theStore({ CORS_ORIGINS: "*" });

/** What a page must be able to read: limits and retries, pages, deprecation, ids and versions. */
const readable = [
  "api-version",
  "deprecation",
  "etag",
  "idempotency-replayed",
  "link",
  "location",
  "preference-applied",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "sunset",
  "x-api-stability",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
  "x-should-retry",
];
const sendable = [
  "api-version",
  "authorization",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "prefer",
  "x-api-key",
  "x-request-id",
];

function listed(header: string | null): string[] {
  return (header ?? "").toLowerCase().split(/, */).sort();
}

function preflight(url: string, path: string, origin: string, method: string): Promise<Response> {
  const headers = {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": "x-api-key,content-type",
  };
  return fetch(url + path, { method: "OPTIONS", headers });
}

each(everyEndpoint, "says nothing to other origins unless it is told to", async (endpoint) => {
  const { send, method, path } = await aCall(closed, endpoint);
  const plain = await preflight(closed.url, path, SHOP, method);
  expect([plain.status, plain.headers.get("allow")]).toEqual([204, expect.stringContaining(method)]);
  const { headers } = await send({ headers: { origin: SHOP } });
  for (const [name] of [...headers, ...plain.headers]) expect(name).not.toStartWith("access-control-");
  expect(headers.get("vary")).toBeNull();
});

each(everyEndpoint, "lets an allowed origin ask first, without a key", async (endpoint) => {
  const { method, path } = await aCall(open, endpoint);
  const before = open.logged();
  const { status, headers } = await preflight(open.url, path, SHOP, method);
  expect([status, headers.get("access-control-allow-origin")]).toEqual([204, SHOP]);
  expect(listed(headers.get("access-control-allow-methods"))).toContain(method.toLowerCase());
  expect(listed(headers.get("access-control-allow-headers"))).toEqual(expect.arrayContaining(sendable));
  expect(Number(headers.get("access-control-max-age"))).toBeGreaterThanOrEqual(600);
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  expect(headers.get("vary")).toBe("Origin");
  expect(open.logged()).toBe(before);
});

each(everyEndpoint, "lets an allowed origin read answers and refusals", async (endpoint) => {
  const { send } = await aCall(open, endpoint);
  const origin = { origin: SHOP };
  for (const reply of [await send({ headers: origin }), await send({ by: open.nobody, headers: origin })]) {
    expect(reply.headers.get("access-control-allow-origin")).toBe(SHOP);
    expect(listed(reply.headers.get("access-control-expose-headers"))).toEqual(
      expect.arrayContaining(readable),
    );
    expect(reply.headers.get("access-control-allow-credentials")).toBeNull();
    expect(reply.headers.get("vary")).toBe("Origin");
  }
});

each(everyEndpoint, "lets another origin read nothing, and says that the answer varies", async (endpoint) => {
  const { send, method, path } = await aCall(open, endpoint);
  const others = [
    "https://evil.example",
    `${SHOP}.evil.example`,
    `${SHOP}:8443`,
    "http://shop.example",
    "null",
  ];
  for (const origin of others) {
    const asked = await preflight(open.url, path, origin, method);
    const { headers } = await send({ by: open.nobody, headers: { origin } });
    for (const each of [asked.headers, headers]) {
      expect(each.get("access-control-allow-origin")).toBeNull();
      expect(each.get("vary")).toBe("Origin");
    }
  }
  expect((await send()).headers.get("vary")).toBe("Origin");
});

test("an origin is one of several, or any", async () => {
  const local = await preflight(open.url, "/pets", "http://localhost:5173", "GET");
  expect(local.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  const any = await toAll.customer.get("/pets", { origin: "https://anywhere.example" });
  expect(any.headers.get("access-control-allow-origin")).toBe("https://anywhere.example");
  expect(any.headers.get("vary")).toBe("Origin");
});

test("an origin that no browser sends is not repeated, even if any is allowed", async () => {
  for (const origin of ["https://caf\u00e9.example", "https://a.example https://b.example", ""]) {
    const { headers } = await raw(toAll.url, {
      method: "GET",
      path: "/pets",
      headers: [...rawHeaders(toAll.customer.key), ["Origin", origin]],
    });
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([null, "Origin"]);
  }
});

test("a page may read what it did not find, and why it was not allowed", async () => {
  for (const [method, path] of [
    ["GET", "/nothing"],
    ["DELETE", "/pets"],
  ] as const) {
    const { headers } = await open.customer.send(method, path, { headers: { origin: SHOP } });
    expect(headers.get("access-control-allow-origin")).toBe(SHOP);
  }
});

test("OPTIONS that asks for nothing is answered with the methods of the path", async () => {
  const reply = await open.customer.send("OPTIONS", "/pets", { headers: { origin: SHOP } });
  expect([reply.status, reply.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
  expect(reply.headers.get("access-control-allow-origin")).toBe(SHOP);
});

test("a deprecated operation keeps its notice beside the headers for pages", async () => {
  const pet = await open.aPet();
  const { headers } = await open.customer.get(`/pets/${pet.id}`, { origin: SHOP });
  expect(headers.get("sunset")).not.toBeNull();
  expect(headers.get("access-control-allow-origin")).toBe(SHOP);
});

test("the document and the pages can be read by a program of an allowed origin", async () => {
  for (const path of ["/", "/openapi.json", "/openapi.yaml", "/docs", "/llms.txt", "/readyz"]) {
    const { headers } = await fetch(open.url + path, { headers: { origin: SHOP } });
    expect([path, headers.get("access-control-allow-origin")]).toEqual([path, SHOP]);
    expect(listed(headers.get("access-control-expose-headers"))).toContain("etag");
    const other = await fetch(open.url + path, { headers: { origin: "https://other.example" } });
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
    expect(other.headers.get("vary")).toBe("Origin");
    const unasked = await fetch(closed.url + path, { headers: { origin: SHOP } });
    expect([unasked.headers.get("access-control-allow-origin"), unasked.headers.get("vary")]).toEqual([
      null,
      null,
    ]);
  }
});
