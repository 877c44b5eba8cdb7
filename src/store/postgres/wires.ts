import { openQueue, type Queue, type Use } from "./queue.ts";
import type { Wire } from "./wire.ts";

/** Connections that writes leave to reads, which are quick and never wait for a row. */
const KEPT_FOR_READS = 2;
const OUTDATED = "what was known of its server holds no more";

/** The connections of a pool, who has them, and who waits for one. */
export interface Wires {
  readonly most: number;
  readonly mostWriting: number;
  readonly open: Set<Wire>;
  readonly idle: Wire[];
  readonly writing: Set<Wire>;
  /** To be ended when they are given back. */
  readonly outdated: WeakSet<Wire>;
  readonly queue: Queue;
}

export function noWires(most: number, late: () => Error): Wires {
  return {
    most,
    mostWriting: Math.max(1, most - KEPT_FOR_READS),
    open: new Set(),
    idle: [],
    writing: new Set(),
    outdated: new WeakSet(),
    queue: openQueue(late),
  };
}

/** An idle one, if there is one for this use. */
export function take(wires: Wires, use: Use): Wire | undefined {
  const wire = use === "read" || mayWrite(wires) ? wires.idle.pop() : undefined;
  return wire && handed(wires, wire, use);
}

export function giveBack(wires: Wires, wire: Wire): void {
  wires.writing.delete(wire);
  if (wires.outdated.has(wire)) wire.discard(OUTDATED);
  if (wire.isLost) return;
  wires.idle.push(wire);
  serveWaiting(wires);
}

/** Whether whoever wants one waits behind others. */
export function isTaken(wires: Wires, use: Use): boolean {
  const { open, idle, most, queue } = wires;
  if (use === "write" && !mayWrite(wires)) return true;
  return idle.length === 0 && (open.size >= most || queue.length(use) > 0);
}

/** It has ended; whether it was one of ours. */
export function drop(wires: Wires, wire: Wire): boolean {
  const { open, writing, idle } = wires;
  if (!open.delete(wire)) return false;
  writing.delete(wire);
  const place = idle.indexOf(wire);
  if (place >= 0) idle.splice(place, 1);
  serveWaiting(wires);
  return true;
}

export function dropIdle({ idle }: Wires, cause: string): void {
  for (const wire of idle.splice(0)) wire.discard(cause);
}

/** Ends one that is outdated and all that were open beside it; those that were opened since have nothing to do with it. */
export function renew(wires: Wires, wire: Wire): void {
  const { open, outdated } = wires;
  if (!outdated.has(wire)) {
    for (const each of open) outdated.add(each);
    dropIdle(wires, OUTDATED);
  }
  wire.discard(OUTDATED);
}

function serveWaiting(wires: Wires): void {
  const { queue, idle } = wires;
  let waiter = queue.next(mayWrite(wires));
  while (waiter && idle.length > 0) {
    queue.serve(waiter, handed(wires, idle.pop() as Wire, waiter.use));
    waiter = queue.next(mayWrite(wires));
  }
}

function mayWrite({ writing, mostWriting }: Wires): boolean {
  return writing.size < mostWriting;
}

function handed({ writing }: Wires, wire: Wire, use: Use): Wire {
  if (use === "write") writing.add(wire);
  return wire;
}
