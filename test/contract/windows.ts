import { expect } from "bun:test";
import type { Reply } from "../harness.ts";

const DAY_SECONDS = 86_400;

interface Window {
  readonly limit: number;
  readonly left: number;
  readonly resetAt: number;
}

/** Whoever pays for requests, as the documentation tells it: a second book, kept by the tests. */
export class Payer {
  private minuteEndsAt = 0;
  private minuteCount = 0;
  private day = 0;
  private dayCount = 0;

  constructor(
    private readonly perMinute: number,
    private readonly perDay: number,
  ) {}

  /** Books what a request cost at this time. */
  pays(requests: number, now: number): void {
    this.turn(now);
    if (requests > 0 && this.minuteCount === 0) this.minuteEndsAt = Math.floor(now / 1000) + 60;
    this.minuteCount += requests;
    this.dayCount += requests;
  }

  /** The five headers of an answer at this time. */
  headers(now: number): Record<string, string> {
    this.turn(now);
    const seconds = Math.floor(now / 1000);
    const minute: Window = {
      limit: this.perMinute,
      left: this.perMinute - this.minuteCount,
      resetAt: this.minuteCount === 0 ? seconds + 60 : this.minuteEndsAt,
    };
    const day: Window = {
      limit: this.perDay,
      left: this.perDay - this.dayCount,
      resetAt: (this.day + 1) * DAY_SECONDS,
    };
    const [tighter] = [minute, day].sort((a, b) => a.left - b.left || b.resetAt - a.resetAt) as [Window];
    return {
      "x-ratelimit-limit": String(tighter.limit),
      "x-ratelimit-remaining": String(tighter.left),
      "x-ratelimit-reset": String(tighter.resetAt),
      "ratelimit-policy": `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`,
      ratelimit: `"minute";r=${minute.left};t=${minute.resetAt - seconds}, "day";r=${day.left};t=${day.resetAt - seconds}`,
    };
  }

  private turn(now: number): void {
    const seconds = Math.floor(now / 1000);
    if (seconds >= this.minuteEndsAt) this.minuteCount = 0;
    const day = Math.floor(seconds / DAY_SECONDS);
    if (day > this.day) this.dayCount = 0;
    this.day = Math.max(this.day, day);
  }
}

/** The five headers that an answer has. */
export function ratesOf({ headers }: Reply): Record<string, string | null> {
  const names = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit-policy",
    "ratelimit",
  ];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

/** Proves that an answer cost its payer exactly this, and says so. */
export function expectCost(reply: Reply, payer: Payer, requests: number, now: number): void {
  payer.pays(requests, now);
  expect(ratesOf(reply)).toEqual(payer.headers(now));
}
