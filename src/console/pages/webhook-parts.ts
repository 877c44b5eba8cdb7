import type { Webhook } from "../../../client/src/index.ts";
import { type Child, h } from "../dom.ts";
import { facts, lines, whole } from "../visit.ts";
import { time } from "../words.ts";
import { disabledWords, sights } from "./webhook-words.ts";

/** What a reader should know first: why nothing arrives, and what can be done about it. */
export function standing(webhook: Webhook, advice: string): Child {
  const { enabled, failingSince } = webhook;
  if (!enabled) return h("p", { class: "note bad" }, `Nothing is sent. ${disabledWords(webhook)} ${advice}`);
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

/** What is known of a webhook, and more that the page knows. */
export function webhookFacts(
  webhook: Webhook,
  ...more: readonly (readonly [name: string, value: Child])[]
): HTMLElement {
  const { url, description, types, sees, createdAt, previousSecretUntil, replaying } = webhook;
  return facts(
    ["Address", whole(url)],
    ...(description === undefined ? [] : [["For", lines(description)] as const]),
    ["Is sent", types === undefined ? "everything that it may see" : whole(types.join(", "))],
    ["May see", sights[sees]],
    ...more,
    ["Since", time(createdAt)],
    ...(previousSecretUntil === undefined
      ? []
      : [["Signed with the old secret too until", time(previousSecretUntil)] as const]),
    ...(replaying ? [["Past events", "being sent again"] as const] : []),
  );
}
