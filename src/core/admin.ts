import type { AuditEntry, Ban } from "../contract/access-shapes.ts";
import type { PetstoreApi } from "../contract/api.ts";
import { adminWebhooks } from "./admin-webhooks.ts";
import { goodConduct, levelAt } from "./bans.ts";
import { clients } from "./clients.ts";
import type { Operations, WriteContext } from "./context.ts";
import { fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { keys, knownKey } from "./keys.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { AuditRecord, NewBanRecord } from "./ports.ts";
import { topClients, usageOf } from "./usage.ts";

export const admin: Operations<PetstoreApi["admin"]> = {
  clients,
  keys,

  bans: {
    async list(cx, { limit, cursor }) {
      const after = readCursor(cursor, "bans", "until", "number");
      const records = await cx.store.bans({ descending: false, after, limit: limit + 1 }, cx.now);
      return pageOf(records, limit, shownBan, (last) =>
        cursorAfter("bans", "until", { key: last.until, id: last.id }),
      );
    },

    async impose(cx, { keyId, body: { minutes, reason } }) {
      const { id, clientId } = await knownKey(cx, keyId);
      const until = cx.now + minutes * 60_000;
      const ban: NewBanRecord = {
        keyId: id,
        clientId,
        cause: "admin",
        reason: reason ?? null,
        level: 0,
        since: cx.now,
        until,
      };
      await lift(cx, id);
      await cx.store.addBan(ban);
      cx.audit(`keys/${id}`);
      cx.emit("key.banned", `keys/${id}`, bannedEvent(ban), clientId);
      return { body: shownBan(ban) };
    },

    async lift(cx, { keyId }) {
      const { id, clientId } = await knownKey(cx, keyId);
      if (!(await lift(cx, id))) fail("ban_not_found", `Key ${keyId} is not banned.`);
      cx.audit(`keys/${id}`);
      cx.emit("key.unbanned", `keys/${id}`, { keyId: id, clientId }, clientId);
      return { body: undefined };
    },
  },

  webhooks: adminWebhooks,

  async usage(cx, { clientId, from, to }) {
    const { usage, byClient } = await usageOf(cx, { clientId, from, to });
    return { body: { ...usage, topClients: await topClients(cx, byClient) } };
  },

  async audit(cx, { limit, cursor }) {
    const after = readCursor(cursor, "audit", "-id", "number");
    const records = await cx.store.audit({ descending: true, after, limit: limit + 1 });
    return pageOf(records, limit, shownEntry, (last) =>
      cursorAfter("audit", "-id", { key: last.id, id: last.id }),
    );
  },
};

/** Ends a key's ban in force and clears its strikes, if there is one; whether there was. */
async function lift(cx: WriteContext, keyId: number): Promise<boolean> {
  if (!(await cx.store.liftBan(keyId, cx.now))) return false;
  const conduct = (await cx.store.conduct(keyId)) ?? goodConduct;
  const level = levelAt(conduct, cx.now);
  await cx.store.keepConduct(keyId, { ...conduct, strikes: [], level, goodSince: cx.now });
  return true;
}

export function bannedEvent({ keyId, clientId, cause, level, until }: NewBanRecord) {
  return { keyId, clientId, cause, level, until: iso(until) };
}

export function shownBan({ keyId, clientId, cause, reason, level, since, until }: NewBanRecord): Ban {
  return {
    keyId,
    clientId,
    cause,
    ...(reason !== null && { reason }),
    level,
    since: iso(since),
    until: iso(until),
  };
}

function shownEntry({ id, at, operation, keyId, subject, input }: AuditRecord): AuditEntry {
  const by = keyId === null ? "command line" : `key ${keyId}`;
  return { id, at: iso(at), operation, by, subject, input };
}
