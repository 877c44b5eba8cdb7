import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import { openLog, type RequestLine } from "../../src/http/log.ts";
import { aStore, NOON, type TestStore } from "../harness.ts";
import { seed } from "../seed.ts";

const request: RequestLine = {
  time: NOON,
  requestId: "shop-1",
  method: "GET",
  path: "/pets",
  operation: "pets.list",
  status: 200,
  microseconds: 1250,
  clientId: 3,
  keyId: 4,
  code: undefined,
  traceId: undefined,
};

function written(level: Parameters<typeof openLog>[0], isTerminal: boolean) {
  let text = "";
  const log = openLog(
    level,
    isTerminal,
    (more) => {
      text += more;
    },
    () => NOON,
  );
  return {
    log,
    text: () => {
      log.flush();
      return text;
    },
  };
}

test("a request is one line of JSON", () => {
  const { log, text } = written("info", false);
  log.request(request);
  expect(text().trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(text())).toEqual(asJson(request));
});

/** What the line of a request says. */
function asJson({ microseconds, traceId, ...rest }: RequestLine) {
  const milliseconds = microseconds / 1000;
  const time = new Date(rest.time).toISOString();
  const line = { ...rest, time, level: "info", message: "request", milliseconds, trace_id: traceId };
  return JSON.parse(JSON.stringify(line));
}

test("each line tells of its own request, whatever the one before was like", () => {
  const paths = ["/pets", '/pets/"rex"', "/pets/\\", "/pets/r\u00e9x", "/pets/\n", "/pets/\u2028", ""];
  const lines = fc.record({
    time: fc.constantFrom(NOON, NOON + 1),
    requestId: fc.constantFrom("shop-1", "shop-2"),
    method: fc.constantFrom("GET", "POST"),
    path: fc.oneof(fc.constantFrom(...paths), fc.string({ unit: "binary" })),
    operation: fc.constantFrom("pets.list", "pets.get", undefined),
    status: fc.constantFrom(200, 404),
    microseconds: fc.oneof(fc.nat(2000), fc.nat(100_000_000)),
    clientId: fc.constantFrom(3, undefined),
    keyId: fc.constantFrom(4, 5),
    code: fc.constantFrom("pet_not_found", undefined),
    traceId: fc.constantFrom("0af7651916cd43dd8448eb211c80319c", undefined),
  });
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 20 }), (requests) => {
      const { log, text } = written("info", false);
      for (const each of requests) log.request(each);
      const expected = requests.map((each) => asJson(each.clientId ? each : { ...each, keyId: undefined }));
      expect(
        text()
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      ).toEqual(expected);
    }),
    { seed, numRuns: 2000 },
  );
});

test("on a terminal a request is one readable line", () => {
  const { log, text } = written("info", true);
  log.request({ ...request, status: 404, code: "pet_not_found" });
  expect(text()).toBe("12:00:00 404 GET /pets  1.3 ms  client 3  pet_not_found  shop-1\n");
  log.request({ ...request, traceId: "0af7651916cd43dd8448eb211c80319c" });
  expect(text()).toEndWith("  shop-1  trace 0af7651916cd43dd8448eb211c80319c\n");
});

test("on a terminal nothing that a caller chose moves the cursor or begins a line", () => {
  const { log, text } = written("info", true);
  log.request({ ...request, path: "/pets/\n\u009b2K" });
  log.warn("It failed.", { url: "https://shop.example/\u001b[1A", cause: "one\ntwo" });
  expect(text()).toBe(
    "12:00:00 200 GET /pets/\\u000a\\u009b2K  1.3 ms  client 3  shop-1\n12:00:00 warn It failed.  url=https://shop.example/\\u001b[1A  cause=one\\u000atwo\n",
  );
});

test("only lines of the wanted level and above are written", () => {
  const lines = (level: Parameters<typeof openLog>[0]) => {
    const { log, text } = written(level, true);
    log.request(request);
    log.info("an info");
    log.warn("a warning", { count: 2 });
    log.error("an error", { cause: "why" });
    return text().split("\n").length - 1;
  };
  expect([lines("debug"), lines("info"), lines("warn"), lines("error"), lines("silent")]).toEqual([
    4, 4, 2, 1, 0,
  ]);
});

test("lines wait to be written together", () => {
  let writes = 0;
  const log = openLog(
    "info",
    false,
    () => void writes++,
    () => NOON,
  );
  for (let line = 0; line < 50; line++) log.request(request);
  expect(writes).toBe(0);
  log.flush();
  log.flush();
  expect(writes).toBe(1);
});

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

