import { Unavailable } from "../../core/failure.ts";
import type { PoolFigures } from "../../core/figures.ts";
import { tooManyWait } from "../trouble.ts";
import { type Pulse, pulse } from "./pulse.ts";
import type { Use } from "./queue.ts";
import { giveUp, grow, isHeard, type Reach, SILENT_MS } from "./reach.ts";
import type { Wire, WireSettings } from "./wire.ts";
import { dropIdle, giveBack, isTaken, noWires, renew, take, type Wires } from "./wires.ts";

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
  /** A connection for the caller alone until it is given back; refused when none is to be had by the deadline. `fresh` asks for one that is known to be alive. */
  lease(deadline: number, use: Use, which?: "fresh"): Promise<Wire>;
  giveBack(wire: Wire): void;
  /** Whether whoever wants one for such a use waits for one to be given back, or behind others for one to be opened. */
  isTaken(use: Use): boolean;
  /** It is outdated: ends it and all that were open beside it, those in use when they are given back. */
  renew(wire: Wire): void;
  /** No answer came in time: ends the connection, and gives the server up if nothing else was heard of it either. */
  abandon(wire: Wire): void;
  isReachable(): boolean;
  figures(): PoolFigures;
  close(): Promise<void>;
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
  const wires = noWires(size, () =>
    isHeard(server) ? tooManyWait("requests") : new Unavailable("No connection was to be had in time."),
  );
  const reach: Reach = {
    settings,
    probeMs: bounds.probeMs,
    server,
    wires,
    opening: 0,
    unreachable: undefined,
    isProbing: false,
    isClosed: false,
  };
  return {
    lease: (deadline, use, which) => lease(reach, bounds, deadline, use, which),
    giveBack: (wire) => giveBack(wires, wire),
    isTaken: (use) => isTaken(wires, use),
    renew: (wire) => renew(wires, wire),
    abandon: (wire) => abandon(reach, wire),
    isReachable: () => reach.unreachable === undefined && !reach.isClosed,
    figures: () => figuresOf(wires),
    async close() {
      reach.isClosed = true;
      await Promise.all(wires.idle.splice(0).map((wire) => wire.close()));
      for (const wire of wires.open) wire.discard("the pool is closed");
    },
  };
}

async function lease(
  reach: Reach,
  bounds: PoolBounds,
  deadline: number,
  use: Use,
  which?: "fresh",
): Promise<Wire> {
  const { wires } = reach;
  const { queue } = wires;
  if (reach.isClosed) throw new Unavailable("The store is closed.");
  if (reach.unreachable !== undefined) throw new Unavailable();
  if (which === "fresh") dropIdle(wires, "another has ended, so this one may have too");
  const wire = take(wires, use);
  if (wire) return wire;
  if (queue.length("read") + queue.length("write") >= bounds.queued) throw tooManyWait("requests");
  const served = queue.wait(use, Math.min(bounds.waitMs, deadline - Date.now()));
  grow(reach);
  return served;
}

function abandon(reach: Reach, wire: Wire): void {
  const wasSilent = wire.silentMs() >= SILENT_MS;
  wire.discard("no answer came in time");
  if (!wasSilent) return;
  dropIdle(reach.wires, "another was silent, so this one may be too");
  if (!isHeard(reach.server)) giveUp(reach, "The server does not answer.");
}

function figuresOf({ open, idle, most, queue }: Wires): PoolFigures {
  return {
    used: open.size - idle.length,
    idle: idle.length,
    most,
    waitingReads: queue.length("read"),
    waitingWrites: queue.length("write"),
  };
}
