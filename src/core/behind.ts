import { bannedEvent } from "./admin.ts";
import type { Conduct } from "./bans.ts";
import type { WriteContext } from "./context.ts";
import type { NewBanRecord, NewEvent, Writes } from "./ports.ts";
import {
  isEmpty,
  LAST_USED_COLUMNS,
  rowsOf,
  sortedParts,
  type Tally,
  USAGE_COLUMNS,
  usageOfRow,
  WINDOW_COLUMNS,
  windowsOfRow,
} from "./tally.ts";

/** Tallies that are sorted together: what twenty seconds leave behind, at two a second. */
const SORTED_TOGETHER = 40;

/** So few parts are written at once; with more, each has its turn among the other writes. */
const PARTS_AT_ONCE = 3;

/** What requests leave behind and nobody waits for. */
export interface Behind {
  readonly tally: Tally;
  readonly conduct: readonly { readonly keyId: number; readonly conduct: Conduct }[];
  readonly events: readonly NewEvent[];
}

/** Operations that no endpoint has: the server's own. */
export const internal = {
  /** Writes down what was counted. Bans are never among it: a ban that was lifted stays lifted. */
  "behind.keep": async (cx: WriteContext, { tally, conduct, events }: Behind) => {
    if (!isEmpty(tally)) await cx.store.addTally(tally, false);
    // In one order on every instance, so that two of them never wait for each other in a circle.
    for (const each of conduct.toSorted(byKey)) await cx.store.keepConduct(each.keyId, each.conduct);
    if (events.length > 0) await cx.store.emit(events, cx.now);
    return { body: undefined };
  },

  /**
   * One step of bringing tallies into rows, and whether more is left: first they are sorted into parts, then each part is
   * written. What is done of it at any time is whole, so it can stop anywhere.
   */
  "behind.fold": async ({ store }: WriteContext) => {
    const [part] = await store.takeTallies(true, 1);
    if (part) {
      await writeRows(store, part);
      return { body: { isDone: false } };
    }
    const taken = await store.takeTallies(false, SORTED_TOGETHER);
    const parts = sortedParts(taken);
    const isSmall = parts.length <= PARTS_AT_ONCE;
    for (const each of parts) await (isSmall ? writeRows(store, each) : store.addTally(each, true));
    return { body: { isDone: isSmall && taken.length < SORTED_TOGETHER } };
  },

  /** A ban that a key earned, at once. */
  "behind.ban": async (cx: WriteContext, ban: NewBanRecord) => {
    await cx.store.addBan(ban);
    await cx.store.raiseAccessRevision();
    cx.emit("key.banned", `keys/${ban.keyId}`, bannedEvent(ban), ban.clientId);
    return { body: undefined };
  },

  /** Says whether this instance is the one to sweep now: one of them is enough. */
  "behind.takeSweep": async (cx: WriteContext, { until }: { readonly until: number }) => ({
    body: await cx.store.takeDuty("sweep", cx.now, until),
  }),

  "behind.forgetUsage": async (cx: WriteContext, { beforeDay }: { readonly beforeDay: number }) => {
    await cx.store.forgetUsage(beforeDay);
    return { body: undefined };
  },
};

async function writeRows(store: Writes, { windows, usage, operations, lastUsed }: Tally): Promise<void> {
  await store.keepWindows(Array.from(rowsOf(windows, WINDOW_COLUMNS), windowsOfRow));
  await store.addUsage(Array.from(rowsOf(usage, USAGE_COLUMNS), (row) => usageOfRow(row, operations)));
  for (const [keyId, at] of rowsOf(lastUsed, LAST_USED_COLUMNS))
    await store.keepLastUsed(keyId as number, at as number);
}

function byKey(a: { readonly keyId: number }, b: { readonly keyId: number }): number {
  return a.keyId - b.keyId;
}
