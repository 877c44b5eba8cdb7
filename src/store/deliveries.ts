import type {
  DeliveryRecord,
  NewDeliveryRecord,
  RemovedWebhook,
  WebhookReads,
  WebhookWrites,
} from "../core/webhook-ports.ts";
import { isWorking } from "./keys.ts";
import { type Conditions, listing, page } from "./page.ts";
import { type Db, fragment, RowsStatement, sql } from "./statement.ts";

/** Old deliveries that are dropped at once. */
const FORGOTTEN_AT_ONCE = 1000;

export const deliveryColumns = fragment`id, webhook_id as "webhookId", message_id as "messageId", type, about_client_id as "aboutClientId", body,
  cause, state, attempts, next_at as "nextAt", created_at as "createdAt", attempted_at as "attemptedAt", reason,
  response_status as "responseStatus", response_body as "responseBody", duration_ms as "durationMs"`;

const deliveryById = sql<DeliveryRecord>`select ${deliveryColumns} from webhook_deliveries where id = :id`;

const into =
  "webhook_deliveries (webhook_id, event_id, message_id, type, about_client_id, body, cause, next_at, created_at)";
interface DeliveryRow extends NewDeliveryRecord {
  readonly now: number;
  readonly at: number;
}
const names = [
  "webhookId",
  "eventId",
  "messageId",
  "type",
  "aboutClientId",
  "body",
  "cause",
  "now",
  "at",
] as const;
const insertDeliveries = new RowsStatement<DeliveryRow>(
  names,
  (values) => `insert into ${into} ${values} on conflict do nothing`,
);
const insertDelivery = sql<DeliveryRecord>`
  insert into webhook_deliveries (webhook_id, event_id, message_id, type, about_client_id, body, cause, next_at, created_at)
  values (:webhookId, :eventId, :messageId, :type, :aboutClientId, :body, :cause, :now, :at) returning ${deliveryColumns}`;

export const dueDeliveries = fragment`select id from webhook_deliveries
  where webhook_id = :webhookId and state = 'pending' and next_at <= :dueAt order by next_at, id limit cast(:limit as bigint)`;
const takeDeliveries = sql<DeliveryRecord>`
  update webhook_deliveries set next_at = :until, attempted_at = :now, attempts = attempts + 1,
    reason = null, response_status = null, response_body = null, duration_ms = null
  where id in (${dueDeliveries}) returning ${deliveryColumns}`;
const noteDelivery = sql<DeliveryRecord>`
  update webhook_deliveries set state = :state, next_at = :nextAt, reason = :reason, response_status = :responseStatus,
    response_body = :responseBody, duration_ms = :durationMs
  where id = :id and attempts = :attempt and state = 'pending' returning ${deliveryColumns}`;
const forget = sql<unknown>`
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where created_at < :before order by created_at limit cast(:limit as bigint)) returning id`;
/** One short look for each enabled webhook: counts of all that waits would take the longer the more it is. */
const backlog = sql<{ isFailing: number; pending: number; nextAt: number }>`
  select "isFailing", cast(sum(pending) as bigint) as pending, min("nextAt") as "nextAt" from (
    select w.client_id, case when w.failing_since is null then 0 else 1 end as "isFailing",
      (select min(d.next_at) from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending') as "nextAt",
      (select count(*) from (select d.id from webhook_deliveries d
        where d.webhook_id = w.id and d.state = 'pending' order by d.next_at limit 100) as counted) as pending
    from webhooks w where w.disabled_reason is null) as waiting
  where "nextAt" is not null and exists (select 1 from clients c where c.id = waiting.client_id and c.suspended_at is null)
    and exists (select 1 from api_keys k where k.client_id = waiting.client_id and ${isWorking})
  group by "isFailing"`.as(
  ({ isFailing, ...row }: { isFailing: number; pending: number; nextAt: number }) => ({
    ...row,
    isFailing: isFailing === 1,
  }),
);
const removed = sql<RemovedWebhook>`
  select id, removed_at as "removedAt" from removed_webhooks where id > :afterId order by id limit cast(:limit as bigint)`;
const forgetOfWebhook = sql<unknown>`
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where webhook_id = :webhookId order by id limit cast(:limit as bigint)) returning id`;
/** Two sweeps at once drop the same deliveries, and the later one finds none where there are more. */
const forgetRemoved = sql`
  delete from removed_webhooks where id = :id
    and not exists (select 1 from webhook_deliveries d where d.webhook_id = removed_webhooks.id)`;

export function deliveryReads(db: Db): Pick<WebhookReads, "delivery" | "deliveries" | "deliveryBacklog"> {
  return {
    delivery: (id) => db.get(deliveryById, { id }),
    deliveryBacklog: (now) => db.all(backlog, { now }),
    deliveries: ({ webhookId, state, ...query }) => {
      const narrowed = (where: Conditions) => {
        where.add("webhook_id = ?", webhookId);
        if (state !== undefined) where.add("state = ?", state);
      };
      const { text, values } = page({
        ...query,
        columns: deliveryColumns,
        table: "webhook_deliveries",
        key: "id",
        branches: [narrowed],
      });
      return db.all(listing<DeliveryRecord>(text), values);
    },
  };
}

type Changed =
  | "addDeliveries"
  | "addDelivery"
  | "takeDeliveries"
  | "noteDelivery"
  | "forgetDeliveries"
  | "removedWebhooks"
  | "forgetDeliveriesOf"
  | "forgetRemovedWebhook";

export function deliveryWrites(db: Db): Pick<WebhookWrites, Changed> {
  return {
    addDeliveries: (rows, now) =>
      insertDeliveries.run(
        db,
        rows.map((row) => ({ ...row, now, at: now })),
      ),
    addDelivery: async (row, now) =>
      (await db.get(insertDelivery, { ...row, now, at: now })) as DeliveryRecord,
    takeDeliveries: (webhookId, now, until, limit) =>
      db.all(takeDeliveries, { webhookId, now, until, limit, dueAt: now }),
    noteDelivery: (outcome) => db.get(noteDelivery, { ...outcome }),
    forgetDeliveries: async (before) =>
      (await db.all(forget, { before, limit: FORGOTTEN_AT_ONCE })).length === FORGOTTEN_AT_ONCE,
    removedWebhooks: (afterId, limit) => db.all(removed, { afterId, limit }),
    forgetDeliveriesOf: async (webhookId, limit) =>
      (await db.all(forgetOfWebhook, { webhookId, limit })).length,
    forgetRemovedWebhook: (id) => db.run(forgetRemoved, { id }),
  };
}
