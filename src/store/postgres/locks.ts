import type { Sent } from "./wire.ts";

/** Numbers of PostgreSQL's advisory locks, in a range that no other program is likely to use. */
const ACCESS = 7_382_786_701;
const MIGRATIONS = 7_382_786_702;

export const migrationLock: Sent = { text: `select pg_advisory_xact_lock(${MIGRATIONS})` };

/** For what two may not do at once though they change different rows: clients, keys, the first start. */
export const accessLock: Sent = { text: `select pg_advisory_xact_lock(${ACCESS})` };

/** One request at a time with an idempotency key: the next one finds the answer of the one before. */
export function keyLock(clientId: number, key: string): Sent {
  const text = "select pg_advisory_xact_lock(hashtextextended($1, $2))";
  return { text, values: [key, clientId], name: "key_lock" };
}
