import { deepEquals } from "bun";
import type { WriteContext } from "./context.ts";
import { Conflict } from "./failure.ts";
import type { DisabledReason, WebhookChange, WebhookRecord } from "./webhook-ports.ts";

/** The webhook as it is then, `before` itself if it is so already; if somebody else has changed it meanwhile, the operation begins anew. */
export async function change(
  { store }: WriteContext,
  before: WebhookRecord,
  to: WebhookChange,
): Promise<WebhookRecord> {
  if (deepEquals(before, { ...before, ...to })) return before;
  const webhook = await store.changeWebhook(before, to);
  if (!webhook) throw new Conflict();
  return webhook;
}

/** What changes of a webhook that is disabled, or with `null` enabled: then what still waits is sent, and what happens from now on. */
export async function switched(
  store: WriteContext["store"],
  before: WebhookRecord,
  disabledReason: DisabledReason | null,
): Promise<Partial<WebhookChange>> {
  if (disabledReason !== null) return { disabledReason, replayAfter: null, replayUpTo: null };
  if (before.disabledReason === null) return {};
  return { disabledReason, startsAfter: await store.lastEvent(), failingSince: null };
}
