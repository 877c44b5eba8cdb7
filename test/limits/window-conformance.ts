// What limits owe about windows, whoever keeps the counts; a part of the one suite.
import { describe, expect, test } from "bun:test";
import { NOON } from "../harness.ts";
import { type OpenShop, RULES } from "./shop.ts";
import { DAY, MINUTE, PAST_GRACE, SECOND } from "./spending.ts";

/** The cases about minutes and days. */
export function windowCases(name: string, opened: OpenShop): void {
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
}
