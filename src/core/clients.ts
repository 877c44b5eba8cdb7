import type { Role } from "../contract/route.ts";
import type { Int64 } from "../contract/shapes.ts";
import { hashOf, keyFrom } from "./keys.ts";
import { operatorQuota, type Plan, plans } from "./plans.ts";
import type { ClientRecord, KeyRecord, Writes } from "./ports.ts";

/** Something that was asked for and cannot be; the message says what to do. */
export class Refused extends Error {}

/** The client that the operator's own keys belong to. */
export const OPERATOR = "operator";

export interface NewClient {
  readonly name: string;
  readonly plan: Plan;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
}

/** A new client on a plan; enterprise is never unlimited by accident, so it needs both of its numbers. */
export async function createClient(
  store: Writes,
  { name, plan, perMinute, perDay }: NewClient,
  now: number,
): Promise<ClientRecord> {
  if (name.trim() === "") throw new Refused("A client needs a name.");
  const limits = plans[plan];
  if (limits) {
    if (perMinute !== undefined || perDay !== undefined) {
      throw new Refused(`The ${plan} plan has its own limits; only enterprise takes numbers of its own.`);
    }
    return store.addClient({ name, plan, ...limits }, now);
  }
  if (perMinute === undefined || perDay === undefined) {
    throw new Refused("The enterprise plan needs both numbers: requests per minute and per day.");
  }
  return store.addClient({ name, plan, perMinute, perDay }, now);
}

export interface NewKey {
  /** Without a client the key is the operator's own. */
  readonly clientId?: number | undefined;
  readonly role: Role;
  readonly name?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** A new key; its text is given this once and not kept. */
export async function createKey(
  store: Writes,
  { clientId, role, name, expiresAt }: NewKey,
  random: Uint8Array,
  now: number,
): Promise<KeyRecord & { readonly key: string }> {
  const client = clientId === undefined ? await operator(store, now) : await store.client(clientId);
  if (!client) throw new Refused(`There is no client ${clientId}.`);
  const key = keyFrom(random);
  const record = await store.addKey(
    {
      clientId: client.id,
      role,
      name: name ?? null,
      hash: hashOf(key),
      lastFour: key.slice(-4),
      expiresAt: expiresAt ?? null,
    },
    now,
  );
  return { ...record, key };
}

export async function revokeKey(store: Writes, id: Int64, now: number): Promise<KeyRecord> {
  const key = await store.revokeKey(id, now);
  if (!key) throw new Refused(`There is no key ${id}.`);
  return key;
}

/** The client that keys without another client belong to; made when first needed. */
export async function operator(store: Writes, now: number): Promise<ClientRecord> {
  const clients = await store.clients();
  const own = clients.find(({ name, plan }) => name === OPERATOR && plan === "enterprise");
  return own ?? store.addClient({ name: OPERATOR, plan: "enterprise", ...operatorQuota }, now);
}
