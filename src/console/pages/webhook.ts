import type { Delivery, Webhook } from "../../../client/src/index.ts";
import { perform, performIfAgreed } from "../acts.ts";
import { go, hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, fill, h } from "../dom.ts";
import { button, heading, type Page, section, type Visit } from "../visit.ts";
import { badge } from "../words.ts";
import { type DeliveryLog, deliveryLog, resend, stateFilter, untilTried } from "./deliveries.ts";
import { editWebhook, replaySince, rotateSecret } from "./webhook-form.ts";
import { standing, webhookFacts } from "./webhook-parts.ts";
import { outcomeWords, webhookBadge } from "./webhook-words.ts";

export const webhookPage: Page = { title: "Webhook", show };

async function show(visit: Visit): Promise<Child> {
  const { id, signal, query, account } = visit;
  const webhook = await petstore.webhooks.get(id, { signal });
  const { keyId } = webhook;
  document.title = `Webhook ${id} · Petstore console`;
  const narrowing = stateFilter(`webhooks/${id}`, query, () => void log.reload());
  const log = deliveryLog({
    webhook,
    state: narrowing.state,
    load: (asked, loading) => petstore.webhooks.deliveries.list(id, asked, { signal: loading }),
    name: (delivery) =>
      h("a", { href: hrefOf(`webhooks/${id}/deliveries/${delivery.id}`) }, `Delivery ${delivery.id}`),
    acts: (delivery) => webhook.enabled && resendButton(delivery, log, signal),
    empty: webhook.enabled
      ? "Nothing was sent yet. Ping it by the button above, and you will see here what came of it."
      : "Nothing was sent, or it is no longer kept.",
  });
  const pinged = h("div", { role: "status" });
  void log.reload();
  return [
    h("p", { class: "crumbs" }, h("a", { href: hrefOf("webhooks") }, "Webhooks")),
    heading([`Webhook ${id} `, webhookBadge(webhook)], acts(webhook, visit, log, pinged)),
    pinged,
    standing(webhook, advice(webhook)),
    webhookFacts(webhook, ["Acts for", keyId === account.key.id ? "your key" : `key ${keyId}`]),
    section(
      "Deliveries",
      h(
        "div",
        { class: "section-acts" },
        button("Look again", "look", log.reload),
        webhook.enabled &&
          button("Send past events again", "replay", () => replaySince(webhook, visit.refresh)),
      ),
      narrowing.element,
      log.element,
    ),
  ];
}

/** What an operator disabled is the operator's to enable. */
function advice({ disabledReason }: Webhook): string {
  return disabledReason === "operator"
    ? "Ask the operator to enable it again; until then it cannot be changed or removed, and no other webhook of yours can be pointed to the same host."
    : "When it is enabled, what still waits is sent, and then what happens; what it missed can be sent again.";
}

function acts(
  webhook: Webhook,
  { signal, account, refresh }: Visit,
  log: DeliveryLog,
  pinged: Element,
): Child[] {
  const { id, enabled } = webhook;
  const isOwn = webhook.disabledReason !== "operator";
  return [
    enabled && button("Ping", "ping", () => ping(webhook, log, pinged, signal), "main"),
    isOwn && button("Edit", "edit", () => editWebhook(id, account, refresh)),
    button("Replace secret", "rotate", () => rotateSecret(webhook, refresh)),
    enabled && button("Disable", "enabled", () => disable(webhook, refresh)),
    isOwn && !enabled && button("Enable", "enabled", () => enable(webhook, refresh), "main"),
    isOwn && button("Remove", "remove", () => remove(webhook), "danger"),
  ];
}

/** Sends a test event and shows what comes of it, as it comes. */
async function ping({ id }: Webhook, log: DeliveryLog, place: Element, signal: AbortSignal): Promise<void> {
  const say = (...words: Child[]) => fill(place, h("p", { class: "note calm" }, words));
  await perform({
    act: async () => {
      const sent = await petstore.webhooks.ping(id);
      log.note(sent);
      say(badge("pending"), " The ping is on its way; a receiver has 15 seconds to answer.");
      void untilTried(sent, signal, log.note).then(
        (tried) => say(badge(tried.state), ` Ping: ${outcomeWords(tried)}`),
        () => say("What came of the ping is not known. Look again below."),
      );
    },
  });
}

/** Sends a delivery again from the log, and shows there what comes of it. */
function resendButton(delivery: Delivery, log: DeliveryLog, signal: AbortSignal): Child {
  const again = () =>
    resend(delivery, (made) => {
      log.note(made);
      untilTried(made, signal, log.note).catch(() => {});
    });
  return button("Send again", `resend-${delivery.id}`, again);
}

// Not bound to a version: each failure and success makes another, and whoever presses these means it.

function disable({ id }: Webhook, refresh: () => Promise<void>): Promise<void> {
  return performIfAgreed({
    title: `Disable webhook ${id}?`,
    text: "Nothing more is sent until it is enabled again, and what happens meanwhile is not sent by itself later.",
    verb: "Disable the webhook",
    done: `Webhook ${id} is disabled.`,
    act: () => petstore.webhooks.update(id, { enabled: false }),
    after: refresh,
  });
}

function enable({ id }: Webhook, refresh: () => Promise<void>): Promise<void> {
  return perform({
    done: `Webhook ${id} is sent what happens from now on.`,
    act: () => petstore.webhooks.update(id, { enabled: true }),
    after: refresh,
  });
}

function remove({ id, url }: Webhook): Promise<void> {
  return performIfAgreed({
    title: `Remove webhook ${id}?`,
    text: `Nothing more is sent to ${url}, and the log of its deliveries is gone. This cannot be undone.`,
    verb: "Remove the webhook",
    done: `Webhook ${id} was removed.`,
    act: () => petstore.webhooks.remove(id),
    after: () => go("webhooks"),
  });
}
