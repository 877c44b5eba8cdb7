import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { type Endpoint, successStatus } from "../../src/contract/route.ts";
import { BODY_BYTES, LARGE_BODY_BYTES } from "../../src/http/body.ts";
import { JSON_DEPTH } from "../../src/http/json.ts";
import { aCall, each, fieldsOf, refused, refusedCalls, theStore } from "./calls.ts";
import { chunk, raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);
const withBodies = everyEndpoint.filter(({ route }) => route.body);
const without = everyEndpoint.filter(({ method, route }) => method !== "GET" && !route.body);

/** What changes a record that has an id. */
const changes = everyEndpoint.filter(
  ({ method, route }) =>
    ["PUT", "PATCH"].includes(method) && "id" in ((route.returns as { fields?: object }).fields ?? {}),
);

function limitOf({ route }: Endpoint): number {
  return route.large ? LARGE_BODY_BYTES : BODY_BYTES;
}

/** The text of a body with one more key in its first object. */
function withKey(text: string, key: string): string {
  return text.replace("{", `{${key}:1,`);
}

function firstKey(text: string): string {
  return /\{"(\w+)"/.exec(text)?.[1] as string;
}

test("a body has at most 64 KiB, a large one 8 MiB, and 32 levels", () => {
  expect([BODY_BYTES, LARGE_BODY_BYTES, JSON_DEPTH]).toEqual([65_536, 8_388_608, 32]);
});

each(withBodies, "refuses a body that is not one JSON value", async (endpoint) => {
  const { send, body } = await call(endpoint);
  const text = JSON.stringify(body);
  for (const wrong of [
    "",
    " \n",
    "{",
    text.slice(0, -1),
    `${text}${text}`,
    `${text},`,
    text.replace('"', "'"),
    `// why\n${text}`,
    "{name: 1}",
    "[1,]",
    "NaN",
    "undefined",
    "01",
    '"\u0001"',
    "\u{feff}",
  ]) {
    await refused(store, "invalid_json", () => send({ raw: wrong }));
  }
});

each(
  withBodies,
  "refuses a body nested deeper than 32 levels, and judges the rest by its shape",
  async (endpoint) => {
    const { send } = await call(endpoint);
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    const { body } = await refused(store, "invalid_json", () => send({ raw: nested(33) }));
    expect(body.message).toContain("more than 32 levels");
    await refused(store, "invalid_json", () => send({ raw: '{"a":'.repeat(33) + 1 + "}".repeat(33) }));
    await refused(store, "invalid_json", () => send({ raw: nested(30_000) }));
    await refused(store, "invalid_body", () => send({ raw: nested(32) }));
  },
);

each(withBodies, "refuses a body that repeats a key, however it is written", async (endpoint) => {
  const { send, body } = await call(endpoint);
  const text = JSON.stringify(body);
  const key = firstKey(text);
  const escaped = `\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${key.slice(1)}`;
  for (const again of [key, escaped]) {
    const reply = await refused(store, "invalid_json", () => send({ raw: withKey(text, `"${again}"`) }));
    expect(reply.body.message).toContain(`"${key}"`);
  }
});

each(withBodies, "refuses a byte order mark and broken UTF-8", async (endpoint) => {
  const { send, body } = await call(endpoint);
  const text = JSON.stringify(body);
  await refused(store, "invalid_json", () => send({ raw: `\u{feff}${text}` }));
  const broken = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]];
  for (const bytes of broken) {
    const key = Buffer.concat([Buffer.from('{"'), Buffer.from(bytes), Buffer.from('":1,')]);
    const [head, ...tail] = text.split("{");
    const sent = Buffer.concat([Buffer.from(head as string), key, Buffer.from(tail.join("{"))]);
    await refused(store, "invalid_json", () => send({ raw: sent }));
  }
});

each(withBodies, "refuses a body that is not declared as JSON in UTF-8", async (endpoint) => {
  const { send, method, path, body, by } = await call(endpoint);
  const text = JSON.stringify(body);
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/vnd.api+json",
    "text/json",
    "application/json; charset=iso-8859-1",
    'application/json; charset="utf-16"',
    "application/json, text/plain",
    ...(method === "PATCH"
      ? ["application/merge-patch+json; charset=latin1"]
      : ["application/merge-patch+json"]),
  ];
  for (const type of types) {
    const headers = { "content-type": type };
    const reply = await refused(store, "unsupported_media_type", () => send({ headers }));
    expect(reply.body.message).toContain(type);
  }
  const headers = rawHeaders(by.key, text).filter(([name]) => name !== "Content-Type");
  await refused(store, "unsupported_media_type", () => raw(store.url, { method, path, headers, body: text }));
});

each(withBodies, "refuses a compressed body", async (endpoint) => {
  const { send, body } = await call(endpoint);
  const zipped = Bun.gzipSync(JSON.stringify(body));
  for (const encoding of ["gzip", "br", "deflate", "gzip, identity"]) {
    const headers = { "content-encoding": encoding };
    await refused(store, "unsupported_media_type", () => send({ raw: zipped, headers }));
  }
});

