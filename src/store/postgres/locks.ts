import { Failure } from "../../core/failure.ts";
import type { Sent } from "./wire.ts";

/** A lock that is held until the end of the transaction. */
export interface Lock extends Sent {
  /** What the caller is told when another has held it for too long; without it, that the store is not available. */
  readonly busy?: () => Failure;
}

/** Numbers of PostgreSQL's advisory locks, in a range that no other program is likely to use. */
const ACCESS = 7_382_786_701;
const MIGRATIONS = 7_382_786_702;

export const migrationLock: Sent = { text: `select pg_advisory_xact_lock(${MIGRATIONS})` };

/** For what two may not do at once though they change different rows: clients, keys, the first start. */
export const accessLock: Lock = {
  text: `select pg_advisory_xact_lock(${ACCESS})`,
  values: [],
  name: "access_lock",
};

/** One request at a time with an idempotency key: the next one finds the answer of the one before. */
export function keyLock(clientId: number, key: string): Lock {
  const text = "select pg_advisory_xact_lock(hashtextextended($1, $2))";
  return { text, values: [key, clientId], name: "key_lock", busy: () => stillRunning(key) };
}

function stillRunning(key: string): Failure {
  const message = `A request with the Idempotency-Key "${key}" is still running. Repeat this one when it is done.`;
  return new Failure("idempotency_in_progress", message, undefined, 1);
}
