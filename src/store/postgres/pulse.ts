import type { EngineOptions } from "../engine.ts";

/** What the pools of one server know of it together: what ends one connection says nothing of it while others are answered. */
export interface Pulse {
  /** When it was last heard of, by a clock that nobody sets. */
  heardAt: number;
  /** A pool has given it up; each says so once, until it has reached it again. */
  readonly onAway: (cause: unknown) => void;
  readonly onBack: () => void;
}

/** Tells once that the server is away, whichever pool is the first to find out, and once that all have it again. */
export function pulse({ onAway, onBack }: Pick<EngineOptions, "onAway" | "onBack"> = {}): Pulse {
  let without = 0;
  let since = 0;
  return {
    heardAt: Number.NEGATIVE_INFINITY,
    onAway(cause) {
      without += 1;
      if (without > 1) return;
      since = performance.now();
      onAway?.(String(cause));
    },
    onBack() {
      without -= 1;
      if (without === 0) onBack?.(performance.now() - since);
    },
  };
}
