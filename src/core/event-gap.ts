/**
 * No store gives more events in a millisecond, so a number made of the time is beyond all that were given before that time. It stays
 * below 2^48, which is what a lock of PostgreSQL has room for, for some eight hundred years.
 */
const EVENTS_PER_MS = 10;
/** What is left out at least: a restore may follow another at once, or the clock be wrong. Between two events that follow each other there is never half as much. */
const LEAST_GAP = 1_000_000;

/** Behind a position that was given here there is an event, or the end, within this. */
export const WITHIN_A_GAP = LEAST_GAP / 2;

/**
 * The number after which a restored store goes on; `last` is the last that is known. Those between the backup's last and this one may have been given since the backup:
 * to give them again would hide the new events from all who have read, or keep, the old ones.
 */
export function numberAfterRestore(last: number, now: number): number {
  return Math.max(now * EVENTS_PER_MS, last + LEAST_GAP);
}
