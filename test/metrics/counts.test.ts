import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errors } from "../../src/contract/errors.ts";
import { REQUEST_SECONDS, requestMeter } from "../../src/metrics/requests.ts";
import { aStore, type TestStore } from "../harness.ts";
import { aWire } from "../http/wire.ts";
import { answersIn, figureOf, type Metrics, metricsOf, refusalsIn, since } from "./shop.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ METRICS_PORT: "0", CORS_ORIGINS: "https://shop.example" });
});
afterAll(() => store.stop());

const looked = () => metricsOf(store, "port");

/** What requests added to the counts; whoever looks on the port of their own adds nothing. */
async function counted(work: () => Promise<unknown>) {
  const before = await looked();
  await work();
  const after = await looked();
  return {
    answers: since(answersIn(before), answersIn(after)),
    refusals: since(refusalsIn(before), refusalsIn(after)),
  };
}

function total(metrics: Metrics): number {
  return Object.values(answersIn(metrics)).reduce((sum, count) => sum + count, 0);
}

test("every answer is counted once, by method, route as the contract writes it, and status", async () => {
  const { id, categoryId } = await store.aPet();
  const { answers, refusals } = await counted(async () => {
    const { customer, staff, nobody } = store;
    for (let time = 0; time < 3; time++) await customer.get(`/store/pets/${id}`);
    const { headers } = await customer.get(`/pets/${id}`);
    await customer.get(`/pets/${id}`, { "if-none-match": headers.get("etag") as string });
    await customer.send("HEAD", `/pets/${id}`);
    await customer.get("/pets?limit=2");
    await staff.post("/pets", { name: "Tom", categoryId });
    await staff.post("/pets", { name: "" });
    await customer.post("/pets", { name: "Tom", categoryId });
    await customer.get("/pets/999999");
    await nobody.get(`/pets/${id}`);
    await nobody.get("/nothing/here");
    await customer.send("PUT", "/account");
    await nobody.send("OPTIONS", "/account");
    await fetch(`${store.url}/livez`);
    const { headers: known } = await fetch(`${store.url}/openapi.json`, { method: "HEAD" });
    await fetch(`${store.url}/openapi.json`, { headers: { "if-none-match": known.get("etag") as string } });
  });
  expect(answers).toEqual({
    "GET /store/pets/{petId} 200": 3,
    "GET /pets/{petId} 200": 1,
    "GET /pets/{petId} 304": 1,
    "HEAD /pets/{petId} 200": 1,
    "GET /pets 200": 1,
    "POST /pets 201": 1,
    "POST /pets 422": 1,
    "POST /pets 403": 1,
    "GET /pets/{petId} 404": 1,
    "GET /pets/{petId} 401": 1,
    "GET  404": 1,
    "PUT /account 405": 1,
    "OPTIONS /account 204": 1,
    "GET /livez 200": 1,
    "HEAD /openapi.json 200": 1,
    "GET /openapi.json 304": 1,
  });
  expect(refusals).toEqual({
    invalid_body: 1,
    forbidden: 1,
    pet_not_found: 1,
    missing_api_key: 1,
    not_found: 1,
    method_not_allowed: 1,
  });
});

test("what is no request, a preflight, and a method that a caller made up are counted too", async () => {
  const { answers, refusals } = await counted(async () => {
    const preflight = { origin: "https://shop.example", "access-control-request-method": "GET" };
    await fetch(`${store.url}/pets`, { method: "OPTIONS", headers: preflight });
    using wire = await aWire(store.url);
    wire.say("PURGE /pets HTTP/1.1\r\nHost: x\r\n\r\n");
    await wire.answer();
    wire.say("this is no request\r\n\r\n");
    await wire.answer();
  });
  expect(answers).toEqual({ "OPTIONS /pets 204": 1, "_OTHER /pets 405": 1, "_OTHER  400": 1 });
  expect(refusals).toEqual({ method_not_allowed: 1, malformed_request: 1 });
});

test("many at once are all counted, as the log has them", async () => {
  const lines = () =>
    store
      .logged()
      .split("\n")
      .filter((line) => line.includes('"message":"request"'))
      .map((line) => JSON.parse(line));
  const before = lines().length;
  const { answers, refusals } = await counted(async () => {
    const ids = Array.from({ length: 300 }, (_, n) => n);
    await Promise.all(
      ids.map((n) =>
        n % 3 === 0
          ? store.staff.post("/categories", { name: `Kind ${n}` })
          : n % 3 === 1
            ? store.customer.get("/categories")
            : store.customer.get(`/store/orders/${n + 1_000_000}`),
      ),
    );
  });
  expect(answers).toEqual({
    "POST /categories 201": 100,
    "GET /categories 200": 100,
    "GET /store/orders/{orderId} 404": 100,
  });
  expect(refusals).toEqual({ order_not_found: 100 });
  const told = lines().slice(before);
  expect(told).toHaveLength(300);
  expect(told.filter(({ code }) => code === "order_not_found")).toHaveLength(100);
});

