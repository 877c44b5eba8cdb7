import { Unavailable } from "../../core/failure.ts";
import { tooManyWait } from "../trouble.ts";
import { isFull } from "./trouble.ts";
import { openWire, type Wire, type WireSettings } from "./wire.ts";

/** What the pool may cost; each has its default. */
export interface PoolBounds {
  /** How long a request waits for a connection that another uses. */
  readonly waitMs: number;
  /** Requests that may wait so; more are refused at once. */
  readonly queued: number;
  /** The pause between two tries to reach a server that could not be reached. */
  readonly probeMs: number;
}

export const POOL_BOUNDS: PoolBounds = { waitMs: 3000, queued: 10_000, probeMs: 250 };

export interface Pool {
  /** A connection for the caller alone until it is given back; refused when none is to be had by the deadline. */
  lease(deadline: number, which?: "fresh"): Promise<Wire>;
  giveBack(wire: Wire): void;
  /** The server does not answer: nobody else waits for it until it can be reached again. */
  giveUp(cause: unknown): void;
  isReachable(): boolean;
  close(): Promise<void>;
}

interface Waiter {
  readonly resolve: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
}

/**
 * At most `size` connections, opened when they are needed. While the server cannot be reached everything is refused at
 * once, and one connection after another is tried until one answers.
 */
export function openPool(settings: WireSettings, size: number, bounds: PoolBounds = POOL_BOUNDS): Pool {
  const idle: Wire[] = [];
  const open = new Set<Wire>();
  const waiting = new Set<Waiter>();
  let opening = 0;
  let unreachable: unknown;
  let probe: Timer | undefined;
  let isClosed = false;

  const onLost = (wire: Wire) => {
    if (!open.delete(wire)) return;
    const place = idle.indexOf(wire);
    if (place >= 0) idle.splice(place, 1);
    // Its place is free for the one that waits longest.
    const [first] = waiting;
    if (first && !isClosed) openOne().then(giveBack, () => {});
  };
  const hasOthers = () => open.size + opening > 0;
  const openOne = async (): Promise<Wire> => {
    opening += 1;
    try {
      const wire = await openWire(settings, onLost).finally(() => {
        opening -= 1;
      });
      open.add(wire);
      if (isClosed) wire.discard("the pool is closed");
      return wire;
    } catch (error) {
      if (!isFull(error) || !hasOthers()) giveUp(error);
      throw error;
    }
  };
  const giveBack = (wire: Wire) => {
    if (wire.isLost) return;
    const [first] = waiting;
    if (!first) return void idle.push(wire);
    waiting.delete(first);
    clearTimeout(first.timer);
    first.resolve(wire);
  };
  const giveUp = (cause: unknown) => {
    if (unreachable !== undefined || isClosed) return;
    unreachable = cause;
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(new Unavailable(cause));
    }
    waiting.clear();
    // What stands idle has not answered any more than what was used.
    for (const wire of idle.splice(0)) wire.discard("the server does not answer");
    reachAgain();
  };
  const reachAgain = async () => {
    try {
      const wire = await openWire(settings, onLost);
      unreachable = undefined;
      open.add(wire);
      if (isClosed || open.size > size) wire.discard("it is not needed");
      else giveBack(wire);
    } catch (error) {
      unreachable = error;
      if (!isClosed) probe = setTimeout(reachAgain, bounds.probeMs);
    }
  };
  const wait = (withinMs: number) =>
    new Promise<Wire>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(tooManyWait("requests"));
      }, withinMs);
      const waiter = { resolve, reject, timer };
      waiting.add(waiter);
    });

  return {
    async lease(deadline, which) {
      if (isClosed) throw new Unavailable("The store is closed.");
      if (unreachable !== undefined) throw new Unavailable(unreachable);
      const wire = idle.pop();
      if (wire && which !== "fresh") return wire;
      wire?.discard("another has ended, so this one may have too");
      if (open.size + opening < size) {
        try {
          return await openOne();
        } catch (error) {
          // The server takes no more of us; what we have goes round.
          if (!isFull(error) || !hasOthers()) throw new Unavailable(error);
          const free = idle.pop();
          if (free) return free;
        }
      }
      if (waiting.size >= bounds.queued) throw tooManyWait("requests");
      return wait(Math.min(bounds.waitMs, deadline - Date.now()));
    },
    giveBack,
    giveUp,
    isReachable: () => unreachable === undefined && !isClosed,
    async close() {
      isClosed = true;
      clearTimeout(probe);
      await Promise.all(idle.splice(0).map(saidGoodbye));
      for (const wire of open) wire.discard("the pool is closed");
    },
  };
}

/** How long a server may take to hear the goodbye. */
const GOODBYE_MS = 500;

async function saidGoodbye(wire: Wire): Promise<void> {
  const timer = setTimeout(wire.discard, GOODBYE_MS, "it did not hear the goodbye");
  await wire.close();
  clearTimeout(timer);
}
