import type { Wire } from "./wire.ts";

export type Use = "read" | "write";

/** One that waits for a connection. */
export interface Waiter {
  readonly use: Use;
  readonly number: number;
  readonly resolve: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
}

/** Those who wait for a connection, in the order in which they came. */
export interface Queue {
  wait(use: Use, withinMs: number): Promise<Wire>;
  /** The one that waits longest of those that may have a connection now. */
  next(mayWrite: boolean): Waiter | undefined;
  serve(waiter: Waiter, wire: Wire): void;
  refuseAll(error: () => Error): void;
  length(use: Use): number;
}

/** Who is not served in time is refused, for the reason that is true then. */
export function openQueue(late: () => Error): Queue {
  const waiting: Record<Use, Set<Waiter>> = { read: new Set(), write: new Set() };
  let waited = 0;
  return {
    wait: (use, withinMs) =>
      new Promise<Wire>((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting[use].delete(waiter);
          reject(late());
        }, withinMs);
        waited += 1;
        const waiter = { use, number: waited, resolve, reject, timer };
        waiting[use].add(waiter);
      }),
    next(mayWrite) {
      const [read] = waiting.read;
      const [write] = mayWrite ? waiting.write : [];
      return read && write ? (read.number < write.number ? read : write) : (read ?? write);
    },
    serve(waiter, wire) {
      waiting[waiter.use].delete(waiter);
      clearTimeout(waiter.timer);
      waiter.resolve(wire);
    },
    refuseAll(error) {
      for (const { reject, timer } of [...waiting.read, ...waiting.write]) {
        clearTimeout(timer);
        reject(error());
      }
      waiting.read.clear();
      waiting.write.clear();
    },
    length: (use) => waiting[use].size,
  };
}
