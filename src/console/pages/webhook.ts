import type { Account, Webhook } from "../../../client/src/index.ts";
import { perform, performIfAgreed } from "../acts.ts";
import { go, hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, fill, h } from "../dom.ts";
import { filters } from "../filters.ts";
import { button, facts, heading, type Page, section, type Visit, whole } from "../visit.ts";
import { badge, time } from "../words.ts";
import { type DeliveryLog, deliveryLog, untilTried } from "./deliveries.ts";
import { editWebhook, replaySince, rotateSecret } from "./webhook-form.ts";
import { disabledWords, outcomeWords, sights, webhookBadge } from "./webhook-words.ts";

export const webhookPage: Page = { title: "Webhook", show };

async function show(visit: Visit): Promise<Child> {
  const { id, signal, query } = visit;
  const webhook = await petstore.webhooks.get(id, { signal });
  document.title = `Webhook ${id} · Petstore console`;
  const choices = [
    ["", "all"],
    ["pending", "pending: still to be sent"],
    ["delivered", "delivered"],
    ["failed", "failed: given up"],
  ] as const;
  const narrowing = filters(
    `webhooks/${id}`,
    query,
    [{ name: "state", label: "Show", choices }],
    () => void log.reload(),
  );
  const log = deliveryLog(webhook, () => narrowing.value("state"), signal);
  const pinged = h("div", { role: "status" });
  void log.reload();
  return [
    h("p", { class: "crumbs" }, h("a", { href: hrefOf("webhooks") }, "Webhooks")),
    heading([`Webhook ${id} `, webhookBadge(webhook)], acts(webhook, visit, log, pinged)),
    pinged,
    standing(webhook),
    described(webhook, visit.account),
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

/** What a reader should know first: why nothing arrives. */
function standing(webhook: Webhook): Child {
  const { enabled, failingSince } = webhook;
  if (!enabled)
    return h(
      "p",
      { class: "note bad" },
      `Nothing is sent. ${disabledWords(webhook)} When it is enabled, it begins with what happens then; what it missed can be sent again.`,
    );
  return (
    failingSince !== undefined &&
    h(
      "p",
      { class: "note wait" },
      "Every try has failed since ",
      time(failingSince),
      ". Each delivery is tried ten times, over three days; after five days without one success the webhook is disabled.",
    )
  );
}

function described(webhook: Webhook, { key }: Account): Child {
  const { url, description, types, sees, keyId, createdAt, previousSecretUntil, replaying } = webhook;
  return facts(
    ["Address", whole(url)],
    ...(description === undefined ? [] : [["For", description] as const]),
    ["Is sent", types === undefined ? "everything that it may see" : types.join(", ")],
    ["May see", sights[sees]],
    ["Acts for", keyId === key.id ? "your key" : `key ${keyId}`],
    ["Since", time(createdAt)],
    ...(previousSecretUntil === undefined
      ? []
      : [["Signed with the old secret too until", time(previousSecretUntil)] as const]),
    ...(replaying ? [["Past events", "being sent again"] as const] : []),
  );
}

function acts(
  webhook: Webhook,
  { signal, account, refresh }: Visit,
  log: DeliveryLog,
  pinged: Element,
): Child[] {
  const { id, enabled } = webhook;
  return [
    enabled && button("Ping", "ping", () => ping(webhook, log, pinged, signal), "main"),
    button("Edit", "edit", () => editWebhook(id, account, refresh)),
    button("Replace secret", "rotate", () => rotateSecret(webhook, refresh)),
    enabled
      ? button("Disable", "enabled", () => disable(webhook, refresh))
      : button("Enable", "enabled", () => enable(webhook, refresh), "main"),
    button("Remove", "remove", () => remove(webhook), "danger"),
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
