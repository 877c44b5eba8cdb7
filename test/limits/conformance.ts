// What limits owe, whoever keeps the counts. Memory and Valkey go through the same cases.
import { describe, expect, test } from "bun:test";
import type { BanRules, Conduct } from "../../src/core/bans.ts";
import { NOON } from "../harness.ts";
import { aShop, type OpenLimits, RULES, type Shop, type ShopKey } from "./shop.ts";
import { DAY, MINUTE, PAST_GRACE, SECOND } from "./spending.ts";

const MANY = { perMinute: 1_000_000, perDay: 1_000_000 };

/** Spends the only request of a minute, gets the first 429, lets the grace pass, and strikes so often. */
async function strike(shop: Shop, key: ShopKey, times: number): Promise<void> {
  expect(await key.times(2)).toEqual({ ok: 1, minute: 1 });
  shop.clock.now += PAST_GRACE;
  expect(await key.times(times)).toEqual({ minute: times });
}

export function limitsConform(name: string, open: OpenLimits): void {
  const opened = (options: { rules?: BanRules } = {}) => aShop(open, options);

  describe(`limits in ${name}: windows`, () => {
    test("exactly as many as the plan says, and a refusal costs nothing", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 60, perDay: 1000 });
      expect(await key.times(100)).toEqual({ ok: 60, minute: 40 });
      const { state } = await key.request();
      expect(state).toEqual({
        minute: { limit: 60, remaining: 0, resetAt: NOON / SECOND + 60 },
        day: { limit: 1000, remaining: 940, resetAt: (NOON + DAY / 2) / SECOND },
      });
    });

    test("a hundred at once get exactly as many", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 60, perDay: 1000 });
      const all = await Promise.all(Array.from({ length: 100 }, () => key.request()));
      expect(all.filter(({ refusing }) => refusing === null)).toHaveLength(60);
      const left = all.filter(({ refusing }) => refusing === null).map(({ state }) => state.minute.remaining);
      expect(new Set(left).size).toBe(60);
    });

    test("those that come in one turn are judged one after the other", async () => {
      await using shop = await opened({ rules: { ...RULES, strikes: 2, graceSeconds: 1 } });
      const key = shop.key(1, 1, { perMinute: 3, perDay: 1000 });
      const told = async (number: number) =>
        (await key.atOnce(number)).map(({ refusing, state }) => refusing ?? state.minute.remaining);
      expect(await told(5)).toEqual([2, 1, 0, "minute", "minute"]);
      shop.clock.now += PAST_GRACE;
      expect(await told(4)).toEqual(["minute", "minute", "ban", "ban"]);
      expect(shop.bans).toHaveLength(1);
      expect(shop.events.map(({ type }) => type)).toEqual(["key.strike_warning"]);
    });

    test("more than one script takes, all in one turn, get exactly as many as the plan says", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 240, perDay: 1000 });
      const left = (await key.atOnce(250)).map(({ refusing, state }) => refusing ?? state.minute.remaining);
      expect(left).toEqual([...Array.from({ length: 240 }, (_, n) => 239 - n), ...Array(10).fill("minute")]);
    });

    test("the minute opens with the whole second of the first request and ends 60 s later", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 2, perDay: 1000 });
      shop.clock.now = NOON + 999;
      expect((await key.request()).state.minute.resetAt).toBe(NOON / SECOND + 60);
      shop.clock.now = NOON + MINUTE - 1;
      expect(await key.times(2)).toEqual({ ok: 1, minute: 1 });
      shop.clock.now = NOON + MINUTE;
      expect(await key.times(3)).toEqual({ ok: 2, minute: 1 });
    });

    test("with both spent it is the day that refuses", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 2, perDay: 4 });
      expect(await key.times(3)).toEqual({ ok: 2, minute: 1 });
      shop.clock.now += MINUTE;
      expect(await key.times(3)).toEqual({ ok: 2, day: 1 });
      shop.clock.now += MINUTE;
      const { refusing, state } = await key.request();
      expect([refusing, state.minute.remaining, state.day.remaining]).toEqual(["day", 2, 0]);
    });

    test("at midnight, UTC, the day is new and the minute is not", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 3, perDay: 3 });
      const midnight = NOON + DAY / 2;
      shop.clock.now = midnight - 1;
      expect(await key.times(4)).toEqual({ ok: 3, day: 1 });
      shop.clock.now = midnight;
      const { refusing, state } = await key.request();
      expect([refusing, state.day.remaining, state.day.resetAt]).toEqual([
        "minute",
        3,
        (midnight + DAY) / SECOND,
      ]);
      shop.clock.now = midnight + MINUTE;
      expect(await key.times(4)).toEqual({ ok: 3, day: 1 });
    });

    test("a leap day is a day", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 100, perDay: 2 });
      shop.clock.now = Date.parse("2028-02-28T23:59:59Z");
      expect(await key.times(3)).toEqual({ ok: 2, day: 1 });
      shop.clock.now = Date.parse("2028-02-29T00:00:00Z");
      expect((await key.request()).state.day.resetAt).toBe(Date.parse("2028-03-01T00:00:00Z") / SECOND);
      shop.clock.now = Date.parse("2028-02-29T23:59:59Z");
      expect(await key.times(2)).toEqual({ ok: 1, day: 1 });
      shop.clock.now = Date.parse("2028-03-01T00:00:00Z");
      expect(await key.times(3)).toEqual({ ok: 2, day: 1 });
    });

    test("a clock set back opens one more minute at the most, and never another day", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 5, perDay: 8 });
      shop.clock.now = NOON + DAY / 2 + MINUTE;
      expect(await key.times(6)).toEqual({ ok: 5, minute: 1 });
      shop.clock.now -= 2 * MINUTE;
      expect(await key.times(6)).toEqual({ ok: 3, day: 3 });
      shop.clock.now -= DAY / 2;
      expect(await key.times(6)).toEqual({ day: 6 });
    });

    test("a clock that was days ahead costs nobody more than a day, once it is right", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 50, perDay: 8 });
      shop.clock.now = NOON + 10 * DAY;
      expect(await key.times(9)).toEqual({ ok: 8, day: 1 });
      shop.clock.now = NOON;
      expect(await key.times(9)).toEqual({ ok: 8, day: 1 });
      expect((await key.look()).state.day.resetAt * SECOND).toBe(NOON + DAY / 2);
    });

    test("keys of a client share its windows, and another client has its own", async () => {
      await using shop = await opened();
      const quota = { perMinute: 4, perDay: 100 };
      const [first, second, other] = [shop.key(1, 1, quota), shop.key(2, 1, quota), shop.key(3, 2, quota)];
      expect(await first.times(3)).toEqual({ ok: 3 });
      expect(await second.times(3)).toEqual({ ok: 1, minute: 2 });
      expect(await other.times(5)).toEqual({ ok: 4, minute: 1 });
    });

    test("a change of plan keeps what was counted", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 2, perDay: 100 });
      expect(await key.times(3)).toEqual({ ok: 2, minute: 1 });
      key.quota = { perMinute: 5, perDay: 100 };
      expect(await key.times(4)).toEqual({ ok: 3, minute: 1 });
      key.quota = { perMinute: 1, perDay: 4 };
      const { refusing, state } = await key.request();
      expect([refusing, state.minute.remaining, state.day.remaining]).toEqual(["day", 0, 0]);
    });

    test("a free request only looks", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 2, perDay: 100 });
      expect(await key.times(2)).toEqual({ ok: 2 });
      shop.clock.now += PAST_GRACE;
      for (let time = 0; time < 30; time++) expect((await key.look()).refusing).toBeNull();
      expect((await key.standing()).conduct.strikes).toEqual([]);
      expect((await key.look()).state.minute.remaining).toBe(0);
    });
  });

  describe(`limits in ${name}: bans`, () => {
    test("what follows the first 429 within the grace is forgiven; then it strikes, and the last strike bans", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1000 });
      expect(await key.times(30)).toEqual({ ok: 1, minute: 29 });
      shop.clock.now += 2 * SECOND;
      expect(await key.times(30)).toEqual({ minute: 30 });
      shop.clock.now += 1;
      expect(await key.times(19)).toEqual({ minute: 19 });
      expect(shop.bans).toEqual([]);
      expect(await key.times(21)).toEqual({ minute: 1, ban: 20 });
      const { now } = shop.clock;
      expect(shop.bans).toMatchObject([
        { keyId: 1, clientId: 1, level: 1, since: now, until: now + 5 * MINUTE },
      ]);
      expect(await key.request()).toMatchObject({ refusing: "ban", bannedUntil: now + 5 * MINUTE });
      shop.clock.now += 5 * MINUTE - 1;
      expect(await key.times(1)).toEqual({ ban: 1 });
      shop.clock.now += 1;
      expect(await key.times(2)).toEqual({ ok: 1, minute: 1 });
    });

    test("two keys of a client are judged apart", async () => {
      await using shop = await opened();
      const quota = { perMinute: 1, perDay: 1000 };
      const [first, second] = [shop.key(1, 1, quota), shop.key(2, 1, quota)];
      await strike(shop, first, 20);
      expect(await second.times(5)).toEqual({ minute: 5 });
      expect((await second.standing()).conduct.strikes).toEqual([]);
      expect(await first.times(1)).toEqual({ ban: 1 });
      shop.clock.now += MINUTE;
      expect(await second.times(1)).toEqual({ ok: 1 });
    });

    test("each ban is longer, up to the last, and each good day takes a level off", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1_000_000 });
      for (const [index, minutes] of [5, 15, 60, 1440, 1440].entries()) {
        await strike(shop, key, 20);
        expect(shop.bans.at(-1)).toMatchObject({
          level: index + 1,
          until: shop.clock.now + minutes * MINUTE,
        });
        shop.clock.now += minutes * MINUTE;
      }
      shop.clock.now += 3 * DAY - MINUTE;
      await strike(shop, key, 20);
      expect(shop.bans.at(-1)?.level).toBe(4);
      shop.clock.now += 1440 * MINUTE + 10 * DAY;
      await strike(shop, key, 20);
      expect(shop.bans.at(-1)?.level).toBe(1);
    });

    test("strikes count for five minutes", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1_000_000 });
      await strike(shop, key, 19);
      shop.clock.now += 5 * MINUTE;
      await strike(shop, key, 19);
      expect(shop.bans).toEqual([]);
      expect((await key.standing()).conduct.strikes).toHaveLength(19);
    });

    test("a ban earned on the daily quota ends with the day", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 100, perDay: 1 });
      const midnight = NOON + DAY / 2;
      shop.clock.now = midnight - 3 * MINUTE;
      expect(await key.times(2)).toEqual({ ok: 1, day: 1 });
      shop.clock.now += PAST_GRACE;
      expect(await key.times(21)).toEqual({ day: 20, ban: 1 });
      expect(shop.bans.at(-1)?.until).toBe(midnight);
      shop.clock.now = midnight;
      expect(await key.times(1)).toEqual({ ok: 1 });
    });

    test("a ban that the database knows refuses, costs nothing, and ends when it says", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 5, perDay: 100 });
      shop.impose(1, 7);
      expect(await key.times(3)).toEqual({ ban: 3 });
      expect((await key.standing()).bannedUntil).toBe(NOON + 7 * MINUTE);
      shop.clock.now += 7 * MINUTE;
      const { refusing, state } = await key.request();
      expect([refusing, state.day.remaining]).toEqual([null, 99]);
    });

    test("a lift ends it at once, strikes are gone and the level stays", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1_000_000 });
      await strike(shop, key, 20);
      expect(await key.times(1)).toEqual({ ban: 1 });
      shop.clock.now += SECOND;
      shop.lift(1);
      expect((await key.request()).refusing).toBe("minute");
      const { conduct, bannedUntil } = await key.standing();
      expect([conduct.level, conduct.goodSince >= shop.clock.now, bannedUntil]).toEqual([1, true, null]);
      expect(conduct.strikes.length).toBeLessThanOrEqual(1);
      shop.clock.now += MINUTE;
      expect(await key.times(1)).toEqual({ ok: 1 });
      shop.clock.now += 10 * MINUTE;
      await strike(shop, key, 20);
      expect(shop.bans.at(-1)?.level).toBe(2);
      expect(await key.times(1)).toEqual({ ban: 1 });
    });

    test("what the database knows of a key's conduct is where it starts", async () => {
      await using shop = await opened();
      const conduct: Conduct = {
        windowResetAt: NOON + MINUTE,
        firstRefusedAt: NOON - 5 * SECOND,
        strikes: Array.from({ length: 19 }, (_, index) => NOON - index),
        level: 2,
        goodSince: NOON,
      };
      shop.inherit(1, conduct);
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1000 });
      expect((await key.standing()).conduct).toEqual(conduct);
      expect(await key.times(3)).toEqual({ ok: 1, minute: 1, ban: 1 });
      expect(shop.bans).toMatchObject([{ level: 3, until: NOON + 60 * MINUTE }]);
    });
  });

  describe(`limits in ${name}: the rest`, () => {
    test("a restart changes nothing: counts, the grace that has begun, strikes and bans", async () => {
      await using shop = await opened();
      const quota = { perMinute: 1, perDay: 10 };
      const [counted, struck, banned] = [
        shop.key(1, 1, { perMinute: 7, perDay: 10 }),
        shop.key(2, 2, quota),
        shop.key(3, 3, quota),
      ];
      expect(await counted.times(5)).toEqual({ ok: 5 });
      await strike(shop, struck, 19);
      await strike(shop, banned, 20);
      await shop.restart();
      expect((await counted.look()).state).toMatchObject({ minute: { remaining: 2 }, day: { remaining: 5 } });
      expect(await counted.times(3)).toEqual({ ok: 2, minute: 1 });
      expect(await banned.times(1)).toEqual({ ban: 1 });
      expect((await struck.standing()).conduct.strikes).toHaveLength(19);
      shop.clock.now += PAST_GRACE;
      await counted.request();
      expect((await counted.standing()).conduct.strikes).toHaveLength(1);
    });

    test("a key may ask 60 questions a minute, which cost nothing", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1000 });
      const waits = [];
      for (let time = 0; time < 61; time++) waits.push((await key.question()).waitSeconds);
      expect(waits.slice(0, 60)).toEqual(new Array(60).fill(null));
      expect(waits[60]).toBe(60);
      expect(await shop.key(2, 1, MANY).question()).toMatchObject({ waitSeconds: null });
      expect(await key.times(1)).toEqual({ ok: 1 });
      shop.clock.now += MINUTE;
      expect((await key.question()).waitSeconds).toBeNull();
    });

    test("addresses have windows of their own and never strike", async () => {
      await using shop = await opened();
      const spent: (string | null)[] = [];
      for (let time = 0; time < 4; time++) spent.push((await shop.address("192.0.2.1")).refusing);
      expect(spent).toEqual([null, null, null, "minute"]);
      expect((await shop.address("192.0.2.1", true)).refusing).toBeNull();
      expect((await shop.address("2001:db8:1:2::/64")).state.minute).toMatchObject({
        limit: 3,
        remaining: 2,
      });
      shop.clock.now += MINUTE;
      expect((await shop.address("192.0.2.1")).state).toMatchObject({
        minute: { remaining: 2 },
        day: { limit: 20, remaining: 16 },
      });
    });

    test("who is about to run out is told once, at 80 % of the day and at half the strikes", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 10, perDay: 10 });
      await key.times(7);
      expect(shop.events).toEqual([]);
      await key.times(3);
      expect(shop.events).toMatchObject([{ type: "quota.warning", data: { used: 8, limit: 10 } }]);
      expect(await key.times(1)).toEqual({ day: 1 });
      shop.clock.now += PAST_GRACE;
      await key.times(15);
      expect(shop.events.slice(1)).toMatchObject([
        { type: "key.strike_warning", data: { strikes: RULES.strikes / 2 } },
      ]);
    });
  });
}
