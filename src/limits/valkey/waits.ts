/** So much longer than Valkey may be silent may one request wait while others are answered: a burst that is worked off is no outage. */
const LONGEST_MS = 400;
/** How late a timer may be to be believed. */
const LATE_MS = 10;

/** One that waits for an answer. */
export interface Wait {
  readonly since: number;
  readonly fail: (error: Error) => void;
}

/** All that wait for an answer of one connection. */
export interface Waits {
  begin(fail: (error: Error) => void): Wait;
  end(wait: Wait): void;
  /** Something was answered just now. */
  heard(): void;
  /** Fails all of them. */
  letGo(cause: string): void;
}

/** One timer for all that wait: it looks at how long nothing was answered, and at the oldest. */
export function openWaits(timeoutMs: number, onTooLong: (cause: string) => void): Waits {
  const waiting = new Set<Wait>();
  let timer: Timer | undefined;
  let heardAt = 0;

  const arm = (ms: number, isLastTurn = false) => {
    timer = setTimeout(look, ms, performance.now() + ms, isLastTurn);
  };
  const look = (dueAt: number, isLastTurn: boolean) => {
    timer = undefined;
    const [oldest] = waiting;
    if (!oldest) return;
    const now = performance.now();
    const quietMs = now - Math.max(oldest.since, heardAt);
    const waitedMs = now - oldest.since;
    if (quietMs < timeoutMs && waitedMs < timeoutMs + LONGEST_MS) return arm(timeoutMs - quietMs);
    // A late timer tells of this process, not of Valkey: answers may lie in the socket unread. They get one more turn.
    if (now - dueAt > LATE_MS && !isLastTurn) return arm(LATE_MS, true);
    onTooLong(
      quietMs < timeoutMs ? `answers take ${Math.round(waitedMs)} ms` : `no answer in ${timeoutMs} ms`,
    );
  };

  return {
    begin(fail) {
      const wait: Wait = { since: performance.now(), fail };
      waiting.add(wait);
      if (!timer) arm(timeoutMs);
      return wait;
    },
    end: (wait) => void waiting.delete(wait),
    heard() {
      heardAt = performance.now();
    },
    letGo(cause) {
      for (const { fail } of waiting) fail(new Error(cause));
      waiting.clear();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
