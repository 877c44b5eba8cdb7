import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Quota } from "../../src/contract/plans.ts";
import { count, type LimitState, roll, stateOf, tighter } from "../../src/core/windows.ts";
import { rateLines, tooManyRequests } from "../../src/http/rates.ts";
import { seed } from "../seed.ts";
import { ask, at, NOON, unused } from "./asking.ts";

const FREE: Quota = { perMinute: 60, perDay: 1000 };

describe("the minute", () => {
  test("it opens at the second of the first request, not at the clock's minute", () => {
    const windows = unused();
    count(windows, FREE, NOON + 37);
    expect(stateOf(windows, FREE, NOON + 37).minute).toEqual({
      limit: 60,
      remaining: 59,
      resetAt: NOON + 97,
    });
  });

  test("it holds for 60 seconds and not one longer", () => {
    const windows = unused();
    expect(ask(windows, FREE, NOON, 61)).toEqual({ admitted: 60, refusedBy: "minute" });
    expect(ask(windows, FREE, NOON + 59, 1)).toEqual({ admitted: 0, refusedBy: "minute" });
    expect(ask(windows, FREE, NOON + 60, 61)).toEqual({ admitted: 60, refusedBy: "minute" });
    expect(stateOf(windows, FREE, NOON + 60).minute.resetAt).toBe(NOON + 120);
  });

  test("the next opens with the next request, however late that comes", () => {
    const windows = unused();
    count(windows, FREE, NOON);
    count(windows, FREE, NOON + 1000);
    expect(stateOf(windows, FREE, NOON + 1000).minute).toEqual({
      limit: 60,
      remaining: 59,
      resetAt: NOON + 1060,
    });
  });

  test("one not yet open has all of its requests and would last from now", () => {
    const windows = unused();
    roll(windows, NOON);
    expect(stateOf(windows, FREE, NOON).minute).toEqual({ limit: 60, remaining: 60, resetAt: NOON + 60 });
    count(windows, FREE, NOON);
    roll(windows, NOON + 60);
    expect(stateOf(windows, FREE, NOON + 60).minute).toEqual({
      limit: 60,
      remaining: 60,
      resetAt: NOON + 120,
    });
  });

  test("it goes on over midnight", () => {
    const windows = unused();
    const midnight = at("2026-11-16T00:00:00Z");
    expect(ask(windows, FREE, midnight - 10, 60).admitted).toBe(60);
    expect(ask(windows, FREE, midnight, 1)).toEqual({ admitted: 0, refusedBy: "minute" });
    expect(ask(windows, FREE, midnight + 50, 1).admitted).toBe(1);
  });
});

