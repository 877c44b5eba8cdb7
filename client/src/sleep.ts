import { onAbort } from "./abort.ts";

/** Timers take no more; a longer wait is never meant in earnest. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits, and rejects with the signal's reason when that aborts. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      leave();
      clearTimeout(timer);
      reject(signal.reason);
    };
    const leave = onAbort(signal, stop);
    const timer = setTimeout(
      () => {
        leave();
        resolve();
      },
      Math.min(milliseconds, LONGEST_MS),
    );
    if (signal.aborted) stop();
  });
}
