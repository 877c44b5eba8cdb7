import type { Awaitable } from "../core/ports.ts";

/** How many times as long as a look took what it found is good for: all looks together take a twentieth of the time at most. */
export const REST_OF_A_LOOK = 20;

/** A look at something, however often it is asked for; what a quick one finds is good for hardly any time. */
export function rarely<T>(
  look: () => Awaitable<T>,
  clock: () => number = () => performance.now(),
): () => Promise<T> {
  let found: Promise<T> | undefined;
  let goodUntil = 0;
  return () => {
    const started = clock();
    if (found && started < goodUntil) return found;
    goodUntil = Number.POSITIVE_INFINITY;
    found = Promise.try(look).finally(() => {
      const ended = clock();
      goodUntil = ended + REST_OF_A_LOOK * (ended - started);
    });
    return found;
  };
}
