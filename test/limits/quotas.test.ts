import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, NOON, type Person, type Reply, type TestStore } from "../harness.ts";
import { ask, askTimes, DAY, limitsOf, MINUTE, SECOND } from "./spending.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

const at = (time: string) => {
  store.clock.now = Date.parse(time);
};
const perDay = (requests: number) =>
  store.newPerson("customer", { quota: { perMinute: 1000, perDay: requests } });
const perMinute = (requests: number) =>
  store.newPerson("customer", { quota: { perMinute: requests, perDay: 1000 } });

/** What a reply says of the limits, as numbers. */
function told({ headers, status, body }: Reply) {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN);
  return {
    status,
    code: body?.code,
    limit: number("x-ratelimit-limit"),
    remaining: number("x-ratelimit-remaining"),
    reset: number("x-ratelimit-reset"),
    retryAfter: number("retry-after"),
  };
}

describe("the headers", () => {
  test("count down to zero and stay there", async () => {
    at("2026-11-15T12:00:00Z");
    const person = await perMinute(3);
    const seen = [];
    for (let time = 0; time < 5; time++) seen.push(told(await ask(person)));
    expect(seen.map(({ status, remaining }) => [status, remaining])).toEqual([
      [200, 2],
      [200, 1],
      [200, 0],
      [429, 0],
      [429, 0],
    ]);
    for (const { limit, reset } of seen) expect([limit, reset]).toEqual([3, NOON / 1000 + 60]);
  });

  test("tell both windows in the standard's form too", async () => {
    at("2026-11-15T23:00:00Z");
    const person = await store.newPerson("customer", { quota: { perMinute: 60, perDay: 1000 } });
    await ask(person);
    store.clock.now += 10 * SECOND;
    const { headers } = await ask(person);
    expect(headers.get("ratelimit-policy")).toBe('"minute";q=60;w=60, "day";q=1000;w=86400');
    expect(headers.get("ratelimit")).toBe('"minute";r=58;t=50, "day";r=998;t=3590');
  });

  test("change over to the day when it has fewer left, or as many", async () => {
    at("2026-11-15T12:00:00Z");
    const person = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 4 } });
    const midnight = Date.parse("2026-11-16T00:00:00Z") / 1000;
    expect(told(await ask(person))).toMatchObject({ limit: 3, remaining: 2 });
    store.clock.now += MINUTE;
    // The minute has two left and so has the day, which resets later.
    expect(told(await ask(person))).toMatchObject({ limit: 4, remaining: 2, reset: midnight });
    expect(told(await ask(person))).toMatchObject({ limit: 4, remaining: 1, reset: midnight });
  });

  test.each([
    ["a record that is not there", (person: Person) => person.get("/pets/999999"), 404],
    ["a path that is not there", (person: Person) => person.get("/nowhere"), 404],
    ["a wrong method", (person: Person) => person.delete("/pets"), 405],
    ["a wrong parameter", (person: Person) => person.get("/pets?limit=0"), 400],
    ["a role that is too low", (person: Person) => person.post("/categories", { name: "Fish" }), 403],
    ["a HEAD", (person: Person) => person.send("HEAD", "/pets"), 200],
    ["a rehearsal", (person: Person) => person.get("/pets", { prefer: "simulate=unavailable" }), 503],
  ])("%s costs one request and says what is left", async (_, send, status) => {
    at("2026-11-15T12:00:00Z");
    const person = await perMinute(10);
    const reply = await send(person);
    expect(reply.status).toBe(status);
    expect(told(reply)).toMatchObject({ limit: 10, remaining: 9 });
  });

  test("an answer that is still the same costs one too", async () => {
    at("2026-11-15T12:00:00Z");
    const { id } = await store.aPet();
    const person = await perMinute(10);
    const { headers } = await person.get(`/store/pets/${id}`);
    const reply = await person.get(`/store/pets/${id}`, { "if-none-match": headers.get("etag") as string });
    expect(told(reply)).toMatchObject({ status: 304, remaining: 8 });
  });
});

