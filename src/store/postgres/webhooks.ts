import type { DeliveryRecord, WebhookWrites } from "../../core/webhook-ports.ts";
import { deliveryColumns, dueDeliveries } from "../deliveries.ts";
import { type Db, sql } from "../statement.ts";
import { fanOutPosition } from "../webhooks.ts";

/** Whoever has waited for another goes on where that one stopped. */
const lockedFanOut = sql<{ position: number }>`${fanOutPosition} for update`;

/** What another instance is just taking is left to it, and not waited for. */
const takeDeliveries = sql<DeliveryRecord>`
  with due (taken) as (${dueDeliveries} for update skip locked)
  update webhook_deliveries set next_at = :until, attempted_at = :now, attempts = attempts + 1,
    reason = null, response_status = null, response_body = null, duration_ms = null
  from due where id = taken returning ${deliveryColumns}`;

export function deliveryTaking(db: Db): Pick<WebhookWrites, "lockedFanOut" | "takeDeliveries"> {
  return {
    lockedFanOut: async () => (await db.get(lockedFanOut, {}))?.position ?? 0,
    takeDeliveries: (webhookId, now, until, limit) =>
      db.all(takeDeliveries, { webhookId, dueAt: now, limit, until, now }),
  };
}
