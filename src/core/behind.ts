import { bannedEvent } from "./admin.ts";
import type { Conduct } from "./bans.ts";
import type { WriteContext } from "./context.ts";
import type { NewBanRecord, NewEvent, UsageRecord } from "./ports.ts";
import type { Windows } from "./windows.ts";

/** What requests leave behind and nobody waits for. */
export interface Behind {
  readonly windows: readonly (Windows & { readonly clientId: number })[];
  readonly conduct: readonly { readonly keyId: number; readonly conduct: Conduct }[];
  readonly usage: readonly UsageRecord[];
  readonly lastUsed: readonly { readonly keyId: number; readonly at: number }[];
  readonly events: readonly NewEvent[];
}

/** Operations that no endpoint has: the server's own. */
export const internal = {
  /** Writes down what was counted. Bans are never among it: a ban that was lifted stays lifted. */
  "behind.keep": async (cx: WriteContext, { windows, conduct, usage, lastUsed, events }: Behind) => {
    await cx.store.keepWindows(windows);
    await cx.store.addUsage(usage);
    // In one order on every instance, so that two of them never wait for each other in a circle.
    for (const each of conduct.toSorted(byKey)) await cx.store.keepConduct(each.keyId, each.conduct);
    for (const { keyId, at } of lastUsed.toSorted(byKey)) await cx.store.keepLastUsed(keyId, at);
    if (events.length > 0) await cx.store.emit(events, cx.now);
    return { body: undefined };
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

function byKey(a: { readonly keyId: number }, b: { readonly keyId: number }): number {
  return a.keyId - b.keyId;
}
