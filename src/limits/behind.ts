import type { Behind, CountsLog } from "../core/behind.ts";
import type { NewEvent } from "../core/ports.ts";
import { bytesIn } from "../core/tally.ts";
import { apart } from "./apart.ts";
import { folding } from "./folding.ts";
import { gathered } from "./gathered.ts";
import type { MemoryLimits } from "./memory.ts";
import type { UsageCounter } from "./usage.ts";

/** What a crash can lose of the counts, at the most, together with one write. */
const WRITE_EVERY_MS = 500;

export interface BehindOptions {
  readonly limits: MemoryLimits;
  readonly usage: UsageCounter;
  /** Writes one part into the database, durably. */
  readonly keep: (part: Behind) => Promise<void>;
  /** Where counts are kept until they are brought into the database; without it each part goes there at once. */
  readonly log?: CountsLog | undefined;
  /** Brings what was written down into rows, a step of it; whether that was the last. */
  readonly fold: () => Promise<boolean>;
  /** Bytes of what was written after which it is brought into rows. */
  readonly foldAfterBytes: number;
  /** Memory has let go of what is in rows. */
  readonly onTrim: () => void;
  readonly onFault: (error: unknown) => void;
}

export interface WriteBehind {
  tell(event: NewEvent): void;
  keyWasUsed(keyId: number, at: number): void;
  /** Milliseconds since when nothing was written down of what was counted. */
  lagMs(): number;
  /** Writes all of it into the database now, or fails; those who ask while it is being written share the next time. */
  flush(): Promise<void>;
  /** Has the database know what was counted, but for the last half second; or fails. */
  show(): Promise<void>;
  /** Brings all that was ever written down into rows, what the last run left in its log too. */
  fold(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Writes what requests leave behind, twice a second: as blocks that cost the same whoever asked, which are brought into the
 * database, and there into rows, now and then. A part that could not be written is the next to be tried again.
 */
export function writeBehind(options: BehindOptions): WriteBehind {
  const { limits, usage, keep, onTrim, onFault } = options;
  const news = gathered(limits, usage);
  const rows = folding(options.fold, options.foldAfterBytes);
  const logged = apart(options.log, keep);
  /** What was taken and is not known to be written. */
  const unwritten: Behind[] = [];
  /** The last that the database was given. */
  let tried: Behind | undefined;
  let writtenUntil = performance.now();
  /** Somebody waits until all is in the database. */
  let isWanted = false;

  const writeTaken = async () => {
    for (let part = unwritten[0]; part; part = unwritten[0]) {
      // What may be in the database already is for the database: there its number tells.
      if (part === tried || !(await logged.take(part))) {
        await bringIn();
        tried = part;
        await keep(part);
        rows.wrote(bytesIn(part.tally));
      }
      unwritten.shift();
      limits.areKept(part);
    }
  };
  const bringIn = async () => rows.wrote(await logged.bringIn());
  const writeAll = async () => {
    const isAll = isWanted;
    isWanted = false;
    try {
      // While the last time's cannot be written nothing more is taken: counts of one client add up to one row.
      await writeTaken();
      if (logged.isDue()) await bringIn();
      const takenAt = performance.now();
      unwritten.push(...news.takeAll());
      // What gathers while it is written waits for the next time.
      await writeTaken();
      writtenUntil = takenAt;
      if (isAll) await bringIn();
    } catch (error) {
      news.dropEvents();
      onFault(error);
      throw error;
    }
    if (limits.isCrowded()) await trim().catch(onFault);
  };
  /** What is forgotten is read from rows again, so all that was written must be in them. */
  const trim = async () => {
    await bringIn();
    await rows.fold();
    limits.trim();
    onTrim();
  };
  const writing = oneAtATime(writeAll);
  /** For those who do not wait for it: what fails was told, and is tried again. */
  const attempt = () => writing.ask().catch(() => {});
  const flush = () => {
    isWanted = true;
    return writing.ask();
  };
  const timer = setInterval(() => {
    if (!writing.isUnderWay()) void attempt();
    if (rows.isDue()) void rows.fold().catch(onFault);
  }, WRITE_EVERY_MS);
  timer.unref();

  return {
    tell: news.tell,
    keyWasUsed: news.keyWasUsed,
    lagMs: () => performance.now() - writtenUntil,
    flush,
    async show() {
      if (!logged.isEmpty()) await flush();
    },
    async fold() {
      await flush();
      await rows.fold();
    },
    async stop() {
      clearInterval(timer);
      await rows.stop().catch(onFault);
      await flush().catch(() => {});
    },
  };
}

/** Work that is done once at a time: those who ask while it is under way share the next time, whatever came of this one. */
function oneAtATime(work: () => Promise<void>) {
  let underWay: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const again = (): Promise<void> => {
    next = undefined;
    return ask();
  };
  const ask = (): Promise<void> => {
    if (underWay) {
      next ??= underWay.then(again, again);
      return next;
    }
    underWay = work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  return { ask, isUnderWay: () => underWay !== undefined };
}
