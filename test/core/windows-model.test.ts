import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Quota } from "../../src/contract/plans.ts";
import { count, type LimitState, stateOf } from "../../src/core/windows.ts";
import { seed } from "../seed.ts";
import { at, NOON, unused } from "./asking.ts";

describe("against a naive model", () => {
  /** Every admitted second is kept, and each question is answered by walking through all of them. */
  function model({ perMinute, perDay }: Quota) {
    const admitted: number[] = [];
    const utcDay = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
    const minuteAt = (now: number) => {
      let opened: number | null = null;
      let inside = 0;
      for (const second of admitted) {
        if (opened === null || second >= opened + 60) {
          opened = second;
          inside = 0;
        }
        inside += 1;
      }
      return opened === null || now >= opened + 60
        ? { used: 0, resetAt: now + 60 }
        : { used: inside, resetAt: opened + 60 };
    };
    const usedOn = (day: string) => admitted.filter((second) => utcDay(second) === day).length;
    return {
      count(now: number) {
        if (usedOn(utcDay(now)) >= perDay) return "day";
        if (minuteAt(now).used >= perMinute) return "minute";
        admitted.push(now);
        return null;
      },
      state(now: number): LimitState {
        const { used, resetAt } = minuteAt(now);
        const nextDay = Date.parse(`${utcDay(now)}T00:00:00Z`) / 1000 + 86_400;
        return {
          minute: { limit: perMinute, remaining: perMinute - used, resetAt },
          day: { limit: perDay, remaining: perDay - usedOn(utcDay(now)), resetAt: nextDay },
        };
      },
    };
  }

  const steps = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.nat(3) },
      { weight: 3, arbitrary: fc.nat(70) },
      { weight: 1, arbitrary: fc.nat(100_000) },
    ),
    { minLength: 1, maxLength: 150 },
  );
  const quotas = fc.record({
    perMinute: fc.integer({ min: 1, max: 8 }),
    perDay: fc.integer({ min: 1, max: 30 }),
  });

  test("every answer, what is left and when it resets are the same at any times", () => {
    fc.assert(
      fc.property(quotas, steps, fc.nat(86_400), (quota, times, start) => {
        const windows = unused();
        const naive = model(quota);
        let now = at("2028-02-28T00:00:00Z") + start;
        for (const step of times) {
          now += step;
          expect(count(windows, quota, now)).toBe(naive.count(now));
          expect(stateOf(windows, quota, now)).toEqual(naive.state(now));
        }
      }),
      { numRuns: 300, seed },
    );
  });

  test("no window ever lets one request more through than its limit", () => {
    fc.assert(
      fc.property(quotas, steps, (quota, times) => {
        const windows = unused();
        const perWindow = new Map<string, number>();
        let now = NOON;
        for (const step of times) {
          now += step;
          if (count(windows, quota, now) !== null) continue;
          const { minute, day } = stateOf(windows, quota, now);
          for (const name of [`minute ${minute.resetAt}`, `day ${day.resetAt}`])
            perWindow.set(name, (perWindow.get(name) ?? 0) + 1);
        }
        for (const [name, requests] of perWindow)
          expect(requests).toBeLessThanOrEqual(name.startsWith("minute") ? quota.perMinute : quota.perDay);
      }),
      { numRuns: 300, seed },
    );
  });
});
