import { DAY_MS } from "../contract/days.ts";
import type { FailureReason } from "./webhook-ports.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How long after a try the next one follows: the schedule that Standard Webhooks recommends, over three days. */
export const RETRY_AFTER_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Tries are later by chance, by up to this part, so that many that failed together do not come back together. */
const JITTER = 0.2;
/** A receiver may ask for more time, but not for ever. */
const LONGEST_WAIT_MS = DAY_MS;
/** A webhook that has failed for so long without a success is disabled. */
export const FAILING_MS = 5 * DAY_MS;

/** When a delivery is tried next after its n-th try failed, or `null` if that was the last; `chance` is from 0 to 1. */
export function nextAttempt(
  attempt: number,
  now: number,
  chance: number,
  retryAfterSeconds: number | null = null,
): number | null {
  const pause = RETRY_AFTER_MS[attempt - 1];
  if (pause === undefined) return null;
  const asked = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, LONGEST_WAIT_MS);
  return now + Math.max(Math.round(pause * (1 + JITTER * chance)), asked);
}

/** Why an answer of this status is no success; `null` if it is one. */
export function reasonOf(status: number): FailureReason | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return "gone";
  if (status >= 300 && status < 400) return "redirect";
  if (status >= 400 && status < 500) return "status_4xx";
  return status >= 500 && status < 600 ? "status_5xx" : "invalid_response";
}
