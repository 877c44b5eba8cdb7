import { describe, expect, test } from "bun:test";
import {
  type BanRules,
  type Conduct,
  goodConduct,
  judge,
  levelAt,
  type RefusedWindow,
  recent,
} from "../../src/core/bans.ts";

const NOON = Date.parse("2026-11-15T12:00:00Z");
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const RULES: BanRules = {
  strikes: 20,
  strikeWindowSeconds: 300,
  graceSeconds: 2,
  minutes: [5, 15, 60, 1440],
};

const minuteAt = (resetAt: number): RefusedWindow => ({ isDay: false, resetAt });
const dayAt = (resetAt: number): RefusedWindow => ({ isDay: true, resetAt });

interface Outcome {
  readonly conduct: Conduct;
  readonly strikes: number;
  readonly bannedUntil?: number | undefined;
}

/** Requests that get 429 at these times, one after another, as far as the first ban. */
function refusals(
  times: readonly number[],
  window: RefusedWindow,
  before: Conduct = goodConduct,
  rules: BanRules = RULES,
): Outcome {
  let conduct = before;
  let strikes = 0;
  for (const now of times) {
    const judged = judge(conduct, window, now, rules);
    ({ conduct } = judged);
    if (judged.isStrike) strikes += 1;
    if (judged.bannedUntil !== undefined) return { conduct, strikes, bannedUntil: judged.bannedUntil };
  }
  return { conduct, strikes };
}

/** The first 429 of a window at this time, and this many strikes right after the grace. */
function strike(times: number, now: number, before?: Conduct, window = minuteAt(now + MINUTE)): Outcome {
  return refusals([now, ...new Array<number>(times).fill(now + 2001)], window, before);
}

describe("a strike", () => {
  test.each([
    ["the first 429", 0, false],
    ["one in the same millisecond", 0, false],
    ["one a millisecond before the grace ends", 1999, false],
    ["one exactly 2 seconds after the first", 2000, false],
    ["one a millisecond later", 2001, true],
    ["one in the last second of the window", 59_999, true],
  ])("%s", (_, after, isStrike) => {
    const { strikes } = refusals([NOON, NOON + after], minuteAt(NOON + MINUTE));
    expect(strikes).toBe(isStrike ? 1 : 0);
  });

  test("any number of requests within the grace is forgiven", () => {
    const { strikes, bannedUntil } = refusals(new Array(10_000).fill(NOON + 2000), minuteAt(NOON + MINUTE));
    expect({ strikes, bannedUntil }).toEqual({ strikes: 0, bannedUntil: undefined });
  });

  test("the grace runs from the first 429 and not from the last", () => {
    const everySecond = Array.from({ length: 10 }, (_, second) => NOON + second * SECOND);
    expect(refusals(everySecond, minuteAt(NOON + MINUTE)).strikes).toBe(7);
  });

  test("each window has a grace of its own", () => {
    const { conduct } = strike(3, NOON);
    const later = NOON + 90 * SECOND;
    expect(refusals([later, later + 2000], minuteAt(later + MINUTE), conduct).strikes).toBe(0);
    expect(refusals([later, later + 2001], minuteAt(later + MINUTE), conduct).strikes).toBe(1);
  });

  test("a minute's 429 gives the day's first one a grace too", () => {
    const { conduct } = strike(3, NOON);
    expect(refusals([NOON + 10_000, NOON + 12_000], dayAt(NOON + DAY / 2), conduct).strikes).toBe(0);
  });

  test("a clock that is set back behind the first 429 strikes nobody", () => {
    expect(refusals([NOON, NOON - 1000, NOON - DAY], minuteAt(NOON + MINUTE)).strikes).toBe(0);
  });

  test.each([
    [299_999, 1],
    [300_000, 0],
    [300_001, 0],
  ])("after %d ms it counts %d times", (after, counted) => {
    expect(recent([NOON], NOON + after, RULES)).toHaveLength(counted);
  });
});

