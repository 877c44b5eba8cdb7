import type { Behind, CountsLog } from "../core/behind.ts";
import { bytesIn, joined } from "../core/tally.ts";
import { FOLD_AFTER_MS } from "./folding.ts";

/** So much is kept apart at the most: it is in memory too, and brought into the database in one write. */
const MOST_BYTES = 1024 * 1024;
/** A part of so many clients is worth a commit of its own. */
const LARGE_BYTES = MOST_BYTES / 4;

/** Counts that are durable in a log of their own, and in the database only later: each commit there costs those who read. */
export interface Apart {
  /** Puts a part into the log, if it is one of few counts alone and there is room; others are for the database. */
  take(part: Behind): Promise<boolean>;
  /** Whether it is time to bring them into the database. */
  isDue(): boolean;
  isEmpty(): boolean;
  /** Brings all of them into the database, those of the last run first; how many bytes that were. */
  bringIn(): Promise<number>;
}

/** Without a log nothing is kept apart. */
export function apart(log: CountsLog | undefined, keep: (part: Behind) => Promise<void>): Apart {
  /** On their way into the database: each stays as it is until it is known to be there. */
  const leaving: Behind[] = [...(log?.left ?? [])];
  /** Whether something is in the log that can go when it is in the database. */
  let isUsed = leaving.length > 0;
  let waiting: Behind[] = [];
  let bytes = 0;
  let since = 0;

  const isOld = () => performance.now() - since >= FOLD_AFTER_MS;
  const leave = () => {
    const last = waiting.at(-1);
    // By the number of the last of them: after a crash those in the log are known to be in the database.
    if (last) leaving.push({ ...last, tally: joined(waiting.map(({ tally }) => tally)) });
    waiting = [];
    bytes = 0;
  };
  return {
    async take(part) {
      const isOfCounts = part.conduct.length + part.events.length === 0;
      if (!log || !isOfCounts || bytesIn(part.tally) >= LARGE_BYTES) return false;
      if (!(await isAppended(log, part))) return false;
      if (waiting.length === 0) since = performance.now();
      waiting.push(part);
      bytes += bytesIn(part.tally);
      isUsed = true;
      return true;
    },
    isDue: () => leaving.length > 0 || bytes >= MOST_BYTES || (bytes > 0 && isOld()),
    isEmpty: () => leaving.length + waiting.length === 0,
    async bringIn() {
      let brought = 0;
      leave();
      for (let part = leaving[0]; part; part = leaving[0]) {
        await keep(part);
        leaving.shift();
        brought += bytesIn(part.tally);
      }
      if (isUsed) await log?.clear();
      isUsed = false;
      return brought;
    },
  };
}

/** On a full disk the database may have room yet, and if it has none either it says so itself. */
async function isAppended(log: CountsLog, part: Behind): Promise<boolean> {
  try {
    await log.append(part);
    return true;
  } catch {
    return false;
  }
}
