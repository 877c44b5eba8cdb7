import type { Behind } from "../core/behind.ts";
import type { NewEvent } from "../core/ports.ts";
import { isEmpty, LAST_USED_COLUMNS, slices, type Tally } from "../core/tally.ts";
import type { MemoryLimits } from "./memory.ts";
import type { UsageCounter } from "./usage.ts";

/** Keys whose conduct is in one write, and events, so that the durable writes behind it hardly wait. */
const CONDUCTS_AT_ONCE = 500;
const EVENTS_AT_ONCE = 500;
/** Events that wait to be written; more are dropped, oldest first, while the database is away. */
const WAITING_EVENTS = 10_000;
/** Clients, or keys, in one write; more are several. */
const ROWS_AT_ONCE = 20_000;

/** What requests have left behind and nobody has taken to write it down. */
export interface Gathered {
  tell(event: NewEvent): void;
  keyWasUsed(keyId: number, at: number): void;
  /** All of it, as parts; a part's number never changes, so it is written once. */
  takeAll(): Behind[];
  /** Drops the oldest events where there are too many. */
  dropEvents(): void;
}

export function gathered(limits: MemoryLimits, usage: UsageCounter): Gathered {
  const run = crypto.randomUUID();
  let lastPart = 0;
  let events: NewEvent[] = [];
  let used = new Map<number, number>();

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
  /** Some of it. */
  const take = (): Behind[] => {
    const { windows, conduct } = limits.takeChanged(CONDUCTS_AT_ONCE);
    const lastUsed = takeUsed();
    const tally: Tally = { windows, ...usage.take(), lastUsed };
    const told = events.splice(0, EVENTS_AT_ONCE);
    const [first = nothing, ...others] = slices(tally, ROWS_AT_ONCE);
    if (isEmpty(first) && conduct.length + told.length === 0) return [];
    return [
      { run, part: ++lastPart, tally: first, conduct, events: told },
      ...others.map((slice) => ({ run, part: ++lastPart, tally: slice, conduct: [], events: [] })),
    ];
  };

  return {
    tell: (event) => void events.push(event),
    keyWasUsed: (keyId, at) => void used.set(keyId, at),
    takeAll() {
      const parts: Behind[] = [];
      for (let some = take(); some.length > 0; some = take()) parts.push(...some);
      return parts;
    },
    dropEvents() {
      events = events.slice(-WAITING_EVENTS);
    },
  };
}

const nothing: Tally = {
  windows: new Float64Array(),
  usage: new Float64Array(),
  operations: [],
  lastUsed: new Float64Array(),
};
