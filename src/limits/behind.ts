import type { Behind } from "../core/behind.ts";
import type { NewEvent, UsageRecord } from "../core/ports.ts";
import type { MemoryLimits } from "./memory.ts";
import type { UsageCounter } from "./usage.ts";

/** What a crash can lose of the counts, at the most, together with one write. */
const WRITE_EVERY_MS = 500;
/** Rows in one write, so that the durable writes behind it hardly wait. */
const ROWS_AT_ONCE = 500;
/** Events that wait to be written; more are dropped, oldest first, while the database is away. */
const WAITING_EVENTS = 10_000;

export interface BehindOptions {
  readonly limits: MemoryLimits;
  readonly usage: UsageCounter;
  /** Writes one part down, durably. */
  readonly keep: (part: Behind) => Promise<void>;
  /** All of it is written down. */
  readonly onWritten: () => void;
  readonly onFault: (error: unknown) => void;
}

export interface WriteBehind {
  tell(event: NewEvent): void;
  keyWasUsed(keyId: number, at: number): void;
  /** Writes all of it down now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Writes what requests leave behind, in parts, twice a second; what could not be written is kept for the next time. */
export function writeBehind({ limits, usage, keep, onWritten, onFault }: BehindOptions): WriteBehind {
  let events: NewEvent[] = [];
  let used = new Map<number, number>();
  let unkeptUsage: UsageRecord[] = [];
  let underWay: Promise<void> | undefined;

  const part = (): Behind | null => {
    const changed = limits.takeChanged(ROWS_AT_ONCE);
    if (unkeptUsage.length === 0) unkeptUsage = usage.take();
    const lastUsed = Array.from(used, ([keyId, at]) => ({ keyId, at })).slice(0, ROWS_AT_ONCE);
    const taken: Behind = {
      ...changed,
      usage: unkeptUsage.splice(0, ROWS_AT_ONCE),
      lastUsed,
      events: events.splice(0, ROWS_AT_ONCE),
    };
    for (const { keyId } of lastUsed) used.delete(keyId);
    return Object.values(taken).every((rows) => rows.length === 0) ? null : taken;
  };
  const giveBack = (taken: Behind) => {
    limits.giveBack(taken);
    unkeptUsage = [...taken.usage, ...unkeptUsage];
    used = new Map([...taken.lastUsed.map(({ keyId, at }) => [keyId, at] as const), ...used]);
    events = [...taken.events, ...events].slice(-WAITING_EVENTS);
  };
  const writeAll = async () => {
    for (let next = part(); next; next = part()) {
      try {
        await keep(next);
        limits.areKept(next);
      } catch (error) {
        giveBack(next);
        onFault(error);
        return;
      }
    }
    onWritten();
  };
  /** One after another: what a call finds under way is finished before its own begins. */
  const flush = (): Promise<void> => {
    const next = (underWay ?? Promise.resolve()).then(writeAll).finally(() => {
      if (underWay === next) underWay = undefined;
    });
    underWay = next;
    return next;
  };
  const timer = setInterval(() => {
    if (!underWay) void flush();
  }, WRITE_EVERY_MS);
  timer.unref();

  return {
    tell: (event) => void events.push(event),
    keyWasUsed: (keyId, at) => void used.set(keyId, at),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
