import { API_VERSION } from "../contract/api.ts";
import { isWorthRetrying } from "../contract/owed.ts";
import type { ErrorBody } from "../contract/shapes.ts";
import type { Failure } from "../core/failure.ts";
import { linesOf } from "./wire/reply.ts";
import type { Stream } from "./wire/stream.ts";

/** An answer before it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string | null;
  /** Its own headers, each with its line end. */
  readonly headerLines: string;
  /** The lines that say how the limits stand, where that is not as they do. */
  readonly rateLines?: string;
  /** The error's code, for the log. */
  readonly code?: string;
  /** What follows in the place of a body, for as long as it lasts. */
  readonly stream?: Stream;
}

const RETRY_AFTER_SECONDS = "1";

/** The Error object, with what a retrying client goes by. */
export function refusal(failure: Failure): Answer {
  const { code, status, message, details } = failure;
  const body: ErrorBody = details
    ? { code, message, status, details: [...details] }
    : { code, message, status };
  const headers: Record<string, string> = {};
  if (isWorthRetrying(code)) headers["retry-after"] = RETRY_AFTER_SECONDS;
  else headers["x-should-retry"] = "false";
  if (failure.retryAfterSeconds !== undefined) headers["retry-after"] = String(failure.retryAfterSeconds);
  if (status === 401) headers["www-authenticate"] = 'Bearer realm="petstore"';
  return { status, code, headerLines: linesOf(headers), body: JSON.stringify(body) };
}

/** What every API response carries. */
export const commonLines = linesOf({
  "api-version": API_VERSION,
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
});

export const jsonLine = linesOf({ "content-type": "application/json" });
