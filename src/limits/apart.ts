import type { Behind, CountsLog } from "../core/behind.ts";
import { bytesIn, joined, type Tally } from "../core/tally.ts";
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
  /** Brings all of them into the database, as one part; how many bytes that were. */
  bringIn(): Promise<number>;
}

/** Without a log nothing is kept apart. */
export function apart(log: CountsLog | undefined, keep: (part: Behind) => Promise<void>): Apart {
  let tallies: Tally[] = [];
  let bytes = 0;
  let since = 0;
  let last: Pick<Behind, "run" | "part"> | undefined;
  /** What is on its way into the database: it stays as it is until it is known to be there. */
  let leaving: Behind | undefined;

  const isOld = () => performance.now() - since >= FOLD_AFTER_MS;
  /** By the number of the last of them: after a crash those in the log are known to be in the database. */
  const all = (): Behind | undefined => {
    if (!last) return undefined;
    const { run, part } = last;
    const tally = joined(tallies);
    tallies = [];
    bytes = 0;
    last = undefined;
    return { run, part, tally, conduct: [], events: [] };
  };
  return {
    async take(part) {
      const isOfCounts = part.conduct.length + part.events.length === 0;
      if (!log || !isOfCounts || bytesIn(part.tally) >= LARGE_BYTES) return false;
      if (!(await isAppended(log, part))) return false;
      if (!last) since = performance.now();
      tallies.push(part.tally);
      bytes += bytesIn(part.tally);
      last = part;
      return true;
    },
    isDue: () => leaving !== undefined || bytes >= MOST_BYTES || (bytes > 0 && isOld()),
    isEmpty: () => leaving === undefined && bytes === 0,
    async bringIn() {
      let brought = 0;
      for (leaving ??= all(); leaving; leaving = all()) {
        await keep(leaving);
        brought += bytesIn(leaving.tally);
      }
      if (brought > 0) await log?.clear();
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
