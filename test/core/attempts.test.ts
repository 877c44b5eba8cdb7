import { expect, test } from "bun:test";
import { nextAttempt, reasonOf } from "../../src/core/attempts.ts";

const NOW = 1_000_000;
const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
/** After the first try, the second, and so on. */
const schedule = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];

for (const [index, pause] of schedule.entries()) {
  test(`try ${index + 2} follows after ${pause / SECOND} s, and by chance up to a fifth later`, () => {
    expect(nextAttempt(index + 1, NOW, 0)).toBe(NOW + pause);
    expect(nextAttempt(index + 1, NOW, 0.5)).toBe(NOW + pause + pause / 10);
    expect(nextAttempt(index + 1, NOW, 1)).toBe(NOW + pause + pause / 5);
  });
}

test("after the tenth try there is none", () => {
  for (const attempt of [10, 11, 100]) expect(nextAttempt(attempt, NOW, 0, 5)).toBeNull();
});

test("a receiver that asks for more time than the schedule gives gets it, a day at the most", () => {
  expect(nextAttempt(1, NOW, 1, 60)).toBe(NOW + 60 * SECOND);
  expect(nextAttempt(2, NOW, 1, 60)).toBe(NOW + 6 * MINUTE);
  expect(nextAttempt(1, NOW, 0, 1_000_000_000)).toBe(NOW + 24 * HOUR);
});

test("only 2xx is a success, and each other status has its reason", () => {
  const reasons = [
    200, 201, 204, 299, 300, 301, 399, 400, 404, 409, 410, 429, 499, 500, 503, 599, 0, 199, 600,
  ];
  expect(reasons.map(reasonOf)).toEqual([
    ...new Array(4).fill(null),
    ...new Array(3).fill("redirect"),
    ...new Array(3).fill("status_4xx"),
    "gone",
    ...new Array(2).fill("status_4xx"),
    ...new Array(3).fill("status_5xx"),
    ...new Array(3).fill("invalid_response"),
  ]);
});
