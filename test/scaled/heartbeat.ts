// A machine that stands still is no fault of the store: what a beat in this process missed is not held against a request.

const BEAT_MS = 20;
/** A beat that comes later than this was held up. */
const LATE_MS = 60;

export interface Heartbeat extends Disposable {
  /** For how long, between two moments of `performance.now()`, this process did not get to run. */
  missedMs(from: number, to: number): number;
}

export function heartbeat(): Heartbeat {
  const missed: { readonly from: number; readonly to: number }[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > LATE_MS) missed.push({ from: last, to: now });
    last = now;
  }, BEAT_MS);
  return {
    missedMs: (from, to) =>
      missed.reduce((sum, gap) => sum + Math.max(0, Math.min(gap.to, to) - Math.max(gap.from, from)), 0),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
