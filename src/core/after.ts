import type { Awaitable } from "./ports.ts";

/** What comes of a value once it is there: at once if it is, so that what need not wait costs no promise. */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What work gives, or what is made of its failure. */
export function attempt<T>(work: () => Awaitable<T>, failed: (error: unknown) => T): Awaitable<T> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(failed) : value;
  } catch (error) {
    return failed(error);
  }
}
