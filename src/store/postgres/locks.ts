import type { Sent } from "./wire.ts";

// Locks that are held until the end of the transaction.

/** Numbers of PostgreSQL's advisory locks, in a range that no other program is likely to use. */
const ACCESS = 7_382_786_701;
const MIGRATIONS = 7_382_786_702;

export const migrationLock: Sent = { text: `select pg_advisory_xact_lock(${MIGRATIONS})` };

/** For what two may not do at once though they change different rows: clients, keys, the first start. */
export const accessLock: Sent = {
  text: `select pg_advisory_xact_lock(${ACCESS})`,
  values: [],
  name: "access_lock",
};
