// Requests against windows at whole seconds, as the tests of the rules count them.
import type { Quota } from "../../src/contract/plans.ts";
import { count, type Windows } from "../../src/core/windows.ts";

export const NOON = at("2026-11-15T12:00:00Z");

/** Whole seconds since 1970. */
export function at(time: string): number {
  return Date.parse(time) / 1000;
}

export function unused(): Windows {
  return { minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 0 };
}

/** As many requests at this second: how many were admitted, and what refused the last of the others. */
export function ask(windows: Windows, quota: Quota, seconds: number, times: number) {
  let admitted = 0;
  let refusedBy: "minute" | "day" | null = null;
  for (let time = 0; time < times; time++) {
    const refusing = count(windows, quota, seconds);
    if (refusing === null) admitted += 1;
    else refusedBy = refusing;
  }
  return { admitted, refusedBy };
}
