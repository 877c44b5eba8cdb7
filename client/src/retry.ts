import { ApiError, ConnectionError, type PetstoreError } from "./errors.ts";

const FIRST_MS = 500;
const LONGEST_MS = 16_000;

/** What decides how often and when a call is tried again. */
export interface RetryRules {
  readonly maxRetries: number;
  readonly maxRetryWaitMs: number;
  random(): number;
}

/**
 * How long to wait after so many tries; nothing if another would be of no use, too many, or too far away.
 * Exponential back-off with full jitter, on top of what the server asks for and so never before it.
 */
export function retryWaitMs(error: PetstoreError, tries: number, rules: RetryRules): number | undefined {
  const { maxRetries, maxRetryWaitMs, random } = rules;
  if (!isWorthRetrying(error) || tries > maxRetries) return undefined;
  const leastMs = (error.retryAfterSeconds ?? 0) * 1000;
  if (leastMs > maxRetryWaitMs) {
    const at = new Date(Date.now() + leastMs).toISOString();
    error.message += ` Not tried again: ${leastMs / 1000} s are longer than maxRetryWaitMs (${maxRetryWaitMs / 1000} s). Come back at ${at}.`;
    return undefined;
  }
  const backOffMs = Math.min(FIRST_MS * 2 ** (tries - 1), LONGEST_MS) * random();
  return Math.min(leastMs + backOffMs, maxRetryWaitMs);
}

/** Whether the same request can succeed later; the server's own word comes first. */
function isWorthRetrying(error: PetstoreError): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  const advice = error.headers.get("x-should-retry");
  if (advice === "true" || advice === "false") return advice === "true";
  const { status, code } = error;
  if (code === "idempotency_in_progress" || code === "too_many_streams") return true;
  return status === 408 || status === 429 || status >= 500;
}
