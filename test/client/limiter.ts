import { refuse, reply, type Step } from "./scripted.ts";

export interface Limiter {
  /** Counts a request at a moment of the server's clock: its status and headers. */
  admit(now: number): { status: 200 | 429; headers: Record<string, string> };
  /** The same for a scripted server; each answer comes a little sooner or later than its neighbours. */
  readonly step: Step;
  /** Requests that were refused. */
  refused: number;
  /** Requests that others sent with the same key. */
  others(count: number): void;
}

/** Two fixed windows as the server has them; the minute opens at the whole second of its first request. */
export function limiter(perMinute: number, perDay = 100_000): Limiter {
  let openedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  let today = 0;
  const limits: Limiter = {
    refused: 0,
    others(sent) {
      count += sent;
    },
    admit(now) {
      const seconds = Math.floor(now / 1000);
      if (seconds >= openedAt + 60) {
        openedAt = seconds;
        count = 0;
      }
      const isRefused = count >= perMinute || today >= perDay;
      if (isRefused) limits.refused += 1;
      else {
        count += 1;
        today += 1;
      }
      const reset = openedAt + 60 - seconds;
      const headers: Record<string, string> = {
        "ratelimit-policy": `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
        ratelimit: `"minute";r=${Math.max(0, perMinute - count)};t=${reset}, "day";r=${perDay - today};t=${86_400 - (seconds % 86_400)}`,
      };
      if (isRefused) headers["retry-after"] = String(reset);
      return { status: isRefused ? 429 : 200, headers };
    },
    step(exchange) {
      const { status, headers } = limits.admit(exchange.clock.now());
      const answer = status === 429 ? refuse(429, "rate_limit_exceeded", headers) : reply(200, [], headers);
      setTimeout(() => answer(exchange), Math.random() * 5);
    },
  };
  return limits;
}