describe("a ban", () => {
  test("comes with the 20th strike and not with the 19th", () => {
    expect(strike(19, NOON).bannedUntil).toBeUndefined();
    expect(strike(19, NOON).conduct.strikes).toHaveLength(19);
    expect(strike(20, NOON).bannedUntil).toBe(NOON + 2001 + 5 * MINUTE);
  });

  test("counts only strikes of the last five minutes", () => {
    const window = minuteAt(NOON + DAY);
    const every = (seconds: number) =>
      Array.from({ length: 500 }, (_, index) => NOON + 3000 + index * seconds * SECOND);
    // 20 in 19 steps of 15 s span 285 s; in steps of 16 s they span 304 s.
    expect(refusals([NOON, ...every(15)], window).strikes).toBe(20);
    const slower = refusals([NOON, ...every(16)], window);
    expect({ strikes: slower.strikes, bannedUntil: slower.bannedUntil }).toEqual({
      strikes: 500,
      bannedUntil: undefined,
    });
  });

  test("adds up strikes of several windows", () => {
    let { conduct } = strike(10, NOON);
    ({ conduct } = strike(9, NOON + 70 * SECOND, conduct));
    expect(conduct.strikes).toHaveLength(19);
    expect(strike(1, NOON + 140 * SECOND, conduct).bannedUntil).toBe(NOON + 140 * SECOND + 2001 + 5 * MINUTE);
  });

  test("clears the strikes", () => {
    expect(strike(20, NOON).conduct.strikes).toEqual([]);
  });

  test("is longer each time, 5, 15, 60 and 1,440 minutes, and the last stays", () => {
    let conduct: Conduct = goodConduct;
    let now = NOON;
    const lengths: number[] = [];
    for (let ban = 0; ban < 6; ban++) {
      const outcome = strike(20, now, conduct);
      const until = outcome.bannedUntil as number;
      lengths.push((until - now - 2001) / MINUTE);
      ({ conduct } = outcome);
      now = until + SECOND;
    }
    expect(lengths).toEqual([5, 15, 60, 1440, 1440, 1440]);
    expect(conduct.level).toBe(6);
  });

  test.each([
    ["with hours to go, as long as any", "2026-11-15T12:00:00Z", 0, 5 * MINUTE],
    ["with three minutes to go, until midnight", "2026-11-15T23:56:57.999Z", 0, 3 * MINUTE],
    ["at the highest level, until midnight", "2026-11-15T11:59:57.999Z", 3, 12 * 60 * MINUTE],
  ])("earned on the daily quota %s", (_, first, level, length) => {
    const midnight = Date.parse("2026-11-16T00:00:00Z");
    const now = Date.parse(first);
    const before = { ...goodConduct, level, goodSince: now };
    const { bannedUntil } = strike(20, now, before, dayAt(midnight));
    expect(bannedUntil).toBe(now + 2001 + length);
    expect(bannedUntil).toBeLessThanOrEqual(midnight);
  });

  test("earned on the minute goes past midnight", () => {
    const now = Date.parse("2026-11-15T23:59:30Z");
    expect(strike(20, now).bannedUntil).toBe(now + 2001 + 5 * MINUTE);
  });

  test("other numbers make another rule", () => {
    const rules: BanRules = { strikes: 3, strikeWindowSeconds: 10, graceSeconds: 0, minutes: [1, 7] };
    const window = minuteAt(NOON + MINUTE);
    const at = (...after: number[]) => after.map((milliseconds) => NOON + milliseconds);
    expect(refusals(at(0, 0, 0, 0, 0), window, goodConduct, rules).strikes).toBe(0);
    expect(refusals(at(0, 1, 2, 3), window, goodConduct, rules).bannedUntil).toBe(NOON + 3 + MINUTE);
    expect(refusals(at(0, 1, 2, 10_001), window, goodConduct, rules).bannedUntil).toBeUndefined();
    const second = refusals(at(0, 1, 2, 3), window, { ...goodConduct, level: 5, goodSince: NOON }, rules);
    expect(second.bannedUntil).toBe(NOON + 3 + 7 * MINUTE);
  });

  test("a single strike bans where the rule says so", () => {
    const rules = { ...RULES, strikes: 1 };
    expect(refusals([NOON, NOON + 2001], minuteAt(NOON + MINUTE), goodConduct, rules).bannedUntil).toBe(
      NOON + 2001 + 5 * MINUTE,
    );
  });
});

describe("good conduct", () => {
  const banned = (level: number): Conduct => ({ ...goodConduct, level, goodSince: NOON });

  test.each([
    [3, 0, 3],
    [3, DAY - 1, 3],
    [3, DAY, 2],
    [3, 2 * DAY - 1, 2],
    [3, 2 * DAY, 1],
    [3, 3 * DAY, 0],
    [3, 30 * DAY, 0],
    [0, 30 * DAY, 0],
    [3, -DAY, 3],
  ])("of level %d is after %d ms level %d", (level, after, left) => {
    expect(levelAt(banned(level), NOON + after)).toBe(left);
  });

  test("begins when the ban ends, not when it began", () => {
    const { conduct, bannedUntil } = strike(20, NOON, { ...goodConduct, level: 3, goodSince: NOON });
    const end = bannedUntil as number;
    expect(end).toBe(NOON + 2001 + DAY);
    expect(levelAt(conduct, end + DAY - 1)).toBe(4);
    expect(levelAt(conduct, end + DAY)).toBe(3);
  });

  test("is stopped by a strike, which takes nothing of what was gained", () => {
    const later = NOON + 2 * DAY + DAY / 2;
    const { conduct } = strike(1, later, banned(3));
    const struckAt = later + 2001;
    expect(levelAt(conduct, struckAt)).toBe(1);
    expect(levelAt(conduct, struckAt + DAY - 1)).toBe(1);
    expect(levelAt(conduct, struckAt + DAY)).toBe(0);
  });

  test("is not stopped by a 429 that is forgiven", () => {
    const { conduct } = refusals([NOON + DAY - 1000], minuteAt(NOON + DAY + MINUTE), banned(2));
    expect(levelAt(conduct, NOON + DAY)).toBe(1);
  });

  test("makes the next ban shorter", () => {
    const nextBan = (goodDays: number) => {
      const now = NOON + goodDays * DAY;
      return ((strike(20, now, banned(2)).bannedUntil as number) - now - 2001) / MINUTE;
    };
    expect([nextBan(0), nextBan(1), nextBan(2), nextBan(9)]).toEqual([60, 15, 5, 5]);
  });
});
