import type { PetstoreApi } from "../contract/api.ts";
import type { Int64 } from "../contract/shapes.ts";
import type { Delivery, DeliveryState } from "../contract/webhook-shapes.ts";
import type { Operations, ReadContext } from "./context.ts";
import { fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { ownWebhook, requireEnabled } from "./own-webhooks.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { DeliveryRecord, WebhookRecord } from "./webhook-ports.ts";

/** What was sent to a webhook, and what is still to be sent. */
export const deliveries: Operations<PetstoreApi["webhooks"]["deliveries"]> = {
  async list(cx, { webhookId, ...asked }) {
    return deliveriesOf(cx, await ownWebhook(cx, webhookId), "deliveries", asked);
  },

  async get(cx, { webhookId, deliveryId }) {
    return { body: shownDelivery(await ownDelivery(cx, await ownWebhook(cx, webhookId), deliveryId)) };
  },

  async resend(cx, { webhookId, deliveryId }) {
    const webhook = requireEnabled(await ownWebhook(cx, webhookId));
    const { messageId, type, aboutClientId, body } = await ownDelivery(cx, webhook, deliveryId);
    const again = {
      webhookId: webhook.id,
      eventId: null,
      messageId,
      type,
      aboutClientId,
      body,
      cause: "resend",
    } as const;
    return { body: shownDelivery(await cx.store.addDelivery(again, cx.now)) };
  },
};

interface Asked {
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of a webhook's deliveries, newest first; `name` says which list's the cursors are. */
export async function deliveriesOf(
  cx: ReadContext,
  { id: webhookId }: WebhookRecord,
  name: string,
  { state, limit, cursor }: Asked,
) {
  const list = `${name}/${webhookId}/${state ?? ""}`;
  const after = readCursor(cursor, list, "-id", "number");
  const query = { webhookId, state, descending: true, after, limit: limit + 1 } as const;
  const records = await cx.store.deliveries(query);
  return pageOf(records, limit, shownDelivery, (last) =>
    cursorAfter(list, "-id", { key: last.id, id: last.id }),
  );
}

async function ownDelivery(
  cx: ReadContext,
  webhook: WebhookRecord,
  deliveryId: Int64,
): Promise<DeliveryRecord> {
  const delivery = await cx.store.delivery(deliveryId);
  const isOwn = delivery?.webhookId === webhook.id;
  return isOwn
    ? delivery
    : fail(
        "delivery_not_found",
        `Webhook ${webhook.id} has no delivery ${deliveryId}, or it is no longer kept. Find ids with GET /webhooks/${webhook.id}/deliveries.`,
      );
}

export function shownDelivery(delivery: DeliveryRecord): Delivery {
  const { id, webhookId, messageId, type, cause, state, attempts, createdAt, body } = delivery;
  const { nextAt, attemptedAt, reason, responseStatus, responseBody, durationMs } = delivery;
  return {
    id,
    webhookId,
    messageId,
    type,
    cause,
    state,
    attempts,
    createdAt: iso(createdAt),
    ...(attemptedAt !== null && { attemptedAt: iso(attemptedAt) }),
    ...(nextAt !== null && { nextAttemptAt: iso(nextAt) }),
    requestBody: body,
    ...(reason !== null && { reason }),
    ...(responseStatus !== null && { responseStatus }),
    ...(responseBody !== null && { responseBody }),
    ...(durationMs !== null && { durationMs }),
  };
}
