import { Unavailable } from "../../core/failure.ts";
import type { PoolFigures } from "../../core/figures.ts";
import { tooManyWait } from "../trouble.ts";
import { type Pulse, pulse } from "./pulse.ts";
import { isFull } from "./trouble.ts";
import { Lost, openWire, type Wire, type WireSettings } from "./wire.ts";

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
const OUTDATED = "what was prepared on it holds no more";

export type Use = "read" | "write";

export interface Pool {
  /** A connection for the caller alone until it is given back; refused when none is to be had by the deadline. `fresh` asks for one that is known to be alive. */
  lease(deadline: number, use: Use, which?: "fresh"): Promise<Wire>;
  giveBack(wire: Wire): void;
  /** What was prepared on it holds no more: ends it and all that were open beside it, those in use when they are given back. */
  renew(wire: Wire): void;
  /** No answer came in time: ends the connection, and gives the server up if nothing else was heard of it either. */
  abandon(wire: Wire): void;
  isReachable(): boolean;
  figures(): PoolFigures;
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
 * At most `size` connections, opened when they are needed; writes have some less. Who needs one waits, until its own
 * deadline, for whichever is free first, a new one or one that was given back: no one waits for one connect alone.
 * While the server cannot be reached everything is refused at once, and one connection after another is tried until
 * one answers.
 */
export function openPool(
  settings: WireSettings,
  size: number,
  bounds: PoolBounds = POOL_BOUNDS,
  server: Pulse = pulse(),
): Pool {
  const idle: Wire[] = [];
  const open = new Set<Wire>();
  const waiting: Record<Use, Set<Waiter>> = { read: new Set(), write: new Set() };
  const writing = new Set<Wire>();
  const outdated = new WeakSet<Wire>();
  const mostWriting = Math.max(1, size - KEPT_FOR_READS);
  let opening = 0;
  let waited = 0;
  let unreachable: unknown;
  let isProbing = false;
  let isClosed = false;

  const onHeard = () => {
    server.heardAt = performance.now();
  };
  const isReachable = () => unreachable === undefined && !isClosed;
  const isHeard = () => performance.now() - server.heardAt < SILENT_MS;
  const mayWrite = () => writing.size < mostWriting;
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
  const dropIdle = (cause: string) => {
    for (const wire of idle.splice(0)) wire.discard(cause);
  };

  const onLost = (wire: Wire) => {
    if (!open.delete(wire)) return;
    writing.delete(wire);
    const place = idle.indexOf(wire);
    if (place >= 0) idle.splice(place, 1);
    serveWaiting();
    grow();
  };
  /** As many connections on their way as there are requests that wait and may have one; none is for one of them alone. */
  const grow = () => {
    if (isClosed) return;
    const served = waiting.read.size + Math.min(waiting.write.size, mostWriting - writing.size);
    const missing = Math.min(served - opening, size - open.size - opening);
    for (let n = 0; n < missing; n++) void openForAll();
  };
  const openForAll = async () => {
    opening += 1;
    try {
      await openOne().finally(() => {
        opening -= 1;
      });
    } catch (error) {
      if (!isAlone(error)) return giveUp(error);
      // No more is to be had now: what we have goes round, and for those who still wait then another is tried.
      setTimeout(grow, bounds.probeMs);
    }
  };
  /** Whether a connect that failed tells of itself alone, because others of ours are served. */
  const isAlone = (error: unknown) => (isFull(error) ? open.size + opening > 0 : open.size > 0 && isHeard());
  const openOne = async () => {
    const wire = await openWire(settings, onLost, onHeard);
    // A server that is being stopped greets and says goodbye in one breath.
    if (wire.isLost) throw new Lost("the server ended it as it began");
    if (isClosed || open.size >= size) return wire.discard("it is not needed");
    open.add(wire);
    reached();
    giveBack(wire);
  };
  const giveBack = (wire: Wire) => {
    writing.delete(wire);
    if (outdated.has(wire)) wire.discard(OUTDATED);
    if (wire.isLost) return;
    idle.push(wire);
    serveWaiting();
  };
  const giveUp = (cause: unknown) => {
    if (unreachable !== undefined || isClosed) return;
    unreachable = cause;
    server.onAway(cause);
    for (const { reject, timer } of [...waiting.read, ...waiting.write]) {
      clearTimeout(timer);
      reject(new Unavailable());
    }
    waiting.read.clear();
    waiting.write.clear();
    // What stands idle has not answered any more than what was used.
    dropIdle("the server does not answer");
    reachAgain();
  };
  const reached = () => {
    if (unreachable === undefined) return;
    unreachable = undefined;
    server.onBack();
  };
  const reachAgain = async () => {
    if (isProbing) return;
    isProbing = true;
    while (unreachable !== undefined && !isClosed) {
      try {
        await openOne();
        reached();
      } catch (error) {
        if (unreachable !== undefined) unreachable = error;
        await Bun.sleep(bounds.probeMs);
      }
    }
    isProbing = false;
  };
  const wait = (use: Use, withinMs: number) =>
    new Promise<Wire>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting[use].delete(waiter);
        reject(isHeard() ? tooManyWait("requests") : new Unavailable("No connection was to be had in time."));
      }, withinMs);
      waited += 1;
      const waiter = { use, number: waited, resolve, reject, timer };
      waiting[use].add(waiter);
    });

  return {
    async lease(deadline, use, which) {
      if (isClosed) throw new Unavailable("The store is closed.");
      if (unreachable !== undefined) throw new Unavailable();
      if (which === "fresh") dropIdle("another has ended, so this one may have too");
      const wire = use === "read" || mayWrite() ? idle.pop() : undefined;
      if (wire) return handed(wire, use);
      if (waiting.read.size + waiting.write.size >= bounds.queued) throw tooManyWait("requests");
      const served = wait(use, Math.min(bounds.waitMs, deadline - Date.now()));
      grow();
      return served;
    },
    giveBack,
    renew(wire) {
      // Those that were opened since have nothing to do with it.
      if (!outdated.has(wire)) {
        for (const each of open) outdated.add(each);
        dropIdle(OUTDATED);
      }
      wire.discard(OUTDATED);
    },
    abandon(wire) {
      const wasSilent = wire.silentMs() >= SILENT_MS;
      wire.discard("no answer came in time");
      if (!wasSilent) return;
      dropIdle("another was silent, so this one may be too");
      if (!isHeard()) giveUp("The server does not answer.");
    },
    isReachable,
    figures: () => ({
      used: open.size - idle.length,
      idle: idle.length,
      most: size,
      waitingReads: waiting.read.size,
      waitingWrites: waiting.write.size,
    }),
    async close() {
      isClosed = true;
      await Promise.all(idle.splice(0).map((wire) => wire.close()));
      for (const wire of open) wire.discard("the pool is closed");
    },
  };
}