describe("asking for the limits", () => {
  test("costs nothing and works when all is spent", async () => {
    at("2026-11-15T12:00:00Z");
    const person = await perMinute(2);
    for (let time = 0; time < 5; time++) expect((await limitsOf(person)).minute.remaining).toBe(2);
    await askTimes(person, 3);
    expect(await limitsOf(person)).toMatchObject({
      minute: { limit: 2, remaining: 0, resetAt: NOON / 1000 + 60 },
      day: { limit: 1000, remaining: 998, resetAt: Date.parse("2026-11-16T00:00:00Z") / 1000 },
    });
  });

  test("has a bucket of its own for each key, and asking too often is no strike", async () => {
    at("2026-11-15T12:00:00Z");
    const person = await perMinute(2);
    const other = await store.newPerson("customer", { clientId: person.clientId });
    const statuses = new Set<number>();
    for (let time = 0; time < 60; time++) statuses.add((await person.get("/account/limits")).status);
    expect([...statuses]).toEqual([200]);
    for (let time = 0; time < 30; time++) {
      store.clock.now += SECOND;
      const { status, headers, body } = await person.get("/account/limits");
      expect({ status, code: body.code }).toEqual({ status: 429, code: "rate_limit_exceeded" });
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    expect((await limitsOf(other)).minute.remaining).toBe(2);
    store.clock.now += MINUTE;
    expect((await limitsOf(person)).strikes.count).toBe(0);
    expect(await askTimes(person, 2)).toEqual({ 200: 2 });
  });
});

describe("the daily quota", () => {
  test("is refused with its own code, told not to retry, until the day is over", async () => {
    at("2026-11-15T18:00:00Z");
    const person = await perDay(5);
    expect(await askTimes(person, 5)).toEqual({ 200: 5 });
    const reply = await ask(person);
    expect(told(reply)).toEqual({
      status: 429,
      code: "daily_quota_exceeded",
      limit: 5,
      remaining: 0,
      reset: Date.parse("2026-11-16T00:00:00Z") / 1000,
      retryAfter: 6 * 60 * 60,
    });
    expect(reply.headers.get("x-should-retry")).toBe("false");
  });

  test("the minute's refusal does not say that a retry is useless", async () => {
    at("2026-11-15T18:00:00Z");
    const person = await perMinute(1);
    await ask(person);
    const reply = await ask(person);
    expect(told(reply)).toMatchObject({ status: 429, code: "rate_limit_exceeded", retryAfter: 60 });
    expect(reply.headers.get("x-should-retry")).toBeNull();
  });

  test("with both windows spent it is the day that is told", async () => {
    at("2026-11-15T18:00:00Z");
    const person = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 3 } });
    await askTimes(person, 3);
    const reply = await ask(person);
    expect(told(reply)).toMatchObject({ status: 429, code: "daily_quota_exceeded", retryAfter: 6 * 60 * 60 });
    expect(reply.headers.get("x-should-retry")).toBe("false");
  });

  test("with both windows spent shortly before midnight, the wait that is told is long enough", async () => {
    at("2026-11-15T23:59:30Z");
    const person = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 3 } });
    await askTimes(person, 3);
    const { retryAfter, reset } = told(await ask(person));
    expect(retryAfter).toBe(reset - store.clock.now / 1000);
    store.clock.now += retryAfter * SECOND;
    expect((await ask(person)).status).toBe(200);
  });

  test.each([
    ["any midnight", "2026-11-15T23:59:59.999Z", "2026-11-16T00:00:00.000Z"],
    ["into 29 February", "2028-02-28T23:59:59.999Z", "2028-02-29T00:00:00.000Z"],
    ["out of 29 February", "2028-02-29T23:59:59.999Z", "2028-03-01T00:00:00.000Z"],
    ["into a new year", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"],
  ])("is new from the first millisecond of the next day, over %s", async (_, last, first) => {
    at(first);
    store.clock.now -= DAY / 2;
    const person = await perDay(5);
    expect(await askTimes(person, 6)).toEqual({ 200: 5, 429: 1 });
    at(last);
    expect(told(await ask(person))).toMatchObject({ status: 429, retryAfter: 1 });
    at(first);
    expect(told(await ask(person))).toMatchObject({
      status: 200,
      remaining: 4,
      reset: store.clock.now / 1000 + 86_400,
    });
  });
});

describe("a clock that is set back", () => {
  test.each([
    ["a second", SECOND],
    ["a minute", MINUTE],
    ["a day", DAY],
  ])("by %s gives one more minute and no more of the day", async (_, back) => {
    at("2026-11-20T12:00:00Z");
    const person = await store.newPerson("customer", { quota: { perMinute: 4, perDay: 10 } });
    expect(await askTimes(person, 5)).toEqual({ 200: 4, 429: 1 });
    store.clock.now -= back;
    expect(await askTimes(person, 5)).toEqual({ 200: 4, 429: 1 });
    store.clock.now += 2 * MINUTE;
    expect(await askTimes(person, 3)).toEqual({ 200: 2, 429: 1 });
    const { day, minute } = await limitsOf(person);
    expect(day).toEqual({ limit: 10, remaining: 0, resetAt: Date.parse("2026-11-21T00:00:00Z") / 1000 });
    expect(minute.remaining).toBe(2);
  });
});

describe("another plan", () => {
  test("acts at once and keeps what was counted", async () => {
    at("2026-11-15T12:00:00Z");
    const person = await store.newPerson("customer", { quota: { perMinute: 100, perDay: 200 } });
    const change = (body: object) => store.admin.patch(`/admin/clients/${person.clientId}`, body);
    await askTimes(person, 70);

    await change({ plan: "free" });
    const refused = await ask(person);
    expect(told(refused)).toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      limit: 60,
      remaining: 0,
    });
    expect((await limitsOf(person)).day).toMatchObject({ limit: 1000, remaining: 930 });

    await change({ plan: "pro" });
    expect(told(await ask(person))).toMatchObject({ status: 200, limit: 300, remaining: 229 });

    await change({ plan: "enterprise", perMinute: 500, perDay: 50 });
    const spent = await ask(person);
    expect(told(spent)).toMatchObject({ status: 429, code: "daily_quota_exceeded", limit: 50, remaining: 0 });
    expect(await limitsOf(person)).toMatchObject({ minute: { remaining: 429 }, day: { remaining: 0 } });

    await change({ perDay: 72 });
    expect(await askTimes(person, 2)).toEqual({ 200: 1, 429: 1 });
  });

  test("of one client leaves the others as they are", async () => {
    at("2026-11-15T12:00:00Z");
    const [changed, other] = [await perMinute(5), await perMinute(5)];
    await ask(other);
    await store.admin.patch(`/admin/clients/${changed.clientId}`, { plan: "pro" });
    expect(told(await ask(other))).toMatchObject({ limit: 5, remaining: 3 });
  });
});

describe("a client's keys", () => {
  test("share its windows, a new one too", async () => {
    at("2026-11-15T12:00:00Z");
    const first = await perMinute(6);
    const second = await store.newPerson("staff", { clientId: first.clientId });
    expect(await askTimes(first, 3)).toEqual({ 200: 3 });
    expect(await askTimes(second, 2)).toEqual({ 200: 2 });
    const made = await first.post("/account/keys", {});
    expect(told(made)).toMatchObject({ status: 201, remaining: 0 });
    const third = await fetch(`${store.url}/pets`, { headers: { "x-api-key": made.body.key } });
    expect(third.status).toBe(429);
  });
});
