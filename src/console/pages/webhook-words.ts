import type { Delivery, Webhook } from "../../../client/src/index.ts";
import { hrefOf } from "../address.ts";
import { type Child, h } from "../dom.ts";
import { badge, count, timeToTheSecond } from "../words.ts";

/** Characters of an address that a list shows, and how many of them are its last. */
const [SHORT, ENDING] = [90, 20];
/** Types that are named in a list; the page of a webhook names them all. */
const NAMED = 2;

type Disabled = NonNullable<Webhook["disabledReason"]>;
type Reason = NonNullable<Delivery["reason"]>;
type About = Pick<Webhook, "enabled" | "disabledReason" | "failingSince">;

/** How a webhook stands, in a word. */
export function webhookBadge({ enabled, disabledReason, failingSince }: About): HTMLElement {
  if (!enabled) return badge("disabled", disabledReason === "asked" ? "calm" : "bad");
  return badge(failingSince === undefined ? "active" : "failing");
}

const whyDisabled: Readonly<Record<Disabled, string>> = {
  asked: "Somebody disabled it.",
  gone: "Its receiver answered that it is gone for good (410).",
  failing: "Nothing could be delivered for 5 days.",
  operator: "The operator of the store disabled it.",
};

/** Why nothing is sent to it; nothing of one that works. */
export function disabledWords({ disabledReason }: About): string | undefined {
  return disabledReason && whyDisabled[disabledReason];
}

/** What it is sent, in a few words. */
export function typesInBrief({ types }: Pick<Webhook, "types">): string {
  if (types === undefined) return "everything";
  const more = types.length - NAMED;
  return types.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** What a webhook of this sight is told of. */
export const sights: Readonly<Record<Webhook["sees"], string>> = {
  own: "the catalogue, and what is its client's own",
  all: "everything, of all clients",
};

const causes: Readonly<Record<Delivery["cause"], string>> = {
  event: "as it happened",
  resend: "sent again",
  replay: "sent again with past events",
  ping: "to try the webhook",
};

export function causeWords({ cause }: Pick<Delivery, "cause">): string {
  return causes[cause];
}

const reasons: Readonly<Record<Reason, string>> = {
  timeout: "There was no answer within 15 seconds.",
  dns: "The name in the address leads nowhere, or to an address that is not public.",
  private_address: "It is an address without a name that is not public, or it is not https.",
  connection_refused: "Nobody listens at the address.",
  connection_reset: "The connection broke off.",
  connection_failed: "The address could not be reached.",
  tls: "The certificate is not valid for the name, or nobody vouches for it.",
  invalid_response: "What answered does not speak HTTP.",
  redirect: "The receiver leads elsewhere. Give the webhook the address that it leads to.",
  gone: "The receiver is gone for good.",
  status_4xx: "The receiver refused it.",
  status_5xx: "The receiver is in trouble.",
  not_permitted: "Nothing was sent: the webhook may not see this event any more.",
};

/** What came of the last try, or what is waited for. */
export function outcomeWords({ state, attempts, reason, responseStatus, durationMs }: Delivery): string {
  if (reason !== undefined)
    return responseStatus === undefined ? reasons[reason] : `Answered ${responseStatus}. ${reasons[reason]}`;
  if (state === "pending") return attempts === 0 ? "Not tried yet." : "Being tried now.";
  return `Answered ${responseStatus ?? ""} in ${count(durationMs ?? 0)} ms.`;
}

/** When it is tried next, if it waits for that; of a try under way the time says nothing to a reader. */
export function nextTry(delivery: Delivery, { enabled }: Pick<Webhook, "enabled">): Child {
  const { state, attempts, reason, nextAttemptAt } = delivery;
  const isWaiting = state === "pending" && (attempts === 0 || reason !== undefined);
  if (!isWaiting) return null;
  return enabled ? timeToTheSecond(nextAttemptAt) : "when the webhook is enabled";
}

/** Something with a line of explanation below it, if there is one. */
export function explainedBy(something: Child, words: Child): HTMLElement {
  return h("div", {}, something, words && h("div", { class: "soft" }, words));
}

/** An address as a list shows it, leading to the page of its webhook: the middle of a long one is left out. */
export function addressLink(path: string, url: string): HTMLElement {
  const brief = url.length <= SHORT ? url : `${url.slice(0, SHORT - ENDING)}…${url.slice(-ENDING)}`;
  return h("a", { class: "address", href: hrefOf(path), title: url }, brief);
}
