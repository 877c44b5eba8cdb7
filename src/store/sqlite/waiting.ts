import { Unavailable } from "../../core/failure.ts";
import type { Performed } from "../../core/perform.ts";
import { UNKNOWN_OUTCOME } from "../trouble.ts";
import { type Outcome, unwrap } from "./batch.ts";

interface Waiting {
  /** By `performance.now()`, which nobody sets back. */
  readonly since: number;
  /** Answered with 503 already; it still counts, because the thread still has it. */
  isGivenUp: boolean;
  readonly resolve: (done: Performed) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes that have no outcome yet, oldest first. */
export interface WaitingWrites {
  add(id: number): Promise<Performed>;
  answer(id: number, outcome: Outcome<Performed>): void;
  /** Nobody knows what became of them. */
  refuseAll(error: Error): void;
  /** Answers those that have waited for so long; they are still waited for. */
  giveUpAfter(milliseconds: number): void;
  count(): number;
  /** How long the oldest has waited. */
  longestMs(): number;
}

export function waitingWrites(): WaitingWrites {
  const waiting = new Map<number, Waiting>();
  return {
    add(id) {
      const since = performance.now();
      return new Promise((resolve, reject) => waiting.set(id, { since, isGivenUp: false, resolve, reject }));
    },
    answer(id, outcome) {
      const write = waiting.get(id);
      if (!write || !waiting.delete(id)) return;
      try {
        write.resolve(unwrap(outcome));
      } catch (error) {
        write.reject(error);
      }
    },
    refuseAll(error) {
      for (const write of waiting.values()) write.reject(new Unavailable(error, UNKNOWN_OUTCOME));
      waiting.clear();
    },
    giveUpAfter(milliseconds) {
      const late = performance.now() - milliseconds;
      for (const write of waiting.values()) {
        if (write.since > late) break;
        if (!write.isGivenUp)
          write.reject(new Unavailable("The write has no outcome in time.", UNKNOWN_OUTCOME));
        write.isGivenUp = true;
      }
    },
    count: () => waiting.size,
    longestMs() {
      const [oldest] = waiting.values();
      return oldest === undefined ? 0 : performance.now() - oldest.since;
    },
  };
}
