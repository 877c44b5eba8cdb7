/** What the server enforces: less than our own deadlines, so that its connection outlives a slow statement. */
export const STATEMENT_MS = 1800;
/** Less than that, so that whoever waited for another is told so. */
export const LOCK_MS = 1700;
/** How long those that share a transaction wait for a lock that somebody else has: meanwhile they keep others from the rows that they have. */
const SHARED_LOCK_MS = 200;
/** The part of the time that is left which a statement of theirs may take: each of them must still have time to go on by itself. */
const SHARED_PART = 1 / 3;
/** Of the time that is left when a write begins, the part in which the server must have ended it. */
const PART_LEFT = 0.9;

/** A write that waited long for its connection has less time: else it would be given up here and go on waiting there. */
export function timeLeft(leftMs: number): string | undefined {
  const withinMs = part(PART_LEFT, leftMs);
  return withinMs < STATEMENT_MS ? limits(Math.min(LOCK_MS, withinMs), withinMs) : undefined;
}

/** The same for those that share a transaction. */
export function sharedTimeLeft(leftMs: number): string {
  const withinMs = Math.min(STATEMENT_MS, part(SHARED_PART, leftMs));
  return limits(Math.min(SHARED_LOCK_MS, withinMs), withinMs);
}

/** To the server no time at all would mean any. */
function part(share: number, leftMs: number): number {
  return Math.max(1, Math.floor(leftMs * share));
}

function limits(lockMs: number, statementMs: number): string {
  return `set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`;
}
