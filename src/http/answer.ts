import { API_VERSION } from "../contract/api.ts";
import { isWorthRetrying } from "../contract/errors.ts";
import type { ErrorBody } from "../contract/shapes.ts";
import type { Failure } from "../core/failure.ts";

/** An answer before it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string | null;
  readonly headers?: Record<string, string> | undefined;
  /** The error's code, for the log. */
  readonly code?: string;
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
  if (status === 413 || status === 408) headers.connection = "close";
  return { status, code, headers, body: JSON.stringify(body) };
}

/** What every API response carries. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "api-version": API_VERSION,
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

/** The response: what all have in common is copied, then come the others, each over those before it. */
export function responseOf(
  { status, body }: Answer,
  requestId: string,
  common: Headers,
  others: readonly (Readonly<Record<string, string>> | undefined)[],
): Response {
  const response = new Response(body, { status, headers: common });
  const { headers } = response;
  headers.set("x-request-id", requestId);
  if (body === null) headers.delete("content-type");
  for (const each of others) for (const name in each) headers.set(name, each[name] as string);
  return response;
}
