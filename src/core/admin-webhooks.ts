import type { PetstoreApi } from "../contract/api.ts";
import type { Int64 } from "../contract/shapes.ts";
import type { AdminWebhook } from "../contract/webhook-shapes.ts";
import {
  type Operations,
  type ReadContext,
  requireMatch,
  requireSameId,
  type WriteContext,
} from "./context.ts";
import { deliveriesOf } from "./deliveries.ts";
import { iso } from "./iso.ts";
import { noWebhook } from "./own-webhooks.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import { shownWebhook } from "./shown-webhooks.ts";
import { webhookTag } from "./tags.ts";
import { change, switched } from "./webhook-changes.ts";
import type { WebhookRecord } from "./webhook-ports.ts";

/** The webhooks of any client, for admins. */
export const adminWebhooks: Operations<PetstoreApi["admin"]["webhooks"]> = {
  async list(cx, { clientId, enabled, limit, cursor }) {
    const list = `admin/webhooks/${clientId ?? ""}/${enabled ?? ""}`;
    const after = readCursor(cursor, list, "id", "number");
    const query = { clientId, enabled, descending: false, after, limit: limit + 1 } as const;
    const shown = (webhook: WebhookRecord) => adminShown(webhook, cx.now);
    return pageOf(await cx.store.webhooks(query), limit, shown, (last) =>
      cursorAfter(list, "id", { key: last.id, id: last.id }),
    );
  },

  async get(cx, { webhookId }) {
    return tagged(await anyWebhook(cx, webhookId), cx.now);
  },

  async update(cx, { webhookId, body: { id, enabled } }) {
    const before = await anyWebhook(cx, webhookId);
    requireMatch(cx, webhookTag(before, cx.now));
    requireSameId(id, webhookId);
    if (enabled === undefined) return tagged(before, cx.now);
    const to = await switched(cx.store, before, enabled ? null : "operator");
    const webhook = await change(cx, before, { ...before, ...to });
    if (webhook !== before) cx.trail(`webhooks/${webhook.id}`, { webhookId, body: { enabled } });
    if (!enabled && before.disabledReason !== "operator") tell(cx, webhook);
    return tagged(webhook, cx.now);
  },

  deliveries: {
    async list(cx, { webhookId, ...asked }) {
      return deliveriesOf(cx, await anyWebhook(cx, webhookId), "admin/deliveries", asked);
    },
  },
};

async function anyWebhook(cx: ReadContext, webhookId: Int64): Promise<WebhookRecord> {
  return (await cx.store.webhook(webhookId)) ?? noWebhook(webhookId, "/admin/webhooks");
}

/** The client hears of it by its other webhooks and its events. */
function tell(cx: WriteContext, { id, clientId, failingSince }: WebhookRecord): void {
  const data = {
    webhookId: id,
    clientId,
    reason: "operator",
    ...(failingSince !== null && { failingSince: iso(failingSince) }),
  } as const;
  cx.emit("webhook.disabled", `webhooks/${id}`, data, clientId);
}

function tagged(webhook: WebhookRecord, now: number) {
  return { body: adminShown(webhook, now), tag: webhookTag(webhook, now) };
}

function adminShown(webhook: WebhookRecord, now: number): AdminWebhook {
  return { ...shownWebhook(webhook, now), clientId: webhook.clientId };
}
