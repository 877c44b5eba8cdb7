import type { Behind } from "../core/behind.ts";
import type { NewEvent } from "../core/ports.ts";
import { bytesIn, isEmpty, LAST_USED_COLUMNS, slices, type Tally } from "../core/tally.ts";
import type { MemoryLimits } from "./memory.ts";
import type { UsageCounter } from "./usage.ts";

/** What a crash can lose of the counts, at the most, together with one write. */
const WRITE_EVERY_MS = 500;
/** Keys whose conduct is in one write, and events, so that the durable writes behind it hardly wait. */
const CONDUCTS_AT_ONCE = 500;
const EVENTS_AT_ONCE = 500;
/** Events that wait to be written; more are dropped, oldest first, while the database is away. */
const WAITING_EVENTS = 10_000;
/** Clients, or keys, in one write; more are several. */
const ROWS_AT_ONCE = 20_000;
/** What was written is brought into rows when it is as much as is dealt out at once, or after so long. */
const FOLD_AFTER_MS = 30_000;

export interface BehindOptions {
  readonly limits: MemoryLimits;
  readonly usage: UsageCounter;
  /** Writes one part down, durably. */
  readonly keep: (part: Behind) => Promise<void>;
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
  /** Writes all of it down now; those who ask while it is being written share the next time. */
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
  /** What was taken and is not known to be written; a part's number never changes, so it is written once. */
  const unwritten: Behind[] = [];
  const run = crypto.randomUUID();
  let lastPart = 0;
  let bytes = 0;
  let foldedAt = Date.now();
  let writtenUntil = performance.now();
  let isStopping = false;
  let underWay: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let folding: Promise<void> | undefined;

  const takeUsed = (): Float64Array => {
    const rows = new Float64Array(used.size * LAST_USED_COLUMNS);
    let end = 0;
    for (const [keyId, at] of used) {
      rows[end++] = keyId;
      rows[end++] = at;
    }
    used = new Map();
    return rows;
  };
  /** Takes some of what has gathered, as parts. */
  const take = (): boolean => {
    const { windows, conduct } = limits.takeChanged(CONDUCTS_AT_ONCE);
    const lastUsed = takeUsed();
    const tally: Tally = { windows, ...usage.take(), lastUsed };
    const told = events.splice(0, EVENTS_AT_ONCE);
    const [first = nothing, ...others] = slices(tally, ROWS_AT_ONCE);
    if (isEmpty(first) && conduct.length + told.length === 0) return false;
    unwritten.push({ run, part: ++lastPart, tally: first, conduct, events: told });
    for (const slice of others)
      unwritten.push({ run, part: ++lastPart, tally: slice, conduct: [], events: [] });
    return true;
  };
  const takeAll = () => {
    let isSome = true;
    while (isSome) isSome = take();
  };
  const writeTaken = async () => {
    for (let next = unwritten[0]; next; next = unwritten[0]) {
      await keep(next);
      unwritten.shift();
      limits.areKept(next);
      bytes += bytesIn(next.tally);
    }
  };
  const writeAll = async () => {
    try {
      // While the last time's cannot be written nothing more is taken: counts of one client add up to one row.
      await writeTaken();
      const takenAt = performance.now();
      takeAll();
      // What gathers while it is written waits for the next time.
      await writeTaken();
      writtenUntil = takenAt;
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
    bytes = 0;
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
  const flush = (): Promise<void> => {
    if (underWay) {
      next ??= underWay.then(() => {
        next = undefined;
        return flush();
      });
      return next;
    }
    underWay = writeAll().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  const isTimeToFold = () =>
    bytes >= options.foldAfterBytes || (bytes > 0 && Date.now() - foldedAt >= FOLD_AFTER_MS);
  const timer = setInterval(() => {
    if (!underWay) void flush();
    if (!folding && isTimeToFold()) void fold().catch(onFault);
  }, WRITE_EVERY_MS);
  timer.unref();

  return {
    tell: (event) => void events.push(event),
    keyWasUsed: (keyId, at) => void used.set(keyId, at),
    lagMs: () => performance.now() - writtenUntil,
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

const nothing: Tally = {
  windows: new Float64Array(),
  usage: new Float64Array(),
  operations: [],
  lastUsed: new Float64Array(),
};
