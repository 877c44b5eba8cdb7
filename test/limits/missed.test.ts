import { expect, test } from "bun:test";
import { missed } from "../../src/limits/valkey/missed.ts";

const NOON = Date.parse("2026-11-15T12:00:00Z") / 1000;
const [MINUTE, DAY] = [60, 86_400];
const ALL = () => true;

/** How windows stand after a request at this time. */
function stateAt(seconds: number) {
  const window = { limit: 9, remaining: 8 };
  const midnight = (Math.floor(seconds / DAY) + 1) * DAY;
  return { minute: { ...window, resetAt: seconds + MINUTE }, day: { ...window, resetAt: midnight } };
}

test("what was counted on days that are over is not kept for the end of an outage", () => {
  const meanwhile = missed();
  const midnight = NOON + DAY / 2;
  meanwhile.count("noon", DAY, stateAt(NOON));
  meanwhile.count("late", DAY, stateAt(midnight - 1));
  meanwhile.forget(midnight - 1);
  expect(meanwhile.sizeFor(ALL)).toBe(2);
  // The minute of the last request lasts into the new day.
  meanwhile.forget(midnight + 1);
  expect(meanwhile.sizeFor(ALL)).toBe(1);
  meanwhile.count("new", DAY, stateAt(midnight + MINUTE));
  meanwhile.forget(midnight + MINUTE);
  expect(meanwhile.take(9, ALL).windows.map(({ name }) => name)).toEqual(["new"]);
});
