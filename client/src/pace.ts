import { PaceError } from "./errors.ts";
import type { Settings } from "./options.ts";
import { windowsSeen } from "./windows.ts";

/** Lets calls go only when the server will take them. */
export interface Pace {
  /** Waits for a turn; what it gives is called with the answer, or with nothing if none came. */
  enter(what: string, signal: AbortSignal | undefined, isRetry: boolean): Promise<Leave>;
}
export type Leave = (response?: Response) => void;

/** No pace: every call goes at once. */
export const unpaced: Pace = { enter: async () => () => {} };

interface Waiter {
  readonly until: number;
  go(): void;
  fail(opensAt: number): void;
}

/**
 * One pace for all calls of a client. While nothing is known, or a window is over, one call goes alone; its headers then
 * tell how many may follow. What is under way is taken as not yet counted, so that the guess is never too high.
 */
export function pacing({ now, sleep, maxPaceWaitMs }: Settings): Pace {
  const windows = windowsSeen();
  let queue: Waiter[] = [];
  let underWay = 0;
  /** Calls that went without knowing the limit, and how many of those there may be: more after each that came to nothing. */
  let scouts = 0;
  let mostScouts = 1;
  let alarm = new AbortController();

  /** When the next call may go: now, at a known moment, or after an answer. */
  function opensAt(at: number): number {
    const { isKnown, remaining, spentUntil } = windows.standing(at);
    if (spentUntil > at) return spentUntil;
    return underWay < remaining && (isKnown || scouts < mostScouts) ? at : Number.POSITIVE_INFINITY;
  }

  function next(): void {
    alarm.abort();
    while (queue.length > 0) {
      const at = now();
      const opens = opensAt(at);
      if (opens <= at) {
        queue.shift()?.go();
        continue;
      }
      const lost = queue.filter((waiter) => isLost(waiter, at, opens));
      if (lost.length === 0) {
        wakeAfter(queue.reduce((first, { until }) => Math.min(first, until), opens) - at);
        return;
      }
      queue = queue.filter((waiter) => !isLost(waiter, at, opens));
      for (const waiter of lost) waiter.fail(opens);
    }
  }

  function wakeAfter(milliseconds: number): void {
    alarm = new AbortController();
    sleep(milliseconds, alarm.signal).then(next, () => {});
  }

  function depart(): Leave {
    const sentAt = now();
    const isScout = !windows.standing(sentAt).isKnown;
    let isUnderWay = true;
    underWay += 1;
    if (isScout) scouts += 1;
    return (response) => {
      if (!isUnderWay) return;
      isUnderWay = false;
      underWay -= 1;
      if (isScout) scouts -= 1;
      windows.learn(response, sentAt, now());
      mostScouts = windows.standing(now()).isKnown ? 1 : mostScouts * 2;
      next();
    };
  }

  return {
    enter(what, signal, isRetry) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
          queue = queue.filter((each) => each !== waiter);
          reject(signal?.reason);
          next();
        };
        const leaveQueue = () => signal?.removeEventListener("abort", stop);
        const waiter: Waiter = {
          until: now() + maxPaceWaitMs,
          go() {
            leaveQueue();
            resolve(depart());
          },
          fail(opens) {
            leaveQueue();
            reject(tooLong(what, opens - now(), maxPaceWaitMs));
          },
        };
        signal?.addEventListener("abort", stop);
        // Behind others that wait, nothing has changed for them: the alarm is set already.
        const isNews = queue.length === 0 || isLost(waiter, now(), opensAt(now()));
        if (isRetry) queue.unshift(waiter);
        else queue.push(waiter);
        if (isNews) next();
      });
    },
  };
}

/** Whether a turn cannot come in time any more. */
function isLost({ until }: Waiter, at: number, opens: number): boolean {
  return until <= at || (Number.isFinite(opens) && until < opens);
}

function tooLong(what: string, waitMs: number, maxPaceWaitMs: number): PaceError {
  const bound = `maxPaceWaitMs (${maxPaceWaitMs / 1000} s)`;
  if (!Number.isFinite(waitMs))
    return new PaceError(`${what} was not sent: its turn did not come within ${bound}.`);
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const at = new Date(Date.now() + waitMs).toISOString();
  return new PaceError(
    `${what} was not sent: the rate limit is spent for ${retryAfterSeconds} s, longer than its turn may take, ${bound}. Come back at ${at}.`,
    { retryAfterSeconds },
  );
}
