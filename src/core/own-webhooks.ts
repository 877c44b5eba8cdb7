import { WEBHOOKS_OF_A_CLIENT } from "../contract/bounds.ts";
import { roles } from "../contract/route.ts";
import type { Int64 } from "../contract/shapes.ts";
import type { ReadContext } from "./context.ts";
import { fail } from "./failure.ts";
import { isWithin } from "./keys.ts";
import type { WebhookRecord } from "./webhook-ports.ts";

/** A webhook of the caller's own client and of a role at most its own; any other is 404. */
export async function ownWebhook(cx: ReadContext, webhookId: Int64): Promise<WebhookRecord> {
  const webhook = await cx.store.webhook(webhookId);
  const isOwn = webhook?.clientId === cx.caller.clientId && isWithin(webhook.role, cx.caller.role);
  return isOwn ? webhook : noWebhook(webhookId, "/webhooks");
}

export function noWebhook(webhookId: Int64, list: string): never {
  fail("webhook_not_found", `There is no webhook ${webhookId}. Find ids with GET ${list}.`);
}

/** Refuses to change what the operator has disabled. */
export function requireOwnSay({ id, disabledReason }: WebhookRecord): void {
  if (disabledReason !== "operator") return;
  fail(
    "webhook_disabled_by_operator",
    `The operator has disabled webhook ${id}. Ask the operator to enable it again; until then it cannot be enabled, changed or removed, and nothing is sent to it.`,
  );
}

/** Refuses an address on a host that the operator keeps the client from: else it would only make the same webhook anew. */
export async function requireNoDisabledHost(cx: ReadContext, url: string): Promise<void> {
  const { clientId } = cx.caller;
  const limit = WEBHOOKS_OF_A_CLIENT;
  const hostname = hostnameOf(url);
  const isSame = (other: WebhookRecord) =>
    other.disabledReason === "operator" && hostnameOf(other.url) === hostname;
  if (!(await cx.store.webhooks({ clientId, roles, descending: false, limit })).some(isSame)) return;
  fail(
    "webhook_disabled_by_operator",
    `The operator has disabled a webhook of this client to ${hostname}. Ask the operator to enable it again; until then the client can point no other webhook there.`,
  );
}

/** With a dot at its end it is the same name. */
function hostnameOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, "");
}

/** Refuses to send something to a webhook that nothing is sent to. */
export function requireEnabled(webhook: WebhookRecord): WebhookRecord {
  if (webhook.disabledReason === null) return webhook;
  requireOwnSay(webhook);
  const enable = `PATCH /webhooks/${webhook.id} with {"enabled": true}`;
  fail("webhook_disabled", `Webhook ${webhook.id} is disabled. Enable it first: ${enable}.`);
}
