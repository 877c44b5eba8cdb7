import pg from "pg";
import { Conflict, Failure, Unavailable } from "../../core/failure.ts";
import { Lost } from "./wire.ts";

/** What another transaction caused: the same work, done anew, sees what that one did. */
const CONFLICTS: ReadonlySet<string> = new Set([
  "40001", // serialization failure
  "40P01", // deadlock
  "23503", // a row that was referred to has gone, or one that was to go is referred to
]);

/** Trouble of the server and not ours, by class or in full. */
const TROUBLES: readonly string[] = [
  "08", // connection
  "25P03", // idle in a transaction for too long
  "28", // refused to let us in
  "3D", // no such database
  "42501", // a right that we were not given
  "53", // out of room, memory or connections
  "55P03", // waited too long for a lock
  "57", // stopping, starting, or a statement that took too long
  "58", // its own system
  "XX", // damage
];

/** No right to make tables: to none of a schema, or to no schema at all. */
const FORBIDDEN: ReadonlySet<string> = new Set(["42501", "3F000"]);

/** What a prepared statement meets on a connection that is not what it was. */
const STALE: ReadonlySet<string> = new Set(["26000", "0A000"]);

/** Two requests with one idempotency key at once: the second finds the first one's answer. */
const KEPT_ANSWER = "kept_answers_pkey";

/** Whether the same work is worth doing anew, at once. */
export function isConflict(error: unknown): boolean {
  if (error instanceof Conflict) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  const { code = "", constraint } = error;
  return CONFLICTS.has(code) || (code === "23505" && constraint === KEPT_ANSWER);
}

/** Whether another held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/** Whether the server has as many connections as it takes. */
export function isFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "53300";
}

/** Whether the server lets us make or change no tables. */
export function isForbidden(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && FORBIDDEN.has(error.code ?? "");
}

/** Whether the connection ended, and with it what was under way. */
export function isLoss(error: unknown): boolean {
  return error instanceof Lost || (error instanceof pg.DatabaseError && error.severity === "FATAL");
}

/** Whether what was prepared on the connection holds no more. */
function isStale(error: unknown): boolean {
  return error instanceof pg.DatabaseError && STALE.has(error.code ?? "");
}

/** The server is none that can be written to. */
export class ReadOnly extends Error {
  constructor() {
    super("The server takes no writes: it is a standby, or default_transaction_read_only is on.");
    this.name = "ReadOnly";
  }
}

/** Whether the server takes no writes; what it refused so was not done. Behind the same address there may be another by now. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof ReadOnly || (error instanceof pg.DatabaseError && error.code === "25006");
}

/** Whether the connection is of no more use, though the server may be well. */
export function isDeadEnd(error: unknown): boolean {
  return isLoss(error) || isOutdated(error);
}

/** Whether the same goes for all that were opened before. */
export function isOutdated(error: unknown): boolean {
  return isStale(error) || isReadOnly(error);
}

/** What the caller is to be told: the server's trouble is `Unavailable`, what is left is a fault of ours. */
export function classified(error: unknown): unknown {
  if (error instanceof Failure) return error;
  if (isConflict(error)) return new Unavailable(error, STILL_CHANGING);
  if (isDeadEnd(error)) return new Unavailable(error);
  if (!(error instanceof pg.DatabaseError)) return error;
  return TROUBLES.some((each) => error.code?.startsWith(each)) ? new Unavailable(error) : error;
}

const STILL_CHANGING = "Others kept changing the same records; this write was not done. Repeat it.";
