import { onAbort } from "./abort.ts";
import { paceErrorOf } from "./errors.ts";
import type { Settings } from "./options.ts";
import { windowsSeen } from "./windows.ts";

/** Lets calls go only when the server will take them. */
export interface Pace {
  /** Waits for a turn; what it gives is called with the answer, or with nothing if none came. */
  enter(what: string, signal: AbortSignal | undefined, isRetry: boolean): Promise<Leave>;
  /** Goes beside the queue, for what costs nothing; its answer tells of the limit as any other. */
  pass(): Leave;
  /** Whether turns are refused by what was told a while ago; then it is `true` once, for the one who asks the server again. */
  isInDoubt(): boolean;
}
export type Leave = (response?: Response) => void;

/** No pace: every call goes at once. */
export const unpaced: Pace = { enter: async () => () => {}, pass: () => () => {}, isInDoubt: () => false };

/** How long the server's word that nothing is left is taken for true. */
const DOUBT_AFTER_MS = 60_000;

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
  let heardAt = Number.NEGATIVE_INFINITY;
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

  function hear(response: Response | undefined, sentAt: number, isCounted = true): void {
    heardAt = now();
    windows.learn(response, sentAt, heardAt, isCounted);
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
      hear(response, sentAt);
      mostScouts = windows.standing(now()).isKnown ? 1 : mostScouts * 2;
      next();
    };
  }

  return {
    enter(what, signal, isRetry) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
          leaveQueue();
          queue = queue.filter((each) => each !== waiter);
          reject(signal?.reason);
          next();
        };
        const waiter: Waiter = {
          until: now() + maxPaceWaitMs,
          go() {
            leaveQueue();
            resolve(depart());
          },
          fail(opens) {
            leaveQueue();
            reject(paceErrorOf(what, opens - now(), maxPaceWaitMs));
          },
        };
        const leaveQueue = onAbort(signal, stop);
        // Behind others that wait, nothing has changed for them: the alarm is set already.
        const isNews = queue.length === 0 || isLost(waiter, now(), opensAt(now()));
        if (isRetry) queue.unshift(waiter);
        else queue.push(waiter);
        if (isNews) next();
      });
    },
    pass() {
      const sentAt = now();
      return (response) => {
        hear(response, sentAt, false);
        next();
      };
    },
    isInDoubt() {
      const at = now();
      if (windows.standing(at).spentUntil - at <= maxPaceWaitMs || at - heardAt < DOUBT_AFTER_MS)
        return false;
      heardAt = at;
      return true;
    },
  };
}

/** Whether a turn cannot come in time any more. */
function isLost({ until }: Waiter, at: number, opens: number): boolean {
  return until <= at || (Number.isFinite(opens) && until < opens);
}
