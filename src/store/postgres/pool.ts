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

/** Connections that writes leave to reads, which are quick and never wait for a row. */
const KEPT_FOR_READS = 2;
/** A server that was heard of within this time is not given up, whatever becomes of one connection. */
const SILENT_MS = 1500;

/** When the server was last heard of; what ends one connection says nothing of it while others are answered. */
export interface Pulse {
  heardAt: number;
}

export type Use = "read" | "write";

export interface Pool {
  /** A connection for the caller alone until it is given back; refused when none is to be had by the deadline. */
  lease(deadline: number, use: Use, which?: "fresh"): Promise<Wire>;
  giveBack(wire: Wire): void;
  /** No answer came in time: ends the connection, and gives the server up if nothing else was heard of it either. */
  abandon(wire: Wire): void;
  isReachable(): boolean;
  close(): Promise<void>;
}

interface Waiter {
  readonly use: Use;
  readonly number: number;
  readonly resolve: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
}

/**
 * At most `size` connections, opened when they are needed; writes have some less. While the server cannot be reached
 * everything is refused at once, and one connection after another is tried until one answers.
 */
export function openPool(
  settings: WireSettings,
  size: number,
  bounds: PoolBounds = POOL_BOUNDS,
  pulse: Pulse = { heardAt: 0 },
): Pool {
  const idle: Wire[] = [];
  const open = new Set<Wire>();
  const waiting: Record<Use, Set<Waiter>> = { read: new Set(), write: new Set() };
  const writing = new Set<Wire>();
  const mostWriting = Math.max(1, size - KEPT_FOR_READS);
  let opening = 0;
  let openingToWrite = 0;
  let waited = 0;
  let unreachable: unknown;
  let probe: Timer | undefined;
  let isClosed = false;

  const onHeard = () => {
    pulse.heardAt = Date.now();
  };
  const isReachable = () => unreachable === undefined && !isClosed;
  const isHeard = () => Date.now() - pulse.heardAt < SILENT_MS;
  const mayWrite = () => writing.size + openingToWrite < mostWriting;
  const isAllowed = (use: Use) => use === "read" || mayWrite();
  const handed = (wire: Wire, use: Use): Wire => {
    if (use === "write") writing.add(wire);
    return wire;
  };
  /** The one that waits longest of those that may have a connection now. */
  const nextWaiter = (): Waiter | undefined => {
    const [read] = waiting.read;
    const [write] = mayWrite() ? waiting.write : [];
    return read && write ? (read.number < write.number ? read : write) : (read ?? write);
  };
  const serveWaiting = () => {
    for (let next = nextWaiter(); next && idle.length > 0; next = nextWaiter()) {
      waiting[next.use].delete(next);
      clearTimeout(next.timer);
      next.resolve(handed(idle.pop() as Wire, next.use));
    }
  };

  const onLost = (wire: Wire) => {
    if (!open.delete(wire)) return;
    writing.delete(wire);
    const place = idle.indexOf(wire);
    if (place >= 0) idle.splice(place, 1);
    serveWaiting();
    // Its place is free for the one that waits longest.
    if (nextWaiter() && !isClosed) openOne().then(giveBack, () => {});
  };
  /** Whether a connect that failed tells of itself alone, because others of ours are served. */
  const isAlone = (error: unknown) => (isFull(error) ? open.size + opening > 0 : open.size > 0 && isHeard());
  const openOne = async (): Promise<Wire> => {
    opening += 1;
    try {
      const wire = await openWire(settings, onLost, onHeard).finally(() => {
        opening -= 1;
      });
      open.add(wire);
      if (isClosed) wire.discard("the pool is closed");
      return wire;
    } catch (error) {
      if (!isAlone(error)) giveUp(error);
      throw error;
    }
  };
  const openFor = async (use: Use): Promise<Wire> => {
    if (use === "read") return openOne();
    openingToWrite += 1;
    try {
      return handed(await openOne(), use);
    } finally {
      openingToWrite -= 1;
    }
  };
  const giveBack = (wire: Wire) => {
    writing.delete(wire);
    if (wire.isLost) return;
    idle.push(wire);
    serveWaiting();
  };
  const giveUp = (cause: unknown) => {
    if (unreachable !== undefined || isClosed) return;
    unreachable = cause;
    for (const { reject, timer } of [...waiting.read, ...waiting.write]) {
      clearTimeout(timer);
      reject(new Unavailable(cause));
    }
    waiting.read.clear();
    waiting.write.clear();
    // What stands idle has not answered any more than what was used.
    for (const wire of idle.splice(0)) wire.discard("the server does not answer");
    reachAgain();
  };
  const reachAgain = async () => {
    try {
      const wire = await openWire(settings, onLost, onHeard);
      unreachable = undefined;
      open.add(wire);
      if (isClosed || open.size > size) wire.discard("it is not needed");
      else giveBack(wire);
    } catch (error) {
      unreachable = error;
      if (!isClosed) probe = setTimeout(reachAgain, bounds.probeMs);
    }
  };
  const wait = (use: Use, withinMs: number) =>
    new Promise<Wire>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting[use].delete(waiter);
        reject(tooManyWait("requests"));
      }, withinMs);
      waited += 1;
      const waiter = { use, number: waited, resolve, reject, timer };
      waiting[use].add(waiter);
    });

  return {
    async lease(deadline, use, which) {
      if (isClosed) throw new Unavailable("The store is closed.");
      if (unreachable !== undefined) throw new Unavailable(unreachable);
      if (isAllowed(use)) {
        const wire = idle.pop();
        if (wire && which !== "fresh") return handed(wire, use);
        wire?.discard("another has ended, so this one may have too");
        if (open.size + opening < size) {
          try {
            return await openFor(use);
          } catch (error) {
            // No more is to be had now; what we have goes round.
            if (!isReachable()) throw new Unavailable(error);
            const free = isAllowed(use) ? idle.pop() : undefined;
            if (free) return handed(free, use);
          }
        }
      }
      if (waiting.read.size + waiting.write.size >= bounds.queued) throw tooManyWait("requests");
      return wait(use, Math.min(bounds.waitMs, deadline - Date.now()));
    },
    giveBack,
    abandon(wire) {
      const wasSilent = wire.silentMs() >= SILENT_MS;
      wire.discard("no answer came in time");
      if (wasSilent && !isHeard()) giveUp("The server does not answer.");
    },
    isReachable,
    async close() {
      isClosed = true;
      clearTimeout(probe);
      await Promise.all(idle.splice(0).map((wire) => wire.close()));
      for (const wire of open) wire.discard("the pool is closed");
    },
  };
}
