import type { Behind } from "../core/behind.ts";
import type { NewEvent } from "../core/ports.ts";
import { isEmpty, type Tally } from "../core/tally.ts";
import type { MemoryLimits } from "./memory.ts";
import type { UsageCounter } from "./usage.ts";

/** What a crash can lose of the counts, at the most, together with one write. */
const WRITE_EVERY_MS = 500;
/** Keys whose conduct is in one write, and events, so that the durable writes behind it hardly wait. */
const CONDUCTS_AT_ONCE = 500;
const EVENTS_AT_ONCE = 500;
/** Events that wait to be written; more are dropped, oldest first, while the database is away. */
const WAITING_EVENTS = 10_000;
/** After so many writes, or so long, what they left is brought into rows. */
const FOLD_AFTER_WRITES = 40;
const FOLD_AFTER_MS = 60_000;

export interface BehindOptions {
  readonly limits: MemoryLimits;
  readonly usage: UsageCounter;
  /** Writes one part down, durably. */
  readonly keep: (part: Behind) => Promise<void>;
  /** Brings what was written down into rows, a step of it; whether that was the last. */
  readonly fold: () => Promise<boolean>;
  /** Memory has let go of what is in rows. */
  readonly onTrim: () => void;
  readonly onFault: (error: unknown) => void;
}

export interface WriteBehind {
  tell(event: NewEvent): void;
  keyWasUsed(keyId: number, at: number): void;
  /** Writes all of it down now. */
  flush(): Promise<void>;
  /** Brings all that was ever written down into rows. */
  fold(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Writes what requests leave behind, twice a second: as blocks that cost the same whoever asked, which are brought into
 * rows now and then. A part that could not be written is the next to be tried again.
 */
export function writeBehind(options: BehindOptions): WriteBehind {
  const { limits, usage, keep, onTrim, onFault } = options;
  let events: NewEvent[] = [];
  let used = new Map<number, number>();
  let unwritten: Behind | null = null;
  let writes = 0;
  let foldedAt = Date.now();
  let isStopping = false;
  let underWay: Promise<void> | undefined;
  let folding: Promise<void> | undefined;

  const part = (): Behind | null => {
    const { windows, conduct } = limits.takeChanged(CONDUCTS_AT_ONCE);
    const lastUsed = Float64Array.from([...used].flat());
    used = new Map();
    const tally: Tally = { windows, ...usage.take(), lastUsed };
    const told = events.splice(0, EVENTS_AT_ONCE);
    return isEmpty(tally) && conduct.length + told.length === 0 ? null : { tally, conduct, events: told };
  };
  const writeAll = async () => {
    try {
      for (unwritten ??= part(); unwritten; unwritten = part()) {
        await keep(unwritten);
        limits.areKept(unwritten);
        writes++;
      }
      if (limits.isCrowded()) await trim();
    } catch (error) {
      events = events.slice(-WAITING_EVENTS);
      onFault(error);
    }
  };
  /** What is forgotten is read from rows again, so all that was written must be in them. */
  const trim = async () => {
    await fold();
    limits.trim();
    onTrim();
  };
  const foldAll = async () => {
    writes = 0;
    while (!isStopping && !(await options.fold()));
    foldedAt = Date.now();
  };
  const fold = async () => {
    await folding;
    folding = foldAll().finally(() => {
      folding = undefined;
    });
    await folding;
  };
  /** One after another: what a call finds under way is finished before its own begins. */
  const flush = (): Promise<void> => {
    const next = (underWay ?? Promise.resolve()).then(writeAll).finally(() => {
      if (underWay === next) underWay = undefined;
    });
    underWay = next;
    return next;
  };
  const isTimeToFold = () =>
    writes >= FOLD_AFTER_WRITES || (writes > 0 && Date.now() - foldedAt >= FOLD_AFTER_MS);
  const timer = setInterval(() => {
    if (!underWay) void flush();
    if (!folding && isTimeToFold()) void fold().catch(onFault);
  }, WRITE_EVERY_MS);
  timer.unref();

  return {
    tell: (event) => void events.push(event),
    keyWasUsed: (keyId, at) => void used.set(keyId, at),
    flush,
    fold,
    async stop() {
      clearInterval(timer);
      isStopping = true;
      await folding?.catch(onFault);
      await flush();
    },
  };
}
