import type { PetstoreApi } from "../contract/api.ts";
import { levelAt, recent } from "./bans.ts";
import { knownClient } from "./clients.ts";
import type { Operations } from "./context.ts";
import { iso } from "./iso.ts";
import { knownKey, ownKeys, shownKey } from "./keys.ts";
import type { Standing } from "./ports.ts";
import { usageOf } from "./usage.ts";

export const account: Operations<PetstoreApi["account"]> = {
  async get(cx) {
    const { id, name, plan, perMinute, perDay } = await knownClient(cx, cx.caller.clientId);
    const key = await knownKey(cx, cx.caller.keyId);
    return { body: { client: { id, name, plan, perMinute, perDay }, key: shownKey(key, cx.now) } };
  },

  async usage(cx, { from, to }) {
    const { usage } = await usageOf(cx, { clientId: cx.caller.clientId, from, to });
    return { body: usage };
  },

  async limits(cx) {
    const { state, conduct, bannedUntil, judgedAt = cx.now } = cx.standing as Standing;
    const { bans } = cx.rules;
    const banLevel = levelAt(conduct, judgedAt);
    return {
      body: {
        minute: state.minute,
        day: state.day,
        strikes: {
          count: recent(conduct.strikes, judgedAt, bans).length,
          threshold: bans.strikes,
          windowSeconds: bans.strikeWindowSeconds,
          graceSeconds: bans.graceSeconds,
        },
        banLevel,
        nextBanMinutes: bans.minutes[Math.min(banLevel, bans.minutes.length - 1)] as number,
        ...(bannedUntil !== null && { bannedUntil: iso(bannedUntil) }),
      },
    };
  },

  keys: ownKeys,
};
