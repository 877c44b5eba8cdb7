import { Failure } from "../core/failure.ts";

/** For a write that may have been done: the answer to its commit never came. */
export const UNKNOWN_OUTCOME =
  "The outcome of this write is unknown. Repeat it with the same Idempotency-Key, or read the record to see.";

/** More work waits for the database than it can do in time. */
export function tooManyWait(what: "writes" | "requests"): Failure {
  return new Failure("overloaded", `Too many ${what} are waiting; this one was not done. Repeat it later.`);
}
