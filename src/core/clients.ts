import { deepEquals } from "bun";
import type { Client, ClientUpdate } from "../contract/access-shapes.ts";
import type { PetstoreApi } from "../contract/api.ts";
import { type Plan, plans, type Quota } from "../contract/plans.ts";
import type { Int64 } from "../contract/shapes.ts";
import { type Operations, type ReadContext, requireMatch, requireSameId } from "./context.ts";
import { fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { ClientRecord, Writes } from "./ports.ts";
import { clientTag } from "./tags.ts";

/** The client that the operator's own keys belong to is found by its name and plan: the oldest that has both. */
export const OPERATOR = "operator";
const OPERATORS_PLAN = "enterprise";
const OPERATORS_QUOTA: Quota = { perMinute: 100_000, perDay: 100_000_000 };
/** Open orders that are named to whoever would remove their client. */
const ORDERS_NAMED = 10;

export const clients: Operations<PetstoreApi["admin"]["clients"]> = {
  async list(cx, { limit, cursor }) {
    const after = readCursor(cursor, "clients", "id", "number");
    const records = await cx.store.clients({ descending: false, after, limit: limit + 1 });
    return pageOf(records, limit, shownClient, (last) =>
      cursorAfter("clients", "id", { key: last.id, id: last.id }),
    );
  },

  async create(cx, { body }) {
    const quota = quotaOf(body.plan, body);
    if (body.name === OPERATOR) refuseName();
    const client = await cx.store.addClient({ name: body.name, plan: body.plan, ...quota }, cx.now);
    cx.audit(`clients/${client.id}`);
    return tagged(client);
  },

  async get(cx, { clientId }) {
    return tagged(await knownClient(cx, clientId));
  },

  async update(cx, { clientId, body }) {
    const before = await knownClient(cx, clientId);
    requireMatch(cx, clientTag(before));
    requireSameId(body.id, clientId);
    const after = changed(before, body, cx.now);
    if (deepEquals(before, after)) return tagged(before);
    await guardOperator(cx, before, after);
    await cx.store.changeClient(after);
    cx.audit(`clients/${after.id}`);
    return tagged(after);
  },

  async remove(cx, { clientId }) {
    // Orders that are being placed are waited for, and so seen.
    const client = (await cx.store.lockedClient(clientId)) ?? refuseUnknown(clientId);
    const { id } = client;
    requireMatch(cx, clientTag(client));
    await refuseOperator(cx, client, "removed");
    await refuseOpenOrders(cx, id);
    await cx.store.removeClient(id, cx.now);
    cx.audit(`clients/${id}`);
    return { body: undefined };
  },
};

/** The client, or 404. */
export async function knownClient(cx: ReadContext, clientId: Int64): Promise<ClientRecord> {
  return (await cx.store.client(clientId)) ?? refuseUnknown(clientId);
}

/** An order does not tell whose it is, so they are named here. */
async function refuseOpenOrders(cx: ReadContext, clientId: number): Promise<void> {
  const query = {
    clientId,
    complete: false,
    sort: "id",
    descending: false,
    limit: ORDERS_NAMED + 1,
  } as const;
  const open = await cx.store.orders(query);
  if (open.length === 0) return;
  const ids = open.slice(0, ORDERS_NAMED).map(({ id }) => id);
  const which = open.length > ORDERS_NAMED ? `, the first of them ${ids.join(", ")}` : `: ${ids.join(", ")}`;
  fail(
    "client_has_open_orders",
    `Client ${clientId} has open orders or drafts${which}. Complete or cancel them first.`,
  );
}

/** What is told of a client, with its tag. */
function tagged(client: ClientRecord) {
  return { body: shownClient(client), tag: clientTag(client) };
}

function refuseUnknown(clientId: Int64): never {
  fail("client_not_found", `There is no client ${clientId}. Find ids with GET /admin/clients.`);
}

/** The client that keys without another client belong to; made when first needed. */
export async function operator(store: Writes, now: number): Promise<ClientRecord> {
  const own = await store.clientNamed(OPERATOR, OPERATORS_PLAN);
  return own ?? store.addClient({ name: OPERATOR, plan: OPERATORS_PLAN, ...OPERATORS_QUOTA }, now);
}

/** Nobody locks the operator out, at once or in two steps, and nobody takes its place. */
async function guardOperator(cx: ReadContext, before: ClientRecord, after: ClientRecord): Promise<void> {
  const isRenamed = after.name !== before.name;
  const isMoved = after.plan !== before.plan;
  if (after.suspendedAt !== null && before.suspendedAt === null)
    await refuseOperator(cx, before, "suspended");
  if (isRenamed) await refuseOperator(cx, before, "renamed");
  if (isMoved) await refuseOperator(cx, before, "moved to another plan");
  if (after.name === OPERATOR && (isRenamed || isMoved)) refuseName();
}

async function refuseOperator(cx: ReadContext, client: ClientRecord, what: string): Promise<void> {
  if (client.name !== OPERATOR) return;
  const own = await cx.store.clientNamed(OPERATOR, OPERATORS_PLAN);
  if (own?.id !== client.id) return;
  fail(
    "operator_client",
    `Client ${client.id} is the operator's own and cannot be ${what}. Revoke its keys one by one.`,
  );
}

function refuseName(): never {
  fail(
    "operator_client",
    `The name ${OPERATOR} is kept for the operator's own client. Give the client another name.`,
  );
}

function shownClient({ id, name, plan, perMinute, perDay, createdAt, suspendedAt }: ClientRecord): Client {
  const created = iso(createdAt);
  return { id, name, plan, perMinute, perDay, suspended: suspendedAt !== null, createdAt: created };
}

function changed(before: ClientRecord, change: ClientUpdate, now: number): ClientRecord {
  const { name = before.name, plan = before.plan, suspended = before.suspendedAt !== null } = change;
  const agreed = before.plan === "enterprise" && plan === "enterprise" ? before : undefined;
  const quota = quotaOf(plan, {
    perMinute: change.perMinute ?? agreed?.perMinute,
    perDay: change.perDay ?? agreed?.perDay,
  });
  return { ...before, name, plan, ...quota, suspendedAt: suspended ? (before.suspendedAt ?? now) : null };
}

/** A plan's own numbers; enterprise is never unlimited by accident, so it needs both of its. */
function quotaOf(plan: Plan, given: { perMinute?: number | undefined; perDay?: number | undefined }): Quota {
  const own = plans[plan];
  const { perMinute, perDay } = given;
  const fields = ["perMinute", "perDay"] as const;
  if (own) {
    const extra = fields.filter((field) => given[field] !== undefined);
    if (extra.length === 0) return own;
    refuse(extra, `must not be given: the ${plan} plan has its own limits; only enterprise takes numbers`);
  }
  if (perMinute !== undefined && perDay !== undefined) return { perMinute, perDay };
  refuse(
    fields.filter((field) => given[field] === undefined),
    "must be given: the enterprise plan needs both numbers, requests per minute and per day",
  );
}

function refuse(fields: readonly string[], message: string): never {
  const details = fields.map((field) => ({ field, message }));
  fail("invalid_plan", `The plan has a problem: ${fields.join(" and ")} ${message}.`, details);
}