test("limits, bans and overload are refusals by their codes", async () => {
  await using small = await aStore({
    METRICS_PORT: "0",
    MAX_PENDING_REQUESTS: "2",
    BAN_STRIKES: "2",
    BAN_GRACE_SECONDS: "0",
  });
  const person = await small.newPerson("customer", { quota: { perMinute: 2, perDay: 100 } });
  const statuses: number[] = [];
  for (let time = 0; time < 6; time++) {
    statuses.push((await person.get("/pets")).status);
    small.clock.now += 10;
  }
  expect(statuses).toEqual([200, 200, 429, 429, 429, 403]);
  const crowd = await Promise.all(
    Array.from(
      { length: 20 },
      async (_, n) => (await small.staff.post("/categories", { name: `${n}` })).status,
    ),
  );
  const shed = crowd.filter((status) => status === 503).length;
  expect(shed).toBeGreaterThan(0);
  const metrics = await metricsOf(small, "port");
  expect(refusalsIn(metrics)).toEqual({ rate_limit_exceeded: 3, key_banned: 1, overloaded: shed });
  expect(figureOf(metrics, "petstore_bans_earned_total")).toBe(1);
  expect(total(metrics)).toBe(26);
});

test("every code of the contract is there before it was ever given", async () => {
  const samples = (await looked()).get("petstore_http_refusals_total")?.samples ?? [];
  expect(samples.map(({ labels }) => labels.code)).toEqual(Object.keys(errors));
});

test("requests under way and connections are as many as there are", async () => {
  const before = figureOf(await looked(), "petstore_http_connections");
  using wire = await aWire(store.url);
  wire.say("POST /categories HTTP/1.1\r\nHost: x\r\n");
  wire.say(`X-API-Key: ${store.staff.key}\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{`);
  for (let tries = 0; figureOf(await looked(), "http_server_active_requests") !== 1; tries++)
    if (tries > 200) throw new Error("It never came to be under way.");
  expect(figureOf(await looked(), "petstore_http_connections")).toBe(before + 1);
  wire.say('"name":"Birds"}');
  expect((await wire.answer()).status).toBe(201);
  expect(figureOf(await looked(), "http_server_active_requests")).toBe(0);
  // On the server's own port the one who looks is under way.
  expect(figureOf(await metricsOf(store), "http_server_active_requests")).toBe(1);
});

describe("a duration", () => {
  test("is counted in the bucket whose bound it does not exceed, and added up", () => {
    const meter = requestMeter();
    const place = meter.place("GET", "/pets");
    for (const milliseconds of [0, 5, 5.1, 1000, 9999, 10_000, 10_001, 60_000])
      meter.answered(place, 200, milliseconds, undefined);
    const [answers, ...others] = meter.answers();
    expect(others).toEqual([]);
    const { seconds, ...named } = answers as NonNullable<typeof answers>;
    expect(named).toEqual({ method: "GET", route: "/pets", status: 200 });
    const counts = [...seconds].slice(0, -1);
    const bucket = (bound: number) => counts[REQUEST_SECONDS.indexOf(bound)];
    expect([bucket(0.005), bucket(0.01), bucket(1), bucket(10), counts.at(-1)]).toEqual([2, 1, 1, 2, 2]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8);
    expect(seconds.at(-1)).toBeCloseTo(91.0101, 6);
  });

  test("is that of the log's line", async () => {
    const before = await looked();
    await store.customer.get("/account");
    const after = await looked();
    const labels = { http_request_method: "GET", http_route: "/account", http_response_status_code: "200" };
    const name = "http_server_request_duration_seconds_sum";
    const known = "GET /account 200" in answersIn(before) ? figureOf(before, name, labels) : 0;
    const line = JSON.parse(store.logged().trim().split("\n").at(-1) as string);
    expect((figureOf(after, name, labels) - known) * 1000).toBeCloseTo(line.milliseconds, 2);
  });
});

test("no more statuses than a server has, and methods and places of no more kinds than the contract has, are told apart", () => {
  const meter = requestMeter();
  const places = ["GET", "PURGE", "purge", "FOO", "x".repeat(100)].map((method) =>
    meter.place(method, "/pets"),
  );
  expect(new Set(places).size).toBe(2);
  for (let status = 200; status < 240; status++) meter.answered(places[0] as number, status, 1, undefined);
  meter.answered(places[1] as number, 404, 1, "not_found");
  expect(meter.answers()).toHaveLength(41);
  expect(meter.answers().at(-1)).toMatchObject({ method: "_OTHER", route: "/pets", status: 404 });
});
