import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { successStatus } from "../../src/contract/route.ts";
import type { Reply } from "../harness.ts";
import { aCall, type Call, each, refused, refusedCalls, theStore } from "./calls.ts";
import { raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);
const everyMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const paths = Map.groupBy(everyEndpoint, ({ path }) => path);
const reads = everyEndpoint.filter(({ method }) => method === "GET");

/** What `Allow` must say at a path. */
function methodsAt(path: string): string[] {
  const declared = new Set<string>(paths.get(path)?.map(({ method }) => method));
  if (declared.has("GET")) declared.add("HEAD");
  return [...everyMethod.filter((method) => declared.has(method)), "OPTIONS"];
}

/** What must be equal between GET and HEAD: all but what names, times or counts the one answer. */
function lasting(reply: Reply): Record<string, string> {
  const {
    date: _date,
    "x-request-id": _id,
    connection: _connection,
    "transfer-encoding": _encoding,
    "x-ratelimit-remaining": _remaining,
    ratelimit: _both,
    ...rest
  } = Object.fromEntries(reply.headers);
  return rest;
}

/** HEAD between two GETs that answer alike: what is counted meanwhile may change an answer. */
async function besideHead({ send, path, by }: Call): Promise<{ get: Reply; head: Reply }> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const get = await send();
    const head = await raw(store.url, { method: "HEAD", path, headers: rawHeaders(by.key) });
    if ((await send()).text === get.text) return { get, head };
  }
  throw new Error(`${path} never answers twice alike.`);
}

for (const [pattern, [endpoint]] of paths) {
  const methods = methodsAt(pattern);

  test(`${pattern} answers every method that it does not have with 405 and what it has`, async () => {
    const { path, by } = await call(endpoint!);
    for (const method of [...everyMethod, "TRACE"].filter((each) => !methods.includes(each))) {
      const before = await store.snapshot();
      const reply = await raw(store.url, { method, path, headers: rawHeaders(by.key) });
      expect([method, reply.status, reply.headers.get("allow")]).toEqual([method, 405, methods.join(", ")]);
      expect(reply.headers.get("x-should-retry")).toBe("false");
      if (method !== "HEAD") expect(reply.body.code).toBe("method_not_allowed");
      expect((await store.snapshot()) === before).toBe(true);
    }
  });

  test(`${pattern} answers OPTIONS with 204 and its methods, key or not`, async () => {
    const { path, by } = await call(endpoint!);
    for (const person of [by, store.nobody]) {
      const reply = await person.send("OPTIONS", path);
      expect([reply.status, reply.text]).toEqual([204, ""]);
      expect(reply.headers.get("allow")).toBe(methods.join(", "));
      expect(reply.headers.get("content-type")).toBeNull();
    }
  });

  test(`${pattern} is not found with anything before or after it, key or not`, async () => {
    const { by, ...known } = await call(endpoint!);
    for (const path of [`${known.path}/`, `${known.path}/nothing/here`, `/${known.path}`, `/v1${known.path}`])
      for (const headers of [rawHeaders(by.key), rawHeaders("")])
        await refused(store, "not_found", () => raw(store.url, { method: "GET", path, headers }));
  });
}

each(reads, "answers HEAD as GET, without the body", async (endpoint) => {
  const { get, head } = await besideHead(await aCall(store, endpoint));
  expect([get.status, head.status, head.text]).toEqual([200, 200, ""]);
  expect(lasting(head)).toEqual(lasting(get));
  const length = endpoint.route.kind === "stream" ? null : String(Buffer.byteLength(get.text));
  expect(head.headers.get("content-length")).toBe(length);
});

each(reads, "answers a refused HEAD as the refused GET, without the body", async (endpoint) => {
  const { send, by } = await call(endpoint);
  for (const sent of [
    { by: store.nobody },
    { by, query: "?nonsense=1" },
    { by, headers: { accept: "text/html" } },
  ]) {
    const [get, head] = [await send(sent), await send({ ...sent, method: "HEAD" })];
    expect([head.status, head.text]).toEqual([get.status, ""]);
    expect(lasting(head)).toEqual(lasting(get));
  }
});

each(
  everyEndpoint,
  "answers without a Host, as old clients send it, as it answers with one",
  async (endpoint) => {
    const send = async (protocol: "HTTP/1.0" | "HTTP/1.1") => {
      const { method, path, body, by } = await aCall(store, endpoint);
      const text = body === undefined ? undefined : JSON.stringify(body);
      const request = {
        method,
        path,
        protocol,
        hasNoHost: protocol === "HTTP/1.0",
        headers: rawHeaders(by.key, text),
      };
      const reply = await raw(store.url, { ...request, ...(text !== undefined && { body: text }) });
      expect(reply.status).toBe(successStatus(endpoint.route));
      const link = reply.headers.get("link")?.replaceAll(path, "PATH").replaceAll(/\d+/g, "ID");
      // An old client knows a stream's end by that of its connection.
      reply.headers.delete("transfer-encoding");
      return { link, names: [...reply.headers.keys()].sort() };
    };
    expect(await send("HTTP/1.0")).toEqual(await send("HTTP/1.1"));
  },
);

test("a page beside the API needs no key, and says which methods it has", async () => {
  for (const page of ["/", "/openapi.json", "/openapi.yaml", "/livez", "/readyz"]) {
    for (const method of ["GET", "HEAD"])
      expect((await fetch(store.url + page, { method })).status).toBe(200);
    const refusal = await fetch(store.url + page, { method: "POST" });
    expect([page, refusal.status, refusal.headers.get("allow")]).toEqual([page, 405, "GET, HEAD, OPTIONS"]);
  }
});

test("a path is not found whatever is asked of it", async () => {
  for (const path of [
    "/nothing",
    "/Pets",
    "/pets/1/toys",
    "/store",
    "/%70ets",
    "/pets%2F1",
    "/pets;a=b",
    "/.env",
  ])
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      await refused(store, "not_found", () => store.admin.send(method, path));
});

test("the document and the pages are sent once, and then only if they have changed", async () => {
  const tags = new Set<string>();
  for (const page of ["/", "/openapi.json", "/openapi.yaml", "/docs"]) {
    const first = await fetch(store.url + page);
    const tag = first.headers.get("etag") as string;
    expect([page, tag]).toEqual([page, expect.stringMatching(/^"[\w-]+"$/)]);
    tags.add(tag);
    for (const method of ["GET", "HEAD"]) {
      const again = await fetch(store.url + page, { method, headers: { "if-none-match": `"x", W/${tag}` } });
      expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
      expect(again.headers.get("cache-control")).toBe(first.headers.get("cache-control"));
      const changed = await fetch(store.url + page, { method, headers: { "if-none-match": '"x"' } });
      expect([changed.status, changed.headers.get("etag")]).toEqual([200, tag]);
    }
  }
  expect(tags.size).toBe(4);
  const ready = await fetch(`${store.url}/readyz`, { headers: { "if-none-match": "*" } });
  expect([ready.status, ready.headers.get("etag")]).toEqual([200, null]);
});

test("OPTIONS of the server as a whole is answered with every method that it knows", async () => {
  const reply = await raw(store.url, { method: "OPTIONS", path: "*", headers: [] });
  expect([reply.status, reply.text, reply.headers.get("allow")]).toEqual([
    204,
    "",
    "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
  ]);
});
