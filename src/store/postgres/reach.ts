import { Unavailable } from "../../core/failure.ts";
import type { Pulse } from "./pulse.ts";
import { isFull, isReadOnly, ReadOnly } from "./trouble.ts";
import { Lost, openWire, type Wire, type WireSettings } from "./wire.ts";
import { drop, dropIdle, giveBack, type Wires } from "./wires.ts";

/** A server that was heard of within this time is not given up, whatever becomes of one connection. */
export const SILENT_MS = 1500;

/** What a pool knows of its server, and how new connections to it come about. */
export interface Reach {
  readonly settings: WireSettings;
  /** The pause between two tries to reach a server that could not be reached. */
  readonly probeMs: number;
  readonly server: Pulse;
  readonly wires: Wires;
  /** Connections on their way. */
  opening: number;
  /** Why the server was given up; nothing while it can be reached. */
  unreachable: unknown;
  isProbing: boolean;
  isClosed: boolean;
}

export function isHeard(server: Pulse): boolean {
  return performance.now() - server.heardAt < SILENT_MS;
}

/** As many connections on their way as there are requests that wait and may have one; none is for one of them alone. */
export function grow(reach: Reach): void {
  if (reach.isClosed) return;
  const { queue, open, most, mostWriting, writing } = reach.wires;
  const served = queue.length("read") + Math.min(queue.length("write"), mostWriting - writing.size);
  const missing = Math.min(served - reach.opening, most - open.size - reach.opening);
  for (let n = 0; n < missing; n++) void openForAll(reach);
}

/** Everything is refused at once, until a connection answers. */
export function giveUp(reach: Reach, cause: unknown): void {
  if (reach.unreachable !== undefined || reach.isClosed) return;
  reach.unreachable = cause;
  reach.server.onAway(cause);
  reach.wires.queue.refuseAll(() => new Unavailable());
  // What stands idle has not answered any more than what was used.
  dropIdle(reach.wires, "the server does not answer");
  reachAgain(reach);
}

async function openForAll(reach: Reach): Promise<void> {
  reach.opening += 1;
  try {
    await openOne(reach).finally(() => {
      reach.opening -= 1;
    });
  } catch (error) {
    if (!isAlone(reach, error)) return giveUp(reach, error);
    // No more is to be had now: what we have goes round, and for those who still wait then another is tried.
    setTimeout(grow, reach.probeMs, reach);
  }
}

/** Whether a connect that failed tells of itself alone, because others of ours are served. */
function isAlone(reach: Reach, error: unknown): boolean {
  const { open } = reach.wires;
  if (isReadOnly(error)) return false;
  return isFull(error) ? open.size + reach.opening > 0 : open.size > 0 && isHeard(reach.server);
}

async function openOne(reach: Reach): Promise<void> {
  const { settings, server, wires } = reach;
  const wire = await openWire(
    settings,
    (lost) => {
      if (drop(wires, lost)) grow(reach);
    },
    () => {
      server.heardAt = performance.now();
    },
  );
  if (settings.isForWrites) await requireWrites(wire, settings.connectMs);
  // A server that is being stopped greets and says goodbye in one breath.
  if (wire.isLost) throw new Lost("the server ended it as it began");
  if (reach.isClosed || wires.open.size >= wires.most) return wire.discard("it is not needed");
  wires.open.add(wire);
  reached(reach);
  giveBack(wires, wire);
}

async function requireWrites(wire: Wire, withinMs: number): Promise<void> {
  const timer = setTimeout(wire.discard, withinMs, "no answer came in time");
  try {
    const { rows } = await wire.send({ text: "show transaction_read_only" });
    if ((rows[0] as { transaction_read_only: string }).transaction_read_only === "on") throw new ReadOnly();
  } catch (error) {
    wire.discard(String(error));
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function reached(reach: Reach): void {
  if (reach.unreachable === undefined) return;
  reach.unreachable = undefined;
  reach.server.onBack();
}

async function reachAgain(reach: Reach): Promise<void> {
  if (reach.isProbing) return;
  reach.isProbing = true;
  while (reach.unreachable !== undefined && !reach.isClosed) {
    try {
      await openOne(reach);
      reached(reach);
    } catch (error) {
      if (reach.unreachable !== undefined) reach.unreachable = error;
      await Bun.sleep(reach.probeMs);
    }
  }
  reach.isProbing = false;
}
