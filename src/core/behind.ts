import { DAY_MS } from "../contract/days.ts";
import { bannedEvent } from "./admin.ts";
import type { Conduct } from "./bans.ts";
import type { WriteContext } from "./context.ts";
import type { NewBanRecord, NewEvent, Writes } from "./ports.ts";
import {
  bytesIn,
  combined,
  dealtOut,
  isEmpty,
  lastUses,
  type Tally,
  usageRows,
  windowRows,
} from "./tally.ts";

/** How long it is known which parts a run has written: longer than any part is tried again. */
const PARTS_KEPT_MS = 7 * DAY_MS;
/** Bytes of tallies that are written into rows at once: some thousand rows. */
const WRITTEN_AT_ONCE = 400_000;
/** Events that one step drops. */
const FORGOTTEN_AT_ONCE = 500;

/** What requests leave behind and nobody waits for. */
export interface Behind {
  /** Which run of which process, and which of its parts: a part that is tried again is not written twice. */
  readonly run: string;
  readonly part: number;
  readonly tally: Tally;
  readonly conduct: readonly { readonly keyId: number; readonly conduct: Conduct }[];
  readonly events: readonly NewEvent[];
}

/** Keeps counts durably beside the database, until many of them are brought into it together. */
export interface CountsLog {
  /** What the last run left there; some of it may be in the database. */
  readonly left: readonly Behind[];
  append(part: Behind): Promise<void>;
  /** All of it is in the database. */
  clear(): Promise<void>;
}

/** Operations that no endpoint has: the server's own. */
export const internal = {
  /** Writes down what was counted. Bans are never among it: a ban that was lifted stays lifted. */
  "behind.keep": async (cx: WriteContext, { run, part, tally, conduct, events }: Behind) => {
    if (!(await cx.store.beginPart(run, part, cx.now))) return { body: undefined };
    if (!isEmpty(tally)) await cx.store.addTally(tally, false);
    // In one order on every instance, so that two of them never wait for each other in a circle.
    for (const each of conduct.toSorted(byKey)) await cx.store.keepConduct(each.keyId, each.conduct);
    if (events.length > 0) await cx.store.emit(events, cx.now);
    return { body: undefined };
  },

  /**
   * One step of bringing tallies into rows, and whether there was nothing to do: many are first dealt out into parts by
   * whom they count, then some parts at a time are written. What is done of it at any time is whole, so it can stop anywhere.
   */
  "behind.fold": async ({ store }: WriteContext, { bytesAtOnce }: { readonly bytesAtOnce: number }) => {
    const parts = await store.takeTallies(true, WRITTEN_AT_ONCE);
    const taken = parts.length > 0 ? parts : await store.takeTallies(false, bytesAtOnce);
    const bytes = taken.reduce((sum, tally) => sum + bytesIn(tally), 0);
    if (parts.length > 0 || bytes <= WRITTEN_AT_ONCE) await writeRows(store, combined(taken));
    else for (const part of dealtOut(taken)) await store.addTally(part, true);
    return { body: { isDone: taken.length === 0 } };
  },

  /** A ban that a key earned, at once; one that is there already stays as it is, lifted if it was. */
  "behind.ban": async (cx: WriteContext, ban: NewBanRecord) => {
    if (!(await cx.store.addBan(ban))) return { body: undefined };
    await cx.store.raiseAccessRevision();
    cx.emit("key.banned", `keys/${ban.keyId}`, bannedEvent(ban), ban.clientId);
    return { body: undefined };
  },

  /** Says whether this instance is the one to sweep now: one of them is enough. */
  "behind.takeSweep": async (cx: WriteContext, { until }: { readonly until: number }) => ({
    body: await cx.store.takeDuty("sweep", cx.now, until),
  }),

  /** One step of dropping sessions that are over, with what was noted of runs; whether it was the last. */
  "behind.forget": async ({ store, now }: WriteContext) => {
    await store.forgetParts(now - PARTS_KEPT_MS);
    return { body: { isDone: !(await store.forgetSessions(now)) } };
  },

  /** One step of dropping old usage; whether it was the last. */
  "behind.forgetUsage": async ({ store }: WriteContext, { beforeDay }: { readonly beforeDay: number }) => ({
    body: { isDone: !(await store.forgetUsage(beforeDay)) },
  }),

  /** One step of dropping old events, small enough that those who write behind it hardly wait; whether it was the last. */
  "behind.forgetEvents": async ({ store }: WriteContext, { olderThan }: { readonly olderThan: number }) => {
    const isMore = await store.forgetEvents(olderThan, await store.lastEvent(), FORGOTTEN_AT_ONCE);
    return { body: { isDone: !isMore } };
  },
};

async function writeRows(store: Writes, tally: Tally): Promise<void> {
  await store.keepWindows(windowRows(tally.windows));
  await store.addUsage(usageRows(tally));
  await store.keepLastUses(lastUses(tally.lastUsed));
}

function byKey(a: { readonly keyId: number }, b: { readonly keyId: number }): number {
  return a.keyId - b.keyId;
}