/** Everything that a key could be sent in by mistake. */
const places: readonly [
  string,
  (key: string) => { method?: string; path?: string; headers?: Record<string, string>; body?: string },
][] = [
  ["X-API-Key", (key) => ({ headers: { "x-api-key": key } })],
  ["X-API-Key twice", (key) => ({ headers: { "x-api-key": `${key}, ${key}` } })],
  ["Authorization", (key) => ({ headers: { authorization: `Bearer ${key}` } })],
  ["Authorization without its scheme", (key) => ({ headers: { authorization: key } })],
  ["Basic authorization", (key) => ({ headers: { authorization: `Basic ${key}` } })],
  ["X-Request-Id", (key) => ({ headers: { "x-request-id": key } })],
  ["part of X-Request-Id", (key) => ({ headers: { "x-request-id": `me:${key}` } })],
  ["API-Version", (key) => ({ headers: { "api-version": key, "x-api-key": store.staff.key } })],
  ["Accept", (key) => ({ headers: { accept: key, "x-api-key": store.staff.key } })],
  [
    "Idempotency-Key",
    (key) => ({
      method: "DELETE",
      path: "/pets/999",
      headers: { "idempotency-key": key, "x-api-key": store.staff.key },
    }),
  ],
  [
    "If-Match",
    (key) => ({
      method: "DELETE",
      path: "/pets/999",
      headers: { "if-match": `"${key}"`, "x-api-key": store.staff.key },
    }),
  ],
  [
    "Content-Type",
    (key) => ({ method: "POST", body: "{}", headers: { "content-type": key, "x-api-key": store.staff.key } }),
  ],
  [
    "User-Agent, Referer and Cookie",
    (key) => ({
      headers: { "user-agent": key, referer: `https://shop.example/?k=${key}`, cookie: `k=${key}` },
    }),
  ],
  ["the query", (key) => ({ path: `/pets?api_key=${key}` })],
  ["the query, escaped", (key) => ({ path: `/pets?api_key=${key.replaceAll("_", "%5F")}` })],
  ["the query's names", (key) => ({ path: `/pets?${key}=1`, headers: { "x-api-key": store.staff.key } })],
  ["the path", (key) => ({ path: `/pets/${key}` })],
  ["an unknown path", (key) => ({ path: `/${key}/pets`, headers: { "x-api-key": store.staff.key } })],
  [
    "the path, escaped",
    (key) => ({ path: `/pets/${key.replaceAll("_", "%5F")}`, headers: { "x-api-key": store.staff.key } }),
  ],
  [
    "the path, escaped in part",
    (key) => ({ path: `/pets/${key.replace("ps_", "%70s_")}`, headers: { "x-api-key": store.staff.key } }),
  ],
  ["an unknown path, escaped", (key) => ({ path: `/nothing/${key.replaceAll("_", "%5f")}` })],
  ["user information of the address", (key) => ({ headers: { authorization: `Basic ${btoa(`${key}:`)}` } })],
  [
    "the body",
    (key) => ({
      method: "POST",
      body: JSON.stringify({ name: key, categoryId: key, [key]: 1 }),
      headers: { "content-type": "application/json", "x-api-key": store.staff.key },
    }),
  ],
  [
    "a broken body",
    (key) => ({
      method: "POST",
      body: `{"${key}`,
      headers: { "content-type": "application/json", "x-api-key": store.staff.key },
    }),
  ],
];

for (const [place, sent] of places) {
  test(`a key that is sent in ${place} is not in the log`, async () => {
    const key = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
    const { path = "/pets", ...options } = sent(key);
    const response = await fetch(store.url + path, options);
    await response.body?.cancel();
    expect(response.status).toBeLessThan(500);
    const secret = key.slice("ps_live_".length);
    const found = store
      .logged()
      .split("\n")
      .filter((line) => line.includes(secret) || line.includes(btoa(`${key}:`)));
    expect(found).toEqual([]);
  });
}

test("the log holds who called and what, and the key of nobody", async () => {
  const id = "log-of-a-customer";
  await store.customer.get("/pets?limit=3", { "x-request-id": id });
  const line = store
    .logged()
    .split("\n")
    .find((each) => each.includes(id)) as string;
  expect(JSON.parse(line)).toMatchObject({
    level: "info",
    operation: "pets.list",
    path: "/pets",
    status: 200,
    clientId: store.customer.clientId,
    keyId: store.customer.keyId,
  });
  for (const person of [store.customer, store.staff, store.admin])
    expect(store.logged()).not.toContain(person.key.slice("ps_live_".length));
});