each(withBodies, "takes every way to declare JSON in UTF-8", async (endpoint) => {
  const types = [
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    'application/json; charset="UTF-8"',
    "application/json; profile=x; charset=utf8",
  ];
  if (endpoint.method === "PATCH")
    types.push("application/merge-patch+json", "application/merge-patch+json; charset=utf-8");
  for (const type of types) {
    const { send } = await aCall(store, endpoint);
    const headers = { "content-type": type, "content-encoding": "identity" };
    expect((await send({ headers })).status).toBe(successStatus(endpoint.route));
  }
});

each(withBodies, "takes a body of exactly its limit, declared or in chunks", async (endpoint) => {
  const { send, body } = await aCall(store, endpoint);
  const full = (value: unknown) => JSON.stringify(value).padEnd(limitOf(endpoint));
  expect((await send({ raw: full(body) })).status).toBe(successStatus(endpoint.route));
  const { method, path, by, body: second } = await aCall(store, endpoint);
  const response = await fetch(store.url + path, {
    method,
    headers: { "x-api-key": by.key, "content-type": "application/json" },
    body: new Blob([full(second)]).stream(),
  });
  expect(response.status).toBe(successStatus(endpoint.route));
});

each(withBodies, "refuses one byte more than its limit, declared or in chunks", async (endpoint) => {
  const { method, path, by } = await call(endpoint);
  const more = limitOf(endpoint) + 1;
  const declared: [string, string][] = [
    ["X-API-Key", by.key],
    ["Content-Type", "application/json"],
    ["Content-Length", String(more)],
  ];
  const reply = await refused(store, "body_too_large", () =>
    raw(store.url, { method, path, headers: declared }),
  );
  expect(reply.body.message).toContain(`${limitOf(endpoint) / 1024} KiB`);
  const headers: [string, string][] = [...declared.slice(0, 2), ["Transfer-Encoding", "chunked"]];
  const body = chunk(" ".repeat(more));
  await refused(store, "body_too_large", () => raw(store.url, { method, path, headers, body }));
});

each(withBodies, "refuses JSON of another type than its own", async (endpoint) => {
  const { send, body } = await call(endpoint);
  for (const other of ["null", '"text"', "5", "true", "1e999", Array.isArray(body) ? "{}" : "[]"]) {
    const reply = await refused(store, "invalid_body", () => send({ raw: other }));
    expect(fieldsOf(reply)).toEqual(["body"]);
  }
});

each(withBodies, "names every wrong field of a body at once, unknown ones too", async (endpoint) => {
  const { send, body } = await call(endpoint);
  const isArray = Array.isArray(body);
  const known = Object.keys((isArray ? body[0] : body) as object);
  const prefix = isArray ? "[0]." : "";
  const wrong = `{${known.map((name) => `"${name}":{}`).join()},"colour":1,"__proto__":{"x":1},"constructor":2}`;
  const reply = await refused(store, "invalid_body", () => send({ raw: isArray ? `[${wrong}]` : wrong }));
  const expected = [...known, "colour", "__proto__", "constructor"].map((name) => prefix + name);
  expect(fieldsOf(reply).sort()).toEqual(expected.sort());
  for (const { field, message } of reply.body.details)
    expect(message).toContain(
      known.includes(field.replace(prefix, "")) ? "got an object" : "is not a known field",
    );
});

each(changes, "takes the id of its own record, and no other", async (endpoint) => {
  const { send, body, path } = await aCall(store, endpoint);
  const id = Number(path.split("/").at(-1));
  for (const other of [id + 1, 9223372036854775807n]) {
    const raw = JSON.stringify({ id: 0, ...(body as object) }).replace('"id":0', `"id":${other}`);
    const reply = await refused(store, "invalid_body", () => send({ raw }));
    expect(reply.body.details).toEqual([
      { field: "id", message: `is read-only and must be the path's ${id} if given, got ${other}` },
    ]);
  }
  const reply = await send({ body: { id, ...(body as object) } });
  expect([reply.status, reply.body.id]).toEqual([200, id]);
});

each(without, "asks for no body and no media type", async (endpoint) => {
  const { method, path, by } = await aCall(store, endpoint);
  const reply = await raw(store.url, { method, path, headers: rawHeaders(by.key) });
  expect(reply.status).toBe(successStatus(endpoint.route));
});

test("a body that ends before its declared length changes nothing", async () => {
  const before = await store.snapshot();
  const { hostname, port, host } = new URL(store.url);
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { data() {}, close: () => closed.resolve() },
  });
  const head = `POST /categories HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${store.staff.key}`;
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":"Birds"}`);
  socket.end();
  await closed.promise;
  expect((await store.customer.get("/categories")).status).toBe(200);
  expect(await store.snapshot()).toBe(before);
});
