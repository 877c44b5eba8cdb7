import type { Webhook } from "../contract/webhook-shapes.ts";
import { iso } from "./iso.ts";
import { webhookTag } from "./tags.ts";
import type { WebhookRecord } from "./webhook-ports.ts";
import { webhookSeesAll } from "./webhook-rules.ts";

/** What is told of a webhook, with its tag. */
export function tagged(webhook: WebhookRecord, now: number) {
  return { body: shownWebhook(webhook, now), tag: webhookTag(webhook, now) };
}

/** A webhook without its secrets. */
export function shownWebhook(webhook: WebhookRecord, now: number): Webhook {
  const { id, url, types, description, disabledReason, failingSince, role, keyId, createdAt } = webhook;
  const { previousSecretUntil: overlapEnd } = webhook;
  return {
    id,
    url,
    ...(types !== null && { types: types as NonNullable<Webhook["types"]> }),
    ...(description !== null && { description }),
    enabled: disabledReason === null,
    ...(disabledReason !== null && { disabledReason }),
    ...(failingSince !== null && { failingSince: iso(failingSince) }),
    role,
    sees: webhookSeesAll(webhook, now) ? "all" : "own",
    keyId,
    ...(overlapEnd !== null && overlapEnd > now && { previousSecretUntil: iso(overlapEnd) }),
    replaying: webhook.replayAfter !== null,
    createdAt: iso(createdAt),
  };
}
