import { type Owned, ownersAt, urlAt } from "./owners.ts";
import { SLOTS } from "./slots.ts";
import { dropOwnerless, type Node, nodeAt, type Owners, type Table } from "./table.ts";

/** How long a start waits for the first answer. */
const FIRST_ANSWER_MS = 1000;
const ANSWER_WITHIN_MS = 500;

/** Who owns what, as a node says; or that it is the only one. */
export type Heard = readonly Owned[] | { readonly single: string };

/** What some owner that is up knows (one that owns nothing may have left the cluster), or else the first that answers. */
export function ask(table: Table): Promise<Heard> {
  const { nodes, owners, options } = table;
  const up = [...nodes.values()].filter((node) => node.isUp() && owners.includes(node));
  const some = up[Math.floor(Math.random() * up.length)];
  const known = new Set([...options.urls.map((url) => new URL(url).host), ...nodes.keys()]);
  return Promise.any((some ? [some.address] : [...known]).map((address) => askAt(table, address)));
}

async function askAt({ options: { urls }, kind }: Table, address: string): Promise<Heard> {
  const url = urlAt(urls[0] as string, address);
  const owned = await ownersAt(url, kind === "unknown" ? FIRST_ANSWER_MS : ANSWER_WITHIN_MS);
  if (owned === null && urls.length > 1)
    throw new Error(`${address} is no node of a cluster, and there are several addresses`);
  // As one does that was taken out of its cluster.
  if (owned?.length === 0) throw new Error(`${address} knows of no node that has slots`);
  return owned ?? { single: address };
}

/** Puts it in force, as soon as every owner is up or known to be away, and knows what it has missed. */
export async function hear(table: Table, what: Heard): Promise<void> {
  if (table.isClosed) return;
  const isFirst = table.kind === "unknown";
  if (isFirst) table.kind = "single" in what ? "single" : "cluster";
  if ("single" in what !== (table.kind === "single")) return;
  const { catchUp, tellRest, timeoutMs } = table.options;
  const latest = ownersOf(table, what, isFirst ? FIRST_ANSWER_MS : timeoutMs);
  table.heard = latest;
  const present = [...new Set(latest)].filter((node) => node !== undefined);
  await Promise.all(present.map((node) => node.known));
  const up = present.filter((node) => node.isUp());
  const gainedBy = (node: Node) => (slot: number) => latest[slot] === node && table.owners[slot] !== node;
  await Promise.all(up.map((node) => catchUp(node.ask, gainedBy(node))));
  if (table.isClosed) return;
  for (const node of up) tellRest(node.ask, gainedBy(node));
  table.owners = latest;
  for (const node of present) node.hasOwned = true;
  for (const node of up) if (node.isUp()) table.absences.end(node.name);
  dropOwnerless(table);
  const unowned = latest.indexOf(undefined);
  if (unowned >= 0) table.absences.begin(null, `no node has slot ${unowned}`);
  else if (table.kind === "cluster") table.absences.end(null);
}

function ownersOf(table: Table, what: Heard, firstAnswerMs: number): Owners {
  const ranges = "single" in what ? [{ from: 0, to: SLOTS - 1, address: what.single }] : what;
  const owners: Owners = new Array(SLOTS).fill(undefined);
  for (const { from, to, address } of ranges)
    owners.fill(nodeAt(table, address, firstAnswerMs), from, to + 1);
  return owners;
}
