import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { raw, rawHeaders } from "../contract/raw.ts";
import { aStore, type Person, type Reply, type TestStore } from "../harness.ts";
import { ask, askTimes, DAY, letRun, limitsOf, SECOND, tally, todayLasts } from "./spending.ts";

// By the real clock: the store's runs with the machine's, sometimes ahead of it.
let store: TestStore;
beforeAll(async () => {
  await todayLasts(30);
  store = await aStore();
  letRun(store);
});
afterAll(() => store.stop());

/** Keys of a new client on the Free plan. */
async function freeKeys(number: number): Promise<Person[]> {
  const { body } = await store.admin.post("/admin/clients", { name: "Shop", plan: "free" });
  const keys: Person[] = [];
  while (keys.length < number) keys.push(await store.newPerson("customer", { clientId: body.id }));
  return keys;
}

function statusesOf(replies: readonly Reply[]): Record<string, number> {
  return tally(replies.map(({ status }) => status));
}

describe("a Free client gets exactly 60 answers in its minute", () => {
  test("over one connection, one after another", async () => {
    const [key] = (await freeKeys(1)) as [Person];
    expect(await askTimes(key, 130)).toEqual({ 200: 60, 429: 70 });
  });

  test("all at once", async () => {
    const [key] = (await freeKeys(1)) as [Person];
    const replies = await Promise.all(Array.from({ length: 250 }, () => ask(key)));
    expect(statusesOf(replies)).toEqual({ 200: 60, 429: 190 });
  });

  test("over 200 connections", async () => {
    const [{ key }] = (await freeKeys(1)) as [Person];
    const request = { method: "GET", path: "/pets", headers: rawHeaders(key) };
    const replies = await Promise.all(Array.from({ length: 200 }, () => raw(store.url, request)));
    expect(statusesOf(replies)).toEqual({ 200: 60, 429: 140 });
  });

  test("with three keys", async () => {
    const keys = await freeKeys(3);
    const replies = await Promise.all(keys.flatMap((key) => Array.from({ length: 60 }, () => ask(key))));
    expect(statusesOf(replies)).toEqual({ 200: 60, 429: 120 });
    for (const key of keys) {
      expect(await limitsOf(key)).toMatchObject({
        minute: { limit: 60, remaining: 0 },
        day: { limit: 1000, remaining: 940 },
        strikes: { count: 0 },
      });
    }
  });

  test("with reads, writes, mistakes and unknown paths among each other", async () => {
    const [key] = (await freeKeys(1)) as [Person];
    const sends = [
      () => key.get("/pets"),
      () => key.post("/store/orders", {}),
      () => key.post("/store/orders", { quantity: "many" }),
      () => key.get("/nowhere"),
      () => key.send("HEAD", "/categories"),
    ];
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, turn) => sends[turn % 5]?.() as Promise<Reply>),
    );
    expect(replies.filter(({ status }) => status !== 429)).toHaveLength(60);
  });

  test("two clients side by side, each its own 60", async () => {
    const [[one], [two]] = (await Promise.all([freeKeys(1), freeKeys(1)])) as [[Person], [Person]];
    const [ofOne, ofTwo] = await Promise.all(
      [one, two].map((key) => Promise.all(Array.from({ length: 100 }, () => ask(key)))),
    );
    expect(statusesOf(ofOne as Reply[])).toEqual({ 200: 60, 429: 40 });
    expect(statusesOf(ofTwo as Reply[])).toEqual({ 200: 60, 429: 40 });
  });
});

describe("Retry-After", () => {
  test("is Reset minus the current second, whole and at least 1, throughout a burst", async () => {
    const [key] = (await freeKeys(1)) as [Person];
    await askTimes(key, 60);
    for (let time = 0; time < 40; time++) {
      const before = Math.floor(Date.now() / SECOND);
      const { status, headers } = await ask(key);
      const after = Math.floor(Date.now() / SECOND);
      expect(status).toBe(429);
      const wait = headers.get("retry-after") as string;
      expect(wait).toMatch(/^[1-9]\d*$/);
      const askedAt = Number(headers.get("x-ratelimit-reset")) - Number(wait);
      expect(askedAt).toBeGreaterThanOrEqual(before);
      expect(askedAt).toBeLessThanOrEqual(after);
      await Bun.sleep(10);
    }
  });

  test("waited for, the first request after it succeeds: the minute", async () => {
    await using own = await aStore();
    const running = letRun(own);
    const key = await own.newPerson("customer", { quota: { perMinute: 5, perDay: 1000 } });
    await askTimes(key, 5);
    // The minute is nearly over.
    running.ahead += 57 * SECOND;
    const { status, headers } = await ask(key);
    const wait = Number(headers.get("retry-after"));
    expect(status).toBe(429);
    expect(wait).toBeLessThanOrEqual(3);
    await Bun.sleep(wait * SECOND);
    expect(await askTimes(key, 6)).toEqual({ 200: 5, 429: 1 });
  });

  test("waited for, the first request after it succeeds: the day", async () => {
    await using own = await aStore();
    // Two seconds before a midnight.
    letRun(own, DAY - (Date.now() % DAY) - 2 * SECOND);
    const key = await own.newPerson("customer", { quota: { perMinute: 1000, perDay: 5 } });
    expect(await askTimes(key, 5)).toEqual({ 200: 5 });
    const { headers, body } = await ask(key);
    expect(body.code).toBe("daily_quota_exceeded");
    const wait = Number(headers.get("retry-after"));
    expect(wait).toBeLessThanOrEqual(2);
    await Bun.sleep(wait * SECOND);
    expect(await askTimes(key, 6)).toEqual({ 200: 5, 429: 1 });
  });
});
