import type { Int64 } from "../contract/shapes.ts";
import type { ReadContext } from "./context.ts";
import { fail } from "./failure.ts";
import { isWithin } from "./keys.ts";
import type { WebhookRecord } from "./webhook-ports.ts";

/** A webhook of the caller's own client and of a role at most its own; any other is 404. */
export async function ownWebhook(cx: ReadContext, webhookId: Int64): Promise<WebhookRecord> {
  const webhook = await cx.store.webhook(webhookId);
  const isOwn = webhook?.clientId === cx.caller.clientId && isWithin(webhook.role, cx.caller.role);
  return isOwn
    ? webhook
    : fail("webhook_not_found", `There is no webhook ${webhookId}. Find ids with GET /webhooks.`);
}

/** Refuses to send something to a webhook that nothing is sent to. */
export function requireEnabled(webhook: WebhookRecord): WebhookRecord {
  if (webhook.disabledReason === null) return webhook;
  const enable = `PATCH /webhooks/${webhook.id} with {"enabled": true}`;
  fail("webhook_disabled", `Webhook ${webhook.id} is disabled. Enable it first: ${enable}.`);
}
