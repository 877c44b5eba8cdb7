import type { Key } from "../contract/access-shapes.ts";
import type { PetstoreApi } from "../contract/api.ts";
import { KEYS_OF_A_CLIENT } from "../contract/bounds.ts";
import { DAY_MS } from "../contract/days.ts";
import { type Role, roles } from "../contract/route.ts";
import type { Int64 } from "../contract/shapes.ts";
import { worst } from "./bans.ts";
import { knownClient } from "./clients.ts";
import type { Operations, ReadContext, WriteContext } from "./context.ts";
import { Failure, fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { hashOf, keyFrom } from "./key-format.ts";
import { isWorking } from "./key-refusal.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { KeyRecord } from "./ports.ts";
import { some } from "./some.ts";

/** The keys of any client, for admins. */
export const keys: Operations<PetstoreApi["admin"]["keys"]> = {
  async list(cx, { clientId, ...page }) {
    const client = await knownClient(cx, clientId);
    return keysOf(cx, client.id, roles, page);
  },

  async create(cx, { clientId, body }) {
    const client = await knownClient(cx, clientId);
    return created(cx, await makeKey(cx, client.id, newKey(body, cx.now)));
  },

  async get(cx, { keyId }) {
    return { body: shownKey(await knownKey(cx, keyId), cx.now) };
  },

  async revoke(cx, { keyId }) {
    return revoke(cx, await knownKey(cx, keyId));
  },

  async rotate(cx, { keyId, body }) {
    return rotate(cx, await knownKey(cx, keyId), body.overlapDays);
  },
};

/** The keys of the caller's own client: of a role at most its own, and no way around a ban. */
export const ownKeys: Operations<PetstoreApi["account"]["keys"]> = {
  async list(cx, page) {
    const { clientId, role } = cx.caller;
    const shown = roles.filter((each) => isWithin(each, role));
    return keysOf(cx, clientId, shown, page);
  },

  async create(cx, { body }) {
    const { clientId, role } = cx.caller;
    if (!isWithin(body.role, role)) {
      fail("role_too_high", `A key of the role ${role} cannot make one of the role ${body.role}.`);
    }
    await requireNoBan(cx);
    const made = await makeKey(cx, clientId, newKey(body, cx.now));
    const conduct = worst(await cx.store.conducts(clientId), cx.now, cx.rules.bans);
    if (conduct) await cx.store.keepConduct(made.record.id, conduct);
    return created(cx, made);
  },

  async get(cx, { keyId }) {
    return { body: shownKey(await ownKey(cx, keyId), cx.now) };
  },

  async revoke(cx, { keyId }) {
    return revoke(cx, await ownKey(cx, keyId));
  },

  async rotate(cx, { keyId, body }) {
    const key = await ownKey(cx, keyId);
    await requireNoBan(cx);
    return rotate(cx, key, body.overlapDays);
  },
};

/** A page of a client's keys of these roles, those that no longer work among them. */
async function keysOf(
  cx: ReadContext,
  clientId: number,
  ofRoles: readonly Role[],
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const list = `keys/${clientId}`;
  const after = readCursor(cursor, list, "id", "number");
  const query = { clientId, roles: ofRoles, descending: false, after, limit: limit + 1 };
  const records = await cx.store.keyPage(query);
  const shown = (key: KeyRecord) => shownKey(key, cx.now);
  return pageOf(records, limit, shown, (last) => cursorAfter(list, "id", { key: last.id, id: last.id }));
}

export function shownKey(key: KeyRecord, now: number): Key {
  const { id, clientId, role, name, lastFour, createdAt, lastUsedAt, expiresAt, revokedAt, bannedUntil } =
    key;
  return {
    id,
    clientId,
    role,
    ...(name !== null && { name }),
    lastFour,
    createdAt: iso(createdAt),
    ...(lastUsedAt !== null && { lastUsedAt: iso(lastUsedAt) }),
    ...(expiresAt !== null && { expiresAt: iso(expiresAt) }),
    ...(revokedAt !== null && { revokedAt: iso(revokedAt) }),
    ...(bannedUntil !== null && bannedUntil > now && { bannedUntil: iso(bannedUntil) }),
  };
}

/** The key, or 404. */
export async function knownKey(cx: ReadContext, keyId: Int64): Promise<KeyRecord> {
  return (await cx.store.key(keyId)) ?? refuseUnknown(keyId, "/admin/clients/{clientId}/keys");
}

interface NewKeyRecord {
  readonly role: Role;
  readonly name: string | null;
  readonly expiresAt: number | null;
}

interface MadeKey {
  readonly record: KeyRecord;
  readonly key: string;
}

/** A new key; its text is given this once and not kept. */
export async function makeKey(cx: WriteContext, clientId: number, wanted: NewKeyRecord): Promise<MadeKey> {
  const working = await cx.store.countWorkingKeys(clientId, cx.now);
  if (working >= KEYS_OF_A_CLIENT) {
    fail(
      "too_many_keys",
      `Client ${clientId} has ${some(working, "key")} that work, the most that it may have. Revoke one first.`,
    );
  }
  const key = keyFrom(cx.random());
  const record = await cx.store.addKey(
    { ...wanted, clientId, hash: hashOf(key), lastFour: key.slice(-4) },
    cx.now,
  );
  cx.audit(`keys/${record.id}`);
  return { record, key };
}

function created(cx: WriteContext, { record, key }: MadeKey) {
  return { body: shownKey(record, cx.now), secret: { key } };
}

function newKey(
  body: { role: Role; name?: string | undefined; expiresInDays?: number | undefined },
  now: number,
): NewKeyRecord {
  const { role, name = null, expiresInDays } = body;
  return { role, name, expiresAt: expiresInDays === undefined ? null : now + expiresInDays * DAY_MS };
}

async function revoke(cx: WriteContext, key: KeyRecord) {
  await cx.store.revokeKey(key.id, cx.now);
  cx.audit(`keys/${key.id}`);
  return { body: undefined };
}

/**
 * The new key takes over role, name, expiry and conduct; the old one lives on for the overlap. With an overlap it takes over
 * the webhooks too. Without one the old key may have leaked, and whoever had it may have made webhooks: they are left as by a revocation.
 */
async function rotate(cx: WriteContext, old: KeyRecord, overlapDays: number) {
  if (!isWorking(old, cx.now))
    fail("key_not_found", `Key ${old.id} no longer works and cannot be rotated. Make a new one.`);
  const isReplaced = overlapDays > 0;
  if (!isReplaced) await cx.store.revokeKey(old.id, cx.now);
  const made = await makeKey(cx, old.clientId, old);
  const conduct = await cx.store.conduct(old.id);
  if (conduct) await cx.store.keepConduct(made.record.id, conduct);
  if (isReplaced) await cx.store.handOverWebhooks(old.id, made.record.id);
  const ban = await cx.store.ban(old.id, cx.now);
  if (ban) await cx.store.addBan({ ...ban, keyId: made.record.id });
  const end = cx.now + overlapDays * DAY_MS;
  if (isReplaced && (old.expiresAt === null || old.expiresAt > end)) await cx.store.expireKey(old.id, end);
  const record = await knownKey(cx, made.record.id);
  return created(cx, { record, key: made.key });
}

/** While a key of the client is banned, the client cannot make itself another. */
async function requireNoBan(cx: WriteContext): Promise<void> {
  const ban = await cx.store.clientBan(cx.caller.clientId, cx.now);
  if (!ban) return;
  const message = `Key ${ban.keyId} of this client is banned until ${iso(ban.until)}; until then no key can be made or rotated.`;
  throw new Failure("key_banned", message, undefined, Math.ceil((ban.until - cx.now) / 1000));
}

async function ownKey(cx: ReadContext, keyId: Int64): Promise<KeyRecord> {
  const key = await cx.store.key(keyId);
  const isOwn = key?.clientId === cx.caller.clientId && isWithin(key.role, cx.caller.role);
  return isOwn ? key : refuseUnknown(keyId, "/account/keys");
}

/** Whether a role is at most another. */
export function isWithin(role: Role, limit: Role): boolean {
  return roles.indexOf(role) <= roles.indexOf(limit);
}

function refuseUnknown(keyId: Int64, list: string): never {
  fail("key_not_found", `There is no key ${keyId}. Find ids with GET ${list}.`);
}
