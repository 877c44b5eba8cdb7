import { DAY_SECONDS } from "../contract/days.ts";
import type { Quota } from "../contract/plans.ts";

export const MINUTE_SECONDS = 60;

/** A day this far ahead was counted by a clock that was wrong: today is begun instead of waiting for it. */
export const DAYS_OF_A_WRONG_CLOCK = 2;

/** A client's two windows; counted in place, so that a request allocates nothing. */
export interface Windows {
  /** The whole second in which the minute opened; 0 if none did yet. */
  minuteOpenedAt: number;
  minuteCount: number;
  /** Days since 1970, UTC. */
  day: number;
  dayCount: number;
}

/** Which limit refuses a request, if one does. */
export type Refusing = "minute" | "day" | null;

/**
 * Checks both windows and counts the request in both, or in neither if one of them is spent.
 * A clock that is set back opens at most one more minute, and another day only if it is set back by two days or more.
 */
export function count(windows: Windows, { perMinute, perDay }: Quota, nowSeconds: number): Refusing {
  roll(windows, nowSeconds);
  if (windows.dayCount >= perDay) return "day";
  if (windows.minuteCount >= perMinute) return "minute";
  if (windows.minuteCount === 0) windows.minuteOpenedAt = nowSeconds;
  windows.minuteCount += 1;
  windows.dayCount += 1;
  return null;
}

/** Leaves windows that are over behind. */
export function roll(windows: Windows, nowSeconds: number): void {
  const { minuteOpenedAt } = windows;
  if (nowSeconds >= minuteOpenedAt + MINUTE_SECONDS || nowSeconds < minuteOpenedAt) windows.minuteCount = 0;
  const day = Math.floor(nowSeconds / DAY_SECONDS);
  if (day > windows.day || day <= windows.day - DAYS_OF_A_WRONG_CLOCK) {
    windows.day = day;
    windows.dayCount = 0;
  }
}

/** What a window tells: times are whole seconds since 1970. */
export interface WindowState {
  limit: number;
  remaining: number;
  resetAt: number;
}

export interface LimitState {
  readonly minute: WindowState;
  readonly day: WindowState;
}

/** Both windows as the headers tell them; they must have been rolled. A minute not yet open would last from now. */
export function stateOf(windows: Windows, { perMinute, perDay }: Quota, nowSeconds: number): LimitState {
  const opened = windows.minuteCount === 0 ? nowSeconds : windows.minuteOpenedAt;
  return {
    minute: {
      limit: perMinute,
      remaining: Math.max(0, perMinute - windows.minuteCount),
      resetAt: opened + MINUTE_SECONDS,
    },
    day: {
      limit: perDay,
      remaining: Math.max(0, perDay - windows.dayCount),
      resetAt: (windows.day + 1) * DAY_SECONDS,
    },
  };
}

/** The window that a caller meets first: fewest remaining, and of equals the one that resets later. */
export function tighter({ minute, day }: LimitState): WindowState {
  if (minute.remaining !== day.remaining) return minute.remaining < day.remaining ? minute : day;
  return day.resetAt >= minute.resetAt ? day : minute;
}
