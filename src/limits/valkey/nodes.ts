import { ask, hear } from "./hearing.ts";
import type { Send } from "./link.ts";
import { slotOf } from "./slots.ts";
import { emptyTable, type Table, type TableOptions } from "./table.ts";

const LOOK_EVERY_MS = 100;
/** How often nodes are asked who owns what: while something is wrong, and otherwise. */
const ASK_IN_TROUBLE_MS = 250;
const ASK_MS = 30_000;

export type NodesOptions = TableOptions;

export interface Nodes {
  /** The way to the one that owns a key; null while it is away. */
  to(name: string): Send | null;
  isAway(): boolean;
  /** How many links there are, and with how many the breaker is open. */
  links(): { readonly links: number; readonly openBreakers: number };
  /** All have answered for the first time, or are known to be away. */
  readonly known: Promise<void>;
  close(): void;
}

/**
 * The one server, or the primaries of a cluster, each with a breaker of its own, and which of them owns which slot. Who owns
 * what is asked again while a node is away, and when a slot is not where it was.
 */
export function openNodes(options: NodesOptions): Nodes {
  const table = emptyTable(options);
  const { nodes, absences } = table;
  const known = Promise.withResolvers<void>();
  const look = looks(table, known.resolve);
  const looking = setInterval(look, LOOK_EVERY_MS);
  void look();

  return {
    to(name) {
      const node = table.owners[table.kind === "single" ? 0 : slotOf(name)];
      return node?.isUp() ? node.ask : null;
    },
    isAway: () => table.kind === "unknown" || absences.areThere(),
    links: () => ({
      links: nodes.size,
      openBreakers: [...nodes.values()].filter((node) => !node.isUp()).length,
    }),
    known: known.promise,
    close() {
      table.isClosed = true;
      clearInterval(looking);
      for (const node of nodes.values()) node.close();
      known.resolve();
    },
  };
}

/** Tells nodes what they have missed, and asks them who owns what when it is time. */
function looks(table: Table, onAsked: () => void): () => Promise<void> {
  const { nodes, absences, options } = table;
  let isAsking = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    for (const node of nodes.values())
      if (node.isUp()) options.tellRest(node.ask, (slot) => table.owners[slot] === node);
    if (isAsking || (table.kind === "single" && !table.isStale)) return;
    const isTrouble = table.isStale || absences.areThere();
    if (performance.now() - askedAt < (isTrouble ? ASK_IN_TROUBLE_MS : ASK_MS)) return;
    askedAt = performance.now();
    isAsking = true;
    table.isStale = false;
    try {
      await hear(table, await ask(table));
    } catch (error) {
      table.isStale = true;
      if (table.kind === "unknown" && !table.isClosed) {
        absences.begin(null, causeOf(error));
        absences.goOn(null, causeOf(error));
      }
    }
    isAsking = false;
    onAsked();
  };
}

function causeOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message || String((first as { code?: unknown }).code) : String(first);
}
