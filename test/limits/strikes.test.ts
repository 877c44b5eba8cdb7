import { describe, expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import {
  ask,
  askTimes,
  limitsOf,
  MINUTE,
  oneAMinute,
  PAST_GRACE,
  SECOND,
  spendMinute,
  tally,
} from "./spending.ts";

describe("strikes", () => {
  test("the 19th does not ban, the 20th is still answered 429 and bans", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await spendMinute(store, person);
    expect(await askTimes(person, 19)).toEqual({ 429: 19 });
    expect((await limitsOf(person)).bannedUntil).toBeUndefined();

    expect((await ask(person)).status).toBe(429);
    const { status, body, headers } = await ask(person);
    expect({ status, code: body.code }).toEqual({ status: 403, code: "key_banned" });
    expect(headers.get("retry-after")).toBe("300");
    expect(headers.get("x-should-retry")).toBe("false");
    expect(body.message).toContain(new Date(store.clock.now + 5 * MINUTE).toISOString());
    // The client's other keys can still see in the headers how it stands.
    expect(headers.get("x-ratelimit-remaining")).toBe("0");
  });

  test("are shown before it happens, with the number that bans", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    expect(await limitsOf(person)).toMatchObject({
      strikes: { count: 0, threshold: 20, windowSeconds: 300, graceSeconds: 2 },
      banLevel: 0,
      nextBanMinutes: 5,
    });
    await spendMinute(store, person);
    for (const strikes of [1, 2, 3]) {
      await ask(person);
      expect((await limitsOf(person)).strikes.count).toBe(strikes);
    }
    store.clock.now += 5 * MINUTE;
    expect((await limitsOf(person)).strikes.count).toBe(0);
  });

  test("requests that were under way at the first 429 are forgiven, however many", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    const replies = await Promise.all(Array.from({ length: 100 }, () => ask(person)));
    expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 1, 429: 99 });
    store.clock.now += 2 * SECOND;
    expect(await askTimes(person, 50)).toEqual({ 429: 50 });
    expect((await limitsOf(person)).strikes.count).toBe(0);
    store.clock.now += 1;
    await ask(person);
    expect((await limitsOf(person)).strikes.count).toBe(1);
  });

  test("each key is judged by its own first 429, and two keys of a client are apart", async () => {
    await using store = await aStore();
    const first = await oneAMinute(store);
    const second = await oneAMinute(store, first.clientId);
    await spendMinute(store, first);
    // The window is spent for long, but it is this key's first 429.
    expect(await askTimes(second, 30)).toEqual({ 429: 30 });
    expect((await limitsOf(second)).strikes.count).toBe(0);
    expect(await askTimes(first, 21)).toEqual({ 429: 20, 403: 1 });
    store.clock.now += PAST_GRACE;
    expect(await askTimes(second, 3)).toEqual({ 429: 3 });
    expect((await limitsOf(second)).strikes.count).toBe(3);
    store.clock.now += MINUTE;
    expect((await ask(second)).status).toBe(200);
    expect((await ask(first)).status).toBe(403);
  });

  test("a caller that waits as long as it is told never gets one", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    for (let minute = 0; minute < 30; minute++) {
      expect((await ask(person)).status).toBe(200);
      const { status, headers } = await ask(person);
      expect(status).toBe(429);
      store.clock.now += Number(headers.get("retry-after")) * SECOND;
    }
    expect((await limitsOf(person)).strikes.count).toBe(0);
  });

  test("a rehearsed 429 or ban is none", async () => {
    await using store = await aStore();
    for (const prefer of ["simulate=rate_limit", "simulate=daily_quota", "simulate=ban"]) {
      for (let time = 0; time < 30; time++) {
        await store.customer.get("/pets", { prefer });
        store.clock.now += SECOND;
      }
    }
    expect(await limitsOf(store.customer)).toMatchObject({ strikes: { count: 0 }, banLevel: 0 });
    expect((await ask(store.customer)).status).toBe(200);
  });
});
