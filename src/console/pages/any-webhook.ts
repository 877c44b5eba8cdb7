import type { AdminWebhook, Delivery } from "../../../client/src/index.ts";
import { hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { openDialog } from "../dialog.ts";
import { type Child, h } from "../dom.ts";
import { button, heading, type Page, section, type Visit } from "../visit.ts";
import { clientLink, disable, switchButton } from "./all-webhooks.ts";
import { deliveryLog, stateFilter } from "./deliveries.ts";
import { deliveryParts } from "./delivery.ts";
import { standing, webhookFacts } from "./webhook-parts.ts";
import { webhookBadge } from "./webhook-words.ts";

export const anyWebhookPage: Page = { title: "Webhook", show };

/** A webhook of any client, as the operator sees it. */
async function show({ id, signal, query, refresh }: Visit): Promise<Child> {
  const webhook = await petstore.admin.webhooks.get(id, { signal });
  const { name } = await petstore.admin.clients.get(webhook.clientId, { signal });
  document.title = `Webhook ${id} · Petstore console`;
  const narrowing = stateFilter(`all-webhooks/${id}`, query, () => void log.reload());
  const log = deliveryLog({
    webhook,
    state: narrowing.state,
    load: (asked, loading) => petstore.admin.webhooks.deliveries.list(id, asked, { signal: loading }),
    name: (delivery) => `Delivery ${delivery.id}`,
    acts: (delivery) => button("Show", `show-${delivery.id}`, () => look(webhook, delivery)),
    empty: "Nothing was sent yet, or it is no longer kept.",
  });
  void log.reload();
  return [
    h("p", { class: "crumbs" }, h("a", { href: hrefOf("all-webhooks") }, "All webhooks")),
    heading([`Webhook ${id} `, webhookBadge(webhook)], acts(webhook, refresh)),
    standing(webhook, "When it is enabled, what still waits is sent, and then what happens."),
    webhookFacts(
      webhook,
      ["Client", clientLink(webhook.clientId, name)],
      ["Acts for", `key ${webhook.keyId}, ${webhook.role}`],
    ),
    section(
      "Deliveries",
      h("div", { class: "section-acts" }, button("Look again", "look", log.reload)),
      narrowing.element,
      log.element,
    ),
  ];
}

/** What its client or its failures disabled can be kept so: then the client cannot enable it. */
function acts(webhook: AdminWebhook, refresh: () => Promise<void>): Child[] {
  const canBeKept = !webhook.enabled && webhook.disabledReason !== "operator";
  return [
    canBeKept && button("Keep it disabled", "keep", () => disable(webhook, refresh), "danger"),
    switchButton(webhook, refresh),
  ];
}

function look(webhook: AdminWebhook, delivery: Delivery): void {
  openDialog(`Delivery ${delivery.id}`, () => deliveryParts(delivery, webhook));
}
