import type { Surroundings } from "../../client/src/index.ts";

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/**
 * A clock that stands while requests are under way and otherwise moves at once to the next moment that somebody waits
 * for: minutes of waiting take no time, and every wait is exact.
 */
export interface MovedClock {
  readonly surroundings: Surroundings;
  /** The global `fetch`, watched: the clock stands until the answer's body is read. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  now(): number;
  /** Says of a request under way that nothing will come of it, so that time goes on. */
  hold(): void;
  /** How many wait for a moment to come. */
  sleepers(): number;
  /** Until the clock has come to this moment. */
  until(moment: number): Promise<void>;
}

export function movedClock(clock: { now: number } = { now: 0 }, chance = 0.5): MovedClock {
  let sleepers: Sleeper[] = [];
  let underWay = 0;
  let held = 0;
  let isLooking = false;

  /** Looks twice, a turn apart, so that everything that follows from an answer has happened. */
  const look = () => {
    if (isLooking) return;
    isLooking = true;
    setImmediate(() =>
      setImmediate(() => {
        isLooking = false;
        if (underWay > held || sleepers.length === 0) return;
        clock.now = Math.max(clock.now, Math.min(...sleepers.map(({ at }) => at)));
        const due = sleepers.filter(({ at }) => at <= clock.now);
        sleepers = sleepers.filter(({ at }) => at > clock.now);
        for (const { wake } of due) wake();
        look();
      }),
    );
  };
  const whole = (text: string) => {
    underWay -= 1;
    look();
    return text;
  };
  const broken = (error: unknown): never => {
    underWay -= 1;
    held = Math.max(0, held - 1);
    look();
    throw error;
  };
  /** The clock stands until the last of it has come. */
  const streamed = (response: Response): Response => {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { value, done } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
          whole("");
        } catch (error) {
          controller.error(error);
          await Promise.reject(error)
            .catch(broken)
            .catch(() => {});
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, response);
  };
  const sleep = (milliseconds: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = { at: clock.now + milliseconds, wake: resolve };
      sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        sleepers = sleepers.filter((each) => each !== sleeper);
        reject(signal.reason);
      });
      look();
    });

  return {
    surroundings: { now: () => clock.now, random: () => chance, sleep },
    now: () => clock.now,
    async fetch(url, init) {
      underWay += 1;
      try {
        const response = await fetch(url, init);
        if (response.headers.get("content-type") === "text/event-stream") return streamed(response);
        const text = response.text.bind(response);
        return Object.assign(response, { text: () => text().then(whole, broken) });
      } catch (error) {
        return broken(error);
      }
    },
    hold() {
      held += 1;
      look();
    },
    sleepers: () => sleepers.length,
    until: (moment) => sleep(moment - clock.now),
  };
}
