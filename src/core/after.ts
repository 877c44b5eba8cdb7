import type { Awaitable } from "./ports.ts";

/**
 * What comes of a value once it is there: at once if it is, so that what need not wait costs no promise. What the next step
 * must know besides is passed on to it, so that a step need not be a function made for one request.
 */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U>;
export function after<T, Cx, U>(
  value: Awaitable<T>,
  next: (value: T, cx: Cx) => Awaitable<U>,
  cx: Cx,
): Awaitable<U>;
export function after<T, Cx, U>(
  value: Awaitable<T>,
  next: (value: T, cx: Cx) => Awaitable<U>,
  cx?: Cx,
): Awaitable<U> {
  return value instanceof Promise ? later(value, next, cx as Cx) : next(value, cx as Cx);
}

/** By itself: a function in which another is made costs a little even where it is not. */
function later<T, Cx, U>(value: Promise<T>, next: (value: T, cx: Cx) => Awaitable<U>, cx: Cx): Promise<U> {
  return value.then((there) => next(there, cx));
}

/** What work gives, or what is made of its failure. */
export function attempt<Cx, T>(
  work: (cx: Cx) => Awaitable<T>,
  failed: (error: unknown, cx: Cx) => T,
  cx: Cx,
): Awaitable<T> {
  try {
    const value = work(cx);
    return value instanceof Promise ? caught(value, failed, cx) : value;
  } catch (error) {
    return failed(error, cx);
  }
}

function caught<Cx, T>(value: Promise<T>, failed: (error: unknown, cx: Cx) => T, cx: Cx): Promise<T> {
  return value.catch((error) => failed(error, cx));
}
