import { DAY_SECONDS } from "../contract/days.ts";
import { some } from "../core/some.ts";
import { type LimitState, MINUTE_SECONDS, tighter } from "../core/windows.ts";
import { type Answer, commonLines } from "./answer.ts";
import { inOnePiece } from "./one-piece.ts";
import { linesOf } from "./wire/reply.ts";

/** Quotas whose lines are held; with more of them, all are made anew. */
const HELD_QUOTAS = 10_000;
/** By requests a minute, then a day. */
const held = new Map<number, Map<number, string>>();
let heldQuotas = 0;

/** What all answers to a quota's holder carry: made once. */
export function quotaLines({ minute, day }: LimitState): string {
  return held.get(minute.limit)?.get(day.limit) ?? newQuotaLines(minute.limit, day.limit);
}

function newQuotaLines(perMinute: number, perDay: number): string {
  const policy = `"minute";q=${perMinute};w=${MINUTE_SECONDS}, "day";q=${perDay};w=${DAY_SECONDS}`;
  const lines = inOnePiece(`${commonLines}ratelimit-policy: ${policy}\r\n`);
  if (++heldQuotas > HELD_QUOTAS) {
    held.clear();
    heldQuotas = 1;
  }
  const byDay = held.get(perMinute) ?? new Map<number, string>();
  held.set(perMinute, byDay.set(perDay, lines));
  return lines;
}

/** How the windows stand: one of them, the tighter, and both in the IETF draft's form. */
export function rateLines(
  state: LimitState,
  nowSeconds: number,
  { limit, remaining, resetAt } = tighter(state),
): string {
  const { minute, day } = state;
  const minuteWait = minute.resetAt - nowSeconds;
  const dayWait = day.resetAt - nowSeconds;
  if (limit !== frame.limit || resetAt !== frame.resetAt || dayWait !== frame.dayWait)
    frame = rateFrame(limit, resetAt, dayWait);
  const { head, middle, end } = frame;
  return `${head}${remaining}${middle}${minute.remaining};t=${minuteWait}, "day";r=${day.remaining}${end}`;
}

/** What the lines of one second have in common, of one plan and mostly of all its clients. */
function rateFrame(limit: number, resetAt: number, dayWait: number) {
  return {
    limit,
    resetAt,
    dayWait,
    head: inOnePiece(`x-ratelimit-limit: ${limit}\r\nx-ratelimit-remaining: `),
    middle: inOnePiece(`\r\nx-ratelimit-reset: ${resetAt}\r\nratelimit: "minute";r=`),
    end: inOnePiece(`;t=${dayWait}\r\n`),
  };
}

/** The last one. */
let frame = rateFrame(0, 0, 0);

const notAgainLine = linesOf({ "x-should-retry": "false" });

/** 429: put together from pieces, because a refusal must cost less than an answer. */
export function tooManyRequests(
  { minute, day }: LimitState,
  window: "minute" | "day",
  nowSeconds: number,
  advice = "Repeated requests before that lead to a ban",
): Answer {
  const isDay = window === "day";
  const { limit } = isDay ? day : minute;
  // With both spent the day may end first: then it is the minute that has to be waited for.
  const resetAt =
    isDay && minute.remaining === 0 ? Math.max(minute.resetAt, day.resetAt) : (isDay ? day : minute).resetAt;
  const wait = Math.max(1, resetAt - nowSeconds);
  const code = isDay ? "daily_quota_exceeded" : "rate_limit_exceeded";
  const what = isDay ? "today (UTC)" : "this minute";
  const all = `${limit === 1 ? "The" : "All"} ${some(limit, "request")}`;
  return {
    status: 429,
    code,
    headerLines: `retry-after: ${wait}\r\n${isDay ? notAgainLine : ""}`,
    body: `{"code":"${code}","message":"${all} of ${what} ${limit === 1 ? "is" : "are"} spent. Wait ${wait} s. ${advice}.","status":429}`,
  };
}

/** 403 while a key is banned; asking meanwhile does not lengthen it. */
export function banned(untilMilliseconds: number, now: number): Answer {
  const wait = Math.max(1, Math.ceil((untilMilliseconds - now) / 1000));
  const until = new Date(untilMilliseconds).toISOString();
  return {
    status: 403,
    code: "key_banned",
    headerLines: `retry-after: ${wait}\r\n${notAgainLine}`,
    body: `{"code":"key_banned","message":"This key is banned until ${until}. Send nothing for ${wait} s; GET /account/limits works meanwhile.","status":403}`,
  };
}
