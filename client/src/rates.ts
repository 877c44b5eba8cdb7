/** No wait is longer in earnest, and every moment that it leads to is a date. */
const LONGEST_SECONDS = 366 * 24 * 60 * 60;

/** How a rate limit stood when an answer was given. */
export interface RateLimit {
  /** Requests that the tighter window allows. */
  readonly limit: number;
  /** Requests that are left of it. */
  readonly remaining: number;
  /** Seconds from the answer to the window's end. */
  readonly resetSeconds: number;
  /** Every window that the server tells of, such as `minute` and `day`. */
  readonly windows: readonly RateWindow[];
}

/** One window of a rate limit. */
export interface RateWindow {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** What the headers say of the limit; nothing if they are missing, or hidden from a page of another origin. @internal */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const limits = new Map(
    items(headers, "ratelimit-policy").map(([name, about]) => [name, numberAt("q", about)]),
  );
  let windows = items(headers, "ratelimit").map(
    ([name, about]): RateWindow => ({
      name,
      limit: limits.get(name) ?? 0,
      remaining: numberAt("r", about),
      resetSeconds: waitable(numberAt("t", about)),
    }),
  );
  const remaining = headers.get("x-ratelimit-remaining");
  if (windows.length === 0 && remaining !== null) {
    const limit = Number(headers.get("x-ratelimit-limit"));
    const resetSeconds = waitable(Number(headers.get("x-ratelimit-reset")) - answeredAt(headers));
    windows = [{ name: "limit", limit, remaining: Number(remaining), resetSeconds }];
  }
  const [tightest] = [...windows].sort(
    (a, b) => a.remaining - b.remaining || b.resetSeconds - a.resetSeconds,
  );
  return tightest && { ...tightest, windows };
}

/** `Retry-After` in seconds, whichever of its two forms it has. @internal */
export function retryAfterSecondsOf(headers: Headers): number | undefined {
  const given = headers.get("retry-after");
  if (given === null) return undefined;
  const seconds = /^\d+$/.test(given) ? Number(given) : Date.parse(given) / 1000 - answeredAt(headers);
  return Number.isNaN(seconds) ? undefined : waitable(seconds);
}

function waitable(seconds: number): number {
  return Math.min(Math.max(0, seconds), LONGEST_SECONDS);
}

/** The server's own time, in seconds, so that a wrong clock on this side does not matter. */
function answeredAt(headers: Headers): number {
  const date = Date.parse(headers.get("date") ?? "");
  return Math.floor((Number.isNaN(date) ? Date.now() : date) / 1000);
}

/** The named items of a structured header. */
function items(headers: Headers, name: string): [name: string, about: string][] {
  return Array.from((headers.get(name) ?? "").matchAll(/"([^"]*)"([^,]*)/g), ([, item = "", about = ""]) => [
    item,
    about,
  ]);
}

function numberAt(key: string, about: string): number {
  return Number(new RegExp(`;\\s*${key}=(\\d+)`).exec(about)?.[1] ?? 0);
}
