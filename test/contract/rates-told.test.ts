// What is told of the windows, whose they are, and what is not counted at all.
import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { aStore } from "../harness.ts";
import { refused, theStore } from "./calls.ts";
import { ANONYMOUS, env } from "./scenes.ts";
import { expectCost, Payer } from "./windows.ts";

const store = theStore(env);

test("a preflight costs nothing", async () => {
  await using open = await aStore({ ...env, CORS_ORIGINS: "*" });
  const headers = {
    origin: "https://shop.example",
    "access-control-request-method": "GET",
    "x-forwarded-for": "10.3.0.1",
  };
  for (const { path } of everyEndpoint) {
    const preflight = await fetch(open.url + path.replace(/\{\w+\}/g, "1"), { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
  }
  const book = new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay);
  const first = await open.nobody.get("/pets", { "x-forwarded-for": "10.3.0.1" });
  expectCost(first, book, 1, open.clock.now);
});

test("the pages beside the API cost nothing, and a write to one costs one request", async () => {
  const headers = { "x-forwarded-for": "10.4.0.1" };
  for (const page of ["/", "/openapi.json", "/openapi.yaml", "/docs", "/llms.txt", "/livez", "/readyz"])
    for (const method of ["GET", "HEAD"])
      expect(
        (await fetch(store.url + page, { method, headers })).headers.get("x-ratelimit-limit"),
      ).toBeNull();
  const book = new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay);
  expectCost(await store.nobody.send("POST", "/livez", { headers }), book, 1, store.clock.now);
});

test("a window that is not open yet shows all of its requests", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 7, perDay: 70 } });
  const reply = await person.get("/account/limits");
  expectCost(reply, new Payer(7, 70), 0, store.clock.now);
  expect(reply.headers.get("x-ratelimit-remaining")).toBe("7");
  expect(reply.body.minute).toEqual({
    limit: 7,
    remaining: 7,
    resetAt: Math.floor(store.clock.now / 1000) + 60,
  });
});

test("of two windows with as much left, the headers show the one that resets later", async () => {
  await using late = await aStore();
  late.clock.now = Date.parse("2026-11-15T23:59:30.500Z");
  const person = await late.newPerson("customer", { quota: { perMinute: 5, perDay: 5 } });
  const book = new Payer(5, 5);
  const reply = await person.get("/pets");
  expectCost(reply, book, 1, late.clock.now);
  // The minute reaches over midnight, the day ends there.
  expect(reply.headers.get("x-ratelimit-reset")).toBe(String(Date.parse("2026-11-16T00:00:30Z") / 1000));
  late.clock.now = Date.parse("2026-11-16T00:00:00.000Z");
  expectCost(await person.get("/pets"), book, 1, late.clock.now);
  late.clock.now = Date.parse("2026-11-16T00:00:30.000Z");
  expectCost(await person.get("/pets"), book, 1, late.clock.now);
});

test("what tells of the limits answers while the client is limited and the key banned", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 5 } });
  const book = new Payer(1, 5);
  expectCost(await person.get("/pets"), book, 1, store.clock.now);
  expectCost(await person.get("/pets"), book, 0, store.clock.now);
  const limited = await person.get("/account/limits");
  expect([limited.status, limited.body.minute.remaining]).toEqual([200, 0]);
  expectCost(limited, book, 0, store.clock.now);
  await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
  expect((await person.get("/pets")).body.code).toBe("key_banned");
  const banned = await person.get("/account/limits");
  expect([banned.status, Date.parse(banned.body.bannedUntil)]).toEqual([200, store.clock.now + 300_000]);
  expectCost(banned, book, 0, store.clock.now);
});

test("a key may ask for its limits 60 times a minute, and another key of the client as often", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 50 } });
  const colleague = await store.newPerson("customer", { clientId: person.clientId });
  const book = new Payer(5, 50);
  const opened = store.clock.now;
  for (let each = 1; each <= 60; each++) {
    const reply = await person.get("/account/limits");
    expect([each, reply.status]).toEqual([each, 200]);
    expectCost(reply, book, 0, store.clock.now);
  }
  store.clock.now = opened + 20_000;
  const reply = await refused(store, "rate_limit_exceeded", () => person.get("/account/limits"));
  expectCost(reply, book, 0, store.clock.now);
  const wait = Number(reply.headers.get("retry-after"));
  expect(wait).toBeGreaterThanOrEqual(40);
  expect((await colleague.get("/account/limits")).status).toBe(200);
  expectCost(await person.get("/pets"), book, 1, store.clock.now);
  store.clock.now += wait * 1000;
  expect((await person.get("/account/limits")).status).toBe(200);
});

test("a key that is asked too often for its limits gets no strike for it", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 50 } });
  for (let each = 0; each < 61; each++) await person.get("/account/limits");
  store.clock.now += 3_000;
  for (let each = 0; each < 30; each++)
    expect((await person.get("/account/limits")).body.code).toBe("rate_limit_exceeded");
  expect((await person.get("/pets")).status).toBe(200);
  store.clock.now += 60_000;
  expect((await person.get("/account/limits")).body.strikes.count).toBe(0);
});

test("all keys of a client draw on one count, and another client on its own", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 30 } });
  const colleague = await store.newPerson("staff", { clientId: person.clientId });
  const other = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 30 } });
  const book = new Payer(3, 30);
  for (const each of [person, colleague, person])
    expectCost(await each.get("/pets"), book, 1, store.clock.now);
  for (const each of [person, colleague])
    await refused(store, "rate_limit_exceeded", () => each.get("/pets"));
  expectCost(await other.get("/pets"), new Payer(3, 30), 1, store.clock.now);
});

test("a spent network address does not hinder a valid key, and gets no ban", async () => {
  await using small = await aStore({ ANONYMOUS_PER_MINUTE: "2", ANONYMOUS_PER_DAY: "50" });
  const book = new Payer(2, 50);
  for (let each = 0; each < 2; each++) expectCost(await small.nobody.get("/pets"), book, 1, small.clock.now);
  small.clock.now += 10_000;
  for (let each = 0; each < 50; each++) {
    const reply = await refused(small, "rate_limit_exceeded", () => small.nobody.get("/pets"));
    expectCost(reply, book, 0, small.clock.now);
  }
  expect((await small.customer.get("/pets")).status).toBe(200);
  small.clock.now += 50_000;
  expect((await small.nobody.get("/pets")).body.code).toBe("missing_api_key");
});
