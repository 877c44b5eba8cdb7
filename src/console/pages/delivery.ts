import type { Delivery, Webhook } from "../../../client/src/index.ts";
import { go, hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { button, facts, heading, type Page, section, type Visit, whole } from "../visit.ts";
import { badge, count, none, timeToTheSecond } from "../words.ts";
import { isTried, resend, untilTried } from "./deliveries.ts";
import { causeWords, nextTry, outcomeWords } from "./webhook-words.ts";

export const deliveryPage: Page = { title: "Delivery", show };

async function show({ id, innerId, signal, refresh }: Visit): Promise<Child> {
  const [webhook, delivery] = await Promise.all([
    petstore.webhooks.get(id, { signal }),
    petstore.webhooks.deliveries.get(id, innerId, { signal }),
  ]);
  document.title = `Delivery ${innerId} · Petstore console`;
  if (!isTried(delivery)) followUp(delivery, signal, refresh);
  return [
    h(
      "p",
      { class: "crumbs" },
      h("a", { href: hrefOf("webhooks") }, "Webhooks"),
      " / ",
      h("a", { href: hrefOf(`webhooks/${id}`) }, `Webhook ${id}`),
    ),
    heading(
      [`Delivery ${innerId} `, badge(delivery.state)],
      webhook.enabled &&
        button("Send again", "resend", () =>
          resend(delivery, (made) => go(`webhooks/${id}/deliveries/${made.id}`)),
        ),
    ),
    deliveryParts(delivery, webhook),
  ];
}

/** All that is known of a delivery. */
export function deliveryParts(delivery: Delivery, webhook: Pick<Webhook, "url" | "enabled">): Child[] {
  const { type, messageId, attempts, createdAt, attemptedAt, durationMs } = delivery;
  return [
    facts(
      ["To", whole(webhook.url)],
      ["What", type],
      ["Event's id", messageId],
      ["Why", causeWords(delivery)],
      ["Made", timeToTheSecond(createdAt)],
      ["Tries", count(attempts)],
      ["Last try", timeToTheSecond(attemptedAt)],
      ["It took", durationMs === undefined ? none() : `${count(durationMs)} ms`],
      ["Next try", nextTry(delivery, webhook) ?? none()],
    ),
    section(
      "What came of the last try",
      h("p", { role: "status" }, outcomeWords(delivery)),
      answered(delivery),
    ),
    section(
      "What is sent",
      h("pre", { tabindex: "0", "aria-label": "What is sent" }, indented(delivery.requestBody)),
    ),
  ];
}

/** The page shows what comes of a try by itself. */
function followUp(delivery: Delivery, signal: AbortSignal, refresh: () => Promise<void>): void {
  untilTried(delivery, signal, () => {}).then(
    (now) => (isTried(now) ? refresh() : undefined),
    () => {},
  );
}

function answered({ responseBody }: Delivery): Child {
  if (responseBody === undefined || responseBody === "") return null;
  return [
    h("p", { class: "soft" }, "The receiver said:"),
    h("pre", { tabindex: "0", "aria-label": "What the receiver said" }, responseBody),
  ];
}

/** JSON with a line for each field, where that changes nothing but spaces: a browser cannot hold every number. */
function indented(json: string): string {
  try {
    const value = JSON.parse(json);
    return JSON.stringify(value) === json ? JSON.stringify(value, null, 2) : json;
  } catch {
    return json;
  }
}
