/** Timers take no more; a longer wait is never meant in earnest. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits, and rejects with the signal's reason when that aborts. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener("abort", stop);
        resolve();
      },
      Math.min(milliseconds, LONGEST_MS),
    );
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
