import { expect, test } from "bun:test";
import { sharedTimeLeft, timeLeft } from "../../src/store/postgres/times.ts";

const limits = (lockMs: number, statementMs: number) =>
  `set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`;

test("a write that has waited long for its connection has its statements ended before its own deadline", () => {
  expect([3500, 2001].map(timeLeft)).toEqual([undefined, undefined]);
  expect([1000, 100, 0, -5].map(timeLeft)).toEqual([
    limits(900, 900),
    limits(90, 90),
    limits(1, 1),
    limits(1, 1),
  ]);
});

test("those that share a transaction wait less for a lock, and leave each time to go on by itself", () => {
  expect([3500, 900, 300, 0].map(sharedTimeLeft)).toEqual([
    limits(200, 1166),
    limits(200, 300),
    limits(100, 100),
    limits(1, 1),
  ]);
});
