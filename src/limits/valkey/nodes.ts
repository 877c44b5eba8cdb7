import type { CatchingUp } from "./catching-up.ts";
import type { Reply } from "./driver.ts";
import { type Link, openLink, type Send } from "./link.ts";
import type { Owns } from "./missed.ts";
import { Elsewhere } from "./not-done.ts";
import { type Owned, ownersAt, urlAt } from "./owners.ts";
import type { ScriptName } from "./scripts.ts";
import { SLOTS, slotOf } from "./slots.ts";

/** How long a start waits for the first answer. */
const FIRST_ANSWER_MS = 1000;
const LOOK_EVERY_MS = 100;
/** How often nodes are asked who owns what: while something is wrong, and otherwise. */
const ASK_IN_TROUBLE_MS = 250;
const ASK_MS = 30_000;
const ANSWER_WITHIN_MS = 500;
/** A node that owns nothing is kept so long after it was last named: it may be about to get slots. */
const NAMED_MS = 60_000;

export interface NodesOptions extends CatchingUp {
  /** One server, or some nodes of one cluster. */
  readonly urls: readonly string[];
  readonly timeoutMs: number;
  /** Keys that may be written, in all slots. */
  readonly probeKey: (number: number) => string;
  /** A node went away, or all there is (null). */
  readonly onAway: (cause: string, node: string | null) => void;
  /** It is still away, for a cause that was not told yet. */
  readonly onStillAway: (cause: string, node: string | null) => void;
  /** It is back, or another has taken its place, and has caught up. */
  readonly onBack: (node: string | null) => void;
}

export interface Nodes {
  /** The way to the one that owns a key; null while it is away. */
  to(name: string): Send | null;
  isAway(): boolean;
  /** How many links there are, and with how many the breaker is open. */
  links(): { readonly links: number; readonly openBreakers: number };
  /** All have answered for the first time, or are known to be away. */
  readonly settled: Promise<void>;
  close(): void;
}

interface Node extends Link {
  readonly address: string;
  /** How it is called when it goes away or comes back: the one server has no name. */
  readonly name: string | null;
  /** Runs a script here, or where it is said to belong. */
  readonly ask: Send;
  namedAt: number;
  hasOwned: boolean;
}

type Owners = (Node | undefined)[];

/**
 * The one server, or the primaries of a cluster, each with a breaker of its own, and which of them owns which slot. Who owns
 * what is asked again while a node is away, and when a slot is not where it was.
 */
