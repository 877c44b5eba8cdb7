import type { Answer } from "./answer.ts";
import { linesOf } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

/** The headers that a browser's program may read, beyond the few that it always may. */
const EXPOSED = [
  "API-Version",
  "Deprecation",
  "ETag",
  "Idempotency-Replayed",
  "Link",
  "Location",
  "Preference-Applied",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Sunset",
  "X-API-Stability",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
  "X-Should-Retry",
].join(", ");
const REQUEST_HEADERS =
  "Authorization, X-API-Key, Content-Type, Idempotency-Key, If-Match, If-None-Match, API-Version, X-Request-Id, Prefer, Last-Event-ID, traceparent, tracestate";
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** What an answer can repeat in a header. */
const visible = /^[\x21-\x7e]+$/;
const PREFLIGHT_SECONDS = "7200";
const varyLine = linesOf({ vary: "Origin" });

export interface Cors {
  /** The answer to a preflight, which costs the caller nothing; `null` if the request is none. */
  preflight(request: Incoming): Answer | null;
  /** What lets this origin's pages read an answer. */
  headerLines(request: Incoming): string;
}

export function cors(origins: readonly string[]): Cors {
  const allowed = (request: Incoming): string | null => {
    if (origins.length === 0) return null;
    const origin = request.headers.get("origin");
    if (origin === null || !visible.test(origin)) return null;
    return origins.includes("*") || origins.includes(origin) ? origin : null;
  };
  return {
    preflight(request) {
      if (request.method !== "OPTIONS" || request.headers.get("access-control-request-method") === null)
        return null;
      const origin = allowed(request);
      if (origin === null)
        return origins.length === 0 ? null : { status: 204, body: null, headerLines: varyLine };
      const headerLines = linesOf({
        "access-control-allow-origin": origin,
        "access-control-allow-methods": METHODS,
        "access-control-allow-headers": REQUEST_HEADERS,
        "access-control-max-age": PREFLIGHT_SECONDS,
        vary: "Origin",
      });
      return { status: 204, body: null, headerLines };
    },
    headerLines(request) {
      const origin = allowed(request);
      if (origin !== null)
        return linesOf({
          "access-control-allow-origin": origin,
          "access-control-expose-headers": EXPOSED,
          vary: "Origin",
        });
      return origins.length === 0 ? "" : varyLine;
    },
  };
}