describe("the day", () => {
  const fivePerDay: Quota = { perMinute: 1000, perDay: 5 };

  test.each([
    ["an ordinary midnight", "2026-11-15T23:59:59Z", "2026-11-16T00:00:00Z"],
    ["the end of a year", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"],
    ["28 February of a leap year", "2028-02-28T23:59:59Z", "2028-02-29T00:00:00Z"],
    ["29 February", "2028-02-29T23:59:59Z", "2028-03-01T00:00:00Z"],
    ["28 February of another year", "2027-02-28T23:59:59Z", "2027-03-01T00:00:00Z"],
    ["the day when summer time begins in Europe", "2027-03-28T23:59:59Z", "2027-03-29T00:00:00Z"],
    ["the day when it ends in America", "2026-11-01T23:59:59Z", "2026-11-02T00:00:00Z"],
  ])("%s: spent until its last second, new in the next", (_, last, first) => {
    const windows = unused();
    expect(ask(windows, fivePerDay, at(last) - 86_399, 6)).toEqual({ admitted: 5, refusedBy: "day" });
    expect(ask(windows, fivePerDay, at(last), 1)).toEqual({ admitted: 0, refusedBy: "day" });
    expect(stateOf(windows, fivePerDay, at(last)).day.resetAt).toBe(at(first));
    expect(ask(windows, fivePerDay, at(first), 6)).toEqual({ admitted: 5, refusedBy: "day" });
    expect(stateOf(windows, fivePerDay, at(first)).day.resetAt).toBe(at(first) + 86_400);
  });

  test("a day without a request changes nothing for the one after it", () => {
    const windows = unused();
    ask(windows, fivePerDay, NOON, 5);
    expect(ask(windows, fivePerDay, NOON + 2 * 86_400, 6).admitted).toBe(5);
  });
});

describe("both together", () => {
  test("a request that the minute refuses costs nothing of the day", () => {
    const windows = unused();
    ask(windows, { perMinute: 2, perDay: 10 }, NOON, 100);
    expect(stateOf(windows, { perMinute: 2, perDay: 10 }, NOON).day.remaining).toBe(8);
  });

  test("a request that the day refuses costs nothing of the minute and opens none", () => {
    const windows = unused();
    const quota = { perMinute: 10, perDay: 2 };
    ask(windows, quota, NOON, 2);
    expect(ask(windows, quota, NOON + 60, 50)).toEqual({ admitted: 0, refusedBy: "day" });
    expect(stateOf(windows, quota, NOON + 60).minute).toEqual({
      limit: 10,
      remaining: 10,
      resetAt: NOON + 120,
    });
  });

  test("with both spent it is the day that refuses", () => {
    const windows = unused();
    expect(ask(windows, { perMinute: 3, perDay: 3 }, NOON, 4)).toEqual({ admitted: 3, refusedBy: "day" });
  });

  test("a smaller plan leaves nothing, never less than nothing", () => {
    const windows = unused();
    ask(windows, { perMinute: 300, perDay: 10_000 }, NOON, 300);
    expect(count(windows, FREE, NOON)).toBe("minute");
    const { minute, day } = stateOf(windows, { perMinute: 60, perDay: 100 }, NOON);
    expect([minute.remaining, day.remaining]).toEqual([0, 0]);
    expect(count(windows, { perMinute: 301, perDay: 10_000 }, NOON)).toBeNull();
  });

  const minute = (remaining: number, resetAt: number) => ({ limit: 60, remaining, resetAt });
  const day = (remaining: number, resetAt: number) => ({ limit: 1000, remaining, resetAt });
  test.each([
    ["the minute has fewer left", minute(3, 100), day(4, 900), "minute"],
    ["the day has fewer left", minute(5, 100), day(4, 900), "day"],
    ["as many left, the day resets later", minute(4, 100), day(4, 900), "day"],
    ["as many left, the minute resets later", minute(4, 930), day(4, 900), "minute"],
    ["both spent shortly before midnight", minute(0, 930), day(0, 900), "minute"],
  ] as const)("the tighter one when %s", (_, ofMinute, ofDay, tight) => {
    const state: LimitState = { minute: ofMinute, day: ofDay };
    expect(tighter(state)).toBe(state[tight]);
  });
});

describe("a clock that is set back", () => {
  test.each([
    ["a second", 1],
    ["a minute", 60],
    ["an hour", 3600],
    ["a day", 86_400],
  ])("by up to a day (%s) gives at most one more minute and never another day", (_, seconds) => {
    const windows = unused();
    const quota = { perMinute: 10, perDay: 25 };
    expect(ask(windows, quota, NOON, 100).admitted).toBe(10);
    let extra = 0;
    // The clock runs on from where it was put, until it is where it had been.
    const steps = Math.min(seconds, 59);
    for (let second = 0; second <= steps; second++) {
      extra += ask(windows, quota, NOON - seconds + second, 100).admitted;
    }
    expect(extra).toBe(10);
    expect(ask(windows, quota, NOON - seconds + 60 + 60, 100).admitted).toBe(5);
    expect(ask(windows, quota, NOON + 300, 100)).toEqual({ admitted: 0, refusedBy: "day" });
  });

  test("by less than the window's age changes nothing", () => {
    const windows = unused();
    expect(ask(windows, FREE, NOON, 60).admitted).toBe(60);
    expect(count(windows, FREE, NOON + 30)).toBe("minute");
    expect(count(windows, FREE, NOON + 29)).toBe("minute");
    expect(stateOf(windows, FREE, NOON + 29).minute.resetAt).toBe(NOON + 60);
  });

  test("to yesterday leaves today's quota spent until today is over", () => {
    const windows = unused();
    const quota = { perMinute: 100, perDay: 5 };
    const midnight = at("2026-11-16T00:00:00Z");
    ask(windows, quota, midnight + 1, 5);
    expect(ask(windows, quota, midnight - 1, 1)).toEqual({ admitted: 0, refusedBy: "day" });
    expect(stateOf(windows, quota, midnight - 1).day.resetAt).toBe(midnight + 86_400);
    expect(ask(windows, quota, midnight + 86_399, 1)).toEqual({ admitted: 0, refusedBy: "day" });
    expect(ask(windows, quota, midnight + 86_400, 1).admitted).toBe(1);
  });

  test("by days is one that was wrong: today begins, and is not waited for", () => {
    const quota = { perMinute: 100, perDay: 5 };
    for (const days of [2, 10, 365]) {
      const windows = unused();
      expect(ask(windows, quota, NOON + days * 86_400, 9)).toEqual({ admitted: 5, refusedBy: "day" });
      expect(ask(windows, quota, NOON, 9)).toEqual({ admitted: 5, refusedBy: "day" });
      expect(stateOf(windows, quota, NOON).day.resetAt).toBe(at("2026-11-16T00:00:00Z"));
    }
  });

  test("once in a row of requests opens at most one minute more than the time that passed has room for", () => {
    const steps = fc.array(fc.oneof(fc.nat(2), fc.nat(40)), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(steps, steps, fc.nat(200_000), (before, after, back) => {
        const quota = { perMinute: 3, perDay: 1_000_000 };
        const windows = unused();
        let now = NOON;
        let admitted = 0;
        let passed = -(before[0] ?? 0);
        const askAfter = (step: number) => {
          now += step;
          passed += step;
          if (count(windows, quota, now) === null) admitted += 1;
        };
        before.forEach(askAfter);
        now -= back;
        after.forEach(askAfter);
        const minutes = Math.floor(passed / 60) + 1 + (back > 0 ? 1 : 0);
        expect(admitted).toBeLessThanOrEqual(minutes * quota.perMinute);
      }),
      { numRuns: 500, seed },
    );
  });
});

/** When the windows are said to be whole again. */
function toldReset(state: LimitState, now: number): number {
  return Number(/^x-ratelimit-reset: (\d+)\r$/m.exec(rateLines(state, now))?.[1]);
}

describe("Retry-After", () => {
  const whole = (milliseconds: number) => Math.floor(milliseconds / 1000);
  const retryAfter = ({ headerLines }: { headerLines: string }) =>
    Number(/^retry-after: (.*)\r$/m.exec(headerLines)?.[1]);

  /** A minute of one request, opened at this millisecond, and a second request at the other. */
  function refusedAt(opened: number, asked: number, quota: Quota = { perMinute: 1, perDay: 1000 }) {
    const windows = unused();
    count(windows, quota, whole(opened));
    const refusing = count(windows, quota, whole(asked)) as "minute" | "day";
    const state = stateOf(windows, quota, whole(asked));
    const wait = retryAfter(tooManyRequests(state, refusing, whole(asked)));
    return { windows, quota, wait, reset: toldReset(state, whole(asked)) };
  }

  const opened = NOON * 1000;
  test.each([
    [0, 0, 60],
    [0, 999, 60],
    [0, 1000, 59],
    [999, 999, 60],
    [999, 1000, 59],
    [999, 58_999, 2],
    [0, 59_000, 1],
    [999, 59_999, 1],
  ])("opened at %d ms and asked at %d ms it is %d s", (first, second, seconds) => {
    const { wait, reset } = refusedAt(opened + first, opened + second);
    expect(wait).toBe(seconds);
    expect(reset).toBe(NOON + 60);
  });

  test("it is Reset minus the current second, at least 1, and true to the millisecond", () => {
    fc.assert(
      fc.property(fc.nat(86_399_999), fc.nat(59_000), fc.boolean(), (openedAfterMidnight, later, isDaily) => {
        const quota = isDaily ? { perMinute: 5, perDay: 1 } : { perMinute: 1, perDay: 1000 };
        const midnight = at("2026-11-15T00:00:00Z") * 1000;
        const first = midnight + openedAfterMidnight;
        const asked = Math.min(first + later, isDaily ? midnight + 86_399_999 : Number.MAX_VALUE);
        const { windows, wait, reset } = refusedAt(first, asked, quota);
        expect(wait).toBe(reset - whole(asked));
        expect(wait).toBeGreaterThanOrEqual(1);
        expect(count(windows, quota, whole(asked + wait * 1000))).toBeNull();
      }),
    );
  });

  test("with both windows spent shortly before midnight it is long enough for both", () => {
    const quota = { perMinute: 2, perDay: 2 };
    const windows = unused();
    const now = at("2026-11-15T23:59:30Z");
    ask(windows, quota, now, 2);
    const refusing = count(windows, quota, now) as "day";
    const state = stateOf(windows, quota, now);
    const wait = retryAfter(tooManyRequests(state, refusing, now));
    expect(wait).toBe(toldReset(state, now) - now);
    expect(count(windows, quota, now + wait)).toBeNull();
  });
});
