/** What was written is brought into rows when it is as much as is dealt out at once, or after so long. */
export const FOLD_AFTER_MS = 30_000;

/** Brings what was written down into rows, now and then. */
export interface Folding {
  /** So much more was written down. */
  wrote(bytes: number): void;
  /** Whether it is time for it, and nobody is about it. */
  isDue(): boolean;
  /** All that was ever written down. */
  fold(): Promise<void>;
  /** Begins no more steps; resolves when the one under way is done. */
  stop(): Promise<void>;
}

/** `step` does a part of it, and says whether that was the last. */
export function folding(step: () => Promise<boolean>, afterBytes: number): Folding {
  let bytes = 0;
  let foldedAt = performance.now();
  let isStopping = false;
  let underWay: Promise<void> | undefined;

  const foldAll = async () => {
    bytes = 0;
    while (!isStopping && !(await step()));
    foldedAt = performance.now();
  };
  const isEnough = () => bytes >= afterBytes || (bytes > 0 && performance.now() - foldedAt >= FOLD_AFTER_MS);

  return {
    wrote(more) {
      bytes += more;
    },
    isDue: () => !underWay && isEnough(),
    async fold() {
      await underWay;
      underWay = foldAll().finally(() => {
        underWay = undefined;
      });
      await underWay;
    },
    async stop() {
      isStopping = true;
      await underWay;
    },
  };
}
