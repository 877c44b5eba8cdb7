import { type Absences, type AbsencesOptions, absences } from "./absences.ts";
import type { CatchingUp } from "./catching-up.ts";
import type { Reply } from "./driver.ts";
import { type Link, openLink, type Send } from "./link.ts";
import type { Owns } from "./missed.ts";
import { Elsewhere } from "./not-done.ts";
import { urlAt } from "./owners.ts";
import type { ScriptName } from "./scripts.ts";
import { SLOTS, slotOf } from "./slots.ts";

/** A node that owns nothing is kept so long after it was last named: it may be about to get slots. */
const NAMED_MS = 60_000;

export interface TableOptions extends CatchingUp, AbsencesOptions {
  /** One server, or some nodes of one cluster. */
  readonly urls: readonly string[];
  readonly timeoutMs: number;
  /** Keys that may be written, in all slots. */
  readonly probeKey: (number: number) => string;
}

export interface Node extends Link {
  readonly address: string;
  /** How it is called when it goes away or comes back: the one server has no name. */
  readonly name: string | null;
  /** Runs a script here, or where it is said to belong. */
  readonly ask: Send;
  namedAt: number;
  hasOwned: boolean;
}

/** The node of each slot. */
export type Owners = (Node | undefined)[];

/** The nodes that are known, and who of them owns what. */
export interface Table {
  readonly options: TableOptions;
  readonly nodes: Map<string, Node>;
  readonly absences: Absences;
  kind: "unknown" | "single" | "cluster";
  /** As it was last heard, and as it is in force: an owner that is new catches up before it is asked. */
  heard: Owners;
  owners: Owners;
  /** A slot was not where it should be: the nodes are to be asked again. */
  isStale: boolean;
  isClosed: boolean;
}

export function emptyTable(options: TableOptions): Table {
  const owners: Owners = new Array(SLOTS).fill(undefined);
  return {
    options,
    nodes: new Map(),
    absences: absences(options),
    kind: "unknown",
    heard: owners,
    owners,
    isStale: true,
    isClosed: false,
  };
}

/** The link to a node, opened if it is new. */
export function nodeAt(table: Table, address: string, firstAnswerMs = table.options.timeoutMs): Node {
  const opened = table.nodes.get(address);
  if (opened) {
    opened.namedAt = performance.now();
    return opened;
  }
  const { urls, timeoutMs, catchUp, tellRest } = table.options;
  const isNode = table.kind === "cluster";
  const name = isNode ? address : null;
  const owns: Owns = (slot) => table.owners[slot] === node;
  const link = openLink({
    url: urlAt(urls[0] as string, address),
    isNode,
    timeoutMs,
    firstAnswerMs,
    probeKey: probeKeys(table, () => node),
    catchUp: (send) => catchUp(following(table, send), owns),
    onDown: (cause) => table.absences.begin(name, cause),
    onRefused: (cause) => table.absences.goOn(name, cause),
    onUp: (send) => {
      tellRest(following(table, send), owns);
      // One that is about to get slots is back when it has them.
      if (table.owners.includes(node) || !table.heard.includes(node)) table.absences.end(name);
    },
  });
  const ask = isNode ? following(table, link.send) : link.send;
  const node: Node = { ...link, address, name, ask, namedAt: performance.now(), hasOwned: false };
  table.nodes.set(address, node);
  return node;
}

/** Forgets the nodes that own nothing and are not expected to. */
export function dropOwnerless({ nodes, owners, absences }: Table): void {
  for (const node of nodes.values()) {
    const isOver = (node.hasOwned && !node.isUp()) || performance.now() - node.namedAt > NAMED_MS;
    if (owners.includes(node) || !isOver) continue;
    nodes.delete(node.address);
    node.close();
    absences.end(node.name);
  }
}

/** The next key in a slot of this node, another if the last was refused. */
function probeKeys(table: Table, own: () => Node): (isRefused: boolean) => string | null {
  const { probeKey } = table.options;
  let number = 0;
  return (isRefused) => {
    const node = own();
    if (!table.heard.includes(node)) return null;
    if (isRefused) number += 1;
    while (table.heard[slotOf(probeKey(number))] !== node) number += 1;
    return probeKey(number);
  };
}

/** Sends once more, to the node that the first one names. */
function following(table: Table, send: Send): Send {
  return (script, ...args) =>
    send(script, ...args).catch((error) => {
      if (error instanceof Elsewhere) return follow(table, error, script, args);
      throw error;
    });
}

async function follow(table: Table, error: Elsewhere, script: ScriptName, args: string[]): Promise<Reply> {
  if (table.isClosed) throw error;
  const node = error.address === null ? undefined : nodeAt(table, error.address);
  if (error.kind === "MOVED" || error.kind === "CLUSTERDOWN") {
    const slot = slotOf(args[0] as string);
    table.heard[slot] = node;
    table.owners[slot] = node;
    table.isStale = true;
  }
  if (!node) throw error;
  await node.known;
  return error.kind === "ASK" ? node.sendAsking(script, ...args) : node.send(script, ...args);
}