export function openNodes(options: NodesOptions): Nodes {
  const { urls, timeoutMs, catchUp, tellRest } = options;
  const nodes = new Map<string, Node>();
  /** Those that are away, and the causes that were told. */
  const away = new Map<string | null, Set<string>>();
  const settled = Promise.withResolvers<void>();
  /** As it was last heard, and as it is in force: an owner that is new catches up before it is asked. */
  let heard: Owners = new Array(SLOTS).fill(undefined);
  let owners: Owners = heard;
  let kind: "unknown" | "single" | "cluster" = "unknown";
  let isClosed = false;

  const goAway = (node: string | null, cause: string) => {
    if (away.has(node)) return;
    away.set(node, new Set([kindOf(cause)]));
    options.onAway(cause, node);
  };
  const stayAway = (node: string | null, cause: string) => {
    const told = away.get(node);
    if (!told || told.has(kindOf(cause))) return;
    told.add(kindOf(cause));
    options.onStillAway(cause, node);
  };
  const comeBack = (node: string | null) => {
    if (away.delete(node)) options.onBack(node);
  };

  /** The link to a node, opened if it is new. */
  const nodeAt = (address: string, firstAnswerMs = timeoutMs): Node => {
    const opened = nodes.get(address);
    if (opened) {
      opened.namedAt = performance.now();
      return opened;
    }
    const isNode = kind === "cluster";
    const name = isNode ? address : null;
    const owns: Owns = (slot) => owners[slot] === node;
    let probe = 0;
    const link = openLink({
      url: urlAt(urls[0] as string, address),
      isNode,
      timeoutMs,
      firstAnswerMs,
      probeKey: (isRefused) => {
        if (!heard.includes(node)) return null;
        if (isRefused) probe += 1;
        while (heard[slotOf(options.probeKey(probe))] !== node) probe += 1;
        return options.probeKey(probe);
      },
      catchUp: (send) => catchUp(following(send), owns),
      onDown: (cause) => goAway(name, cause),
      onRefused: (cause) => stayAway(name, cause),
      onUp: (send) => {
        tellRest(following(send), owns);
        // One that is about to get slots is back when it has them.
        if (owners.includes(node) || !heard.includes(node)) comeBack(name);
      },
    });
    const ask = isNode ? following(link.send) : link.send;
    const node: Node = { ...link, address, name, ask, namedAt: performance.now(), hasOwned: false };
    nodes.set(address, node);
    return node;
  };

  /** Sends once more, to the node that the first one names. */
  const following =
    (send: Send): Send =>
    (script, ...args) =>
      send(script, ...args).catch((error) => {
        if (error instanceof Elsewhere) return follow(error, script, args);
        throw error;
      });
  const follow = async (error: Elsewhere, script: ScriptName, args: string[]): Promise<Reply> => {
    if (isClosed) throw error;
    const node = error.address === null ? undefined : nodeAt(error.address);
    if (error.kind === "MOVED" || error.kind === "CLUSTERDOWN") {
      const slot = slotOf(args[0] as string);
      heard[slot] = node;
      owners[slot] = node;
      isStale = true;
    }
    if (!node) throw error;
    await node.settled;
    return error.kind === "ASK" ? node.sendAsking(script, ...args) : node.send(script, ...args);
  };

  let isStale = true;
  let isAsking = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  const look = async () => {
    for (const node of nodes.values()) if (node.isUp()) tellRest(node.ask, (slot) => owners[slot] === node);
    if (isAsking || (kind === "single" && !isStale)) return;
    const isTrouble = isStale || away.size > 0;
    if (performance.now() - askedAt < (isTrouble ? ASK_IN_TROUBLE_MS : ASK_MS)) return;
    askedAt = performance.now();
    isAsking = true;
    isStale = false;
    try {
      await hear(await ask());
    } catch (error) {
      isStale = true;
      if (kind === "unknown" && !isClosed) {
        goAway(null, causeOf(error));
        stayAway(null, causeOf(error));
      }
    }
    isAsking = false;
    settled.resolve();
  };

  /** What some owner that is up knows (one that owns nothing may have left the cluster), or else the first that answers. */
  const ask = (): Promise<Heard> => {
    const up = [...nodes.values()].filter((node) => node.isUp() && owners.includes(node));
    const some = up[Math.floor(Math.random() * up.length)];
    const known = new Set([...urls.map((url) => new URL(url).host), ...nodes.keys()]);
    return Promise.any((some ? [some.address] : [...known]).map(askAt));
  };
  const askAt = async (address: string): Promise<Heard> => {
    const url = urlAt(urls[0] as string, address);
    const owned = await ownersAt(url, kind === "unknown" ? FIRST_ANSWER_MS : ANSWER_WITHIN_MS);
    if (owned === null && urls.length > 1)
      throw new Error(`${address} is no node of a cluster, and there are several addresses`);
    // As one does that was taken out of its cluster.
    if (owned?.length === 0) throw new Error(`${address} knows of no node that has slots`);
    return owned ?? { single: address };
  };

  /** Puts it in force, as soon as every owner is up or known to be away, and knows what it has missed. */
  const hear = async (what: Heard) => {
    if (isClosed) return;
    const isFirst = kind === "unknown";
    if (isFirst) kind = "single" in what ? "single" : "cluster";
    if ("single" in what !== (kind === "single")) return;
    const ranges = "single" in what ? [{ from: 0, to: SLOTS - 1, address: what.single }] : what;
    const latest: Owners = new Array(SLOTS).fill(undefined);
    for (const { from, to, address } of ranges)
      latest.fill(nodeAt(address, isFirst ? FIRST_ANSWER_MS : timeoutMs), from, to + 1);
    heard = latest;
    const present = [...new Set(latest)].filter((node) => node !== undefined);
    await Promise.all(present.map((node) => node.settled));
    const up = present.filter((node) => node.isUp());
    const gainedBy = (node: Node) => (slot: number) => latest[slot] === node && owners[slot] !== node;
    await Promise.all(up.map((node) => catchUp(node.ask, gainedBy(node))));
    if (isClosed) return;
    for (const node of up) tellRest(node.ask, gainedBy(node));
    owners = latest;
    for (const node of present) node.hasOwned = true;
    for (const node of up) if (node.isUp()) comeBack(node.name);
    for (const node of nodes.values()) if (!owners.includes(node) && isOver(node)) leave(node);
    const unowned = latest.indexOf(undefined);
    if (unowned >= 0) goAway(null, `no node has slot ${unowned}`);
    else if (kind === "cluster") comeBack(null);
  };
  const isOver = ({ hasOwned, isUp, namedAt }: Node) =>
    (hasOwned && !isUp()) || performance.now() - namedAt > NAMED_MS;
  const leave = (node: Node) => {
    nodes.delete(node.address);
    node.close();
    comeBack(node.name);
  };

  const looking = setInterval(look, LOOK_EVERY_MS);
  void look();

  return {
    to(name) {
      const node = owners[kind === "single" ? 0 : slotOf(name)];
      return node?.isUp() ? node.ask : null;
    },
    isAway: () => kind === "unknown" || away.size > 0,
    links: () => ({
      links: nodes.size,
      openBreakers: [...nodes.values()].filter((node) => !node.isUp()).length,
    }),
    settled: settled.promise,
    close() {
      isClosed = true;
      clearInterval(looking);
      for (const node of nodes.values()) node.close();
      settled.resolve();
    },
  };
}

type Heard = readonly Owned[] | { readonly single: string };

/** What Valkey says begins with a word for its kind, such as WRONGPASS. */
function kindOf(cause: string): string {
  return cause.split(" ", 1)[0] as string;
}

function causeOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message || String((first as { code?: unknown }).code) : String(first);
}
