import type { Delivery, DeliveryState, Webhook } from "../../../client/src/index.ts";
import { perform } from "../acts.ts";
import { hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { list } from "../list.ts";
import { button } from "../visit.ts";
import { badge, count, time } from "../words.ts";
import { causeWords, explainedBy, isWaiting, outcomeWords } from "./webhook-words.ts";

const ON_A_PAGE = 50;
/** A receiver has 15 seconds; until then it is looked at less and less often, for each look is a request. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 16_000;

export interface DeliveryLog {
  readonly element: HTMLElement;
  reload(): Promise<void>;
  /** Shows a delivery as it is now, if it is among those that are wanted. */
  note(delivery: Delivery): void;
}

/** The log of a webhook, newest first. */
export function deliveryLog(
  webhook: Webhook,
  state: () => string | undefined,
  signal: AbortSignal,
): DeliveryLog {
  const wanted = () => state() as DeliveryState | undefined;
  const sent = list<Delivery>({
    label: "Deliveries",
    keyOf: ({ id }) => id,
    load: (loading) =>
      petstore.webhooks.deliveries.list(
        webhook.id,
        { state: wanted(), limit: ON_A_PAGE },
        { signal: loading },
      ),
    empty: () => h("p", {}, nothing(wanted(), webhook)),
    columns: [
      {
        name: "Delivery",
        cell: ({ id, type, cause }) => [
          h("a", { href: pathOf(webhook.id, id) }, `Delivery ${id}`),
          h("div", { class: "soft" }, cause === "event" ? type : `${type}, ${causeWords({ cause })}`),
        ],
      },
      { name: "Made", cell: ({ createdAt }) => time(createdAt) },
      { name: "State", kind: "short", cell: (delivery) => badge(delivery.state) },
      { name: "Last try", cell: outcome },
      { name: "Tries", kind: "number", cell: ({ attempts }) => count(attempts) },
      {
        name: "Actions",
        kind: "acts",
        cell: (delivery) =>
          webhook.enabled && button("Send again", `resend-${delivery.id}`, () => again(delivery)),
      },
    ],
  });
  const note = (delivery: Delivery) => {
    const only = wanted();
    if (only === undefined || only === delivery.state) sent.put(delivery);
    else sent.drop(delivery);
  };
  const again = (delivery: Delivery) =>
    resend(delivery, (made) => {
      note(made);
      untilTried(made, signal, note).catch(() => {});
    });
  return { element: sent.element, reload: sent.reload, note };
}

/** Sends the event of a delivery once more, as a delivery of its own. */
export function resend(
  { id, webhookId, type }: Delivery,
  made: (delivery: Delivery) => unknown,
): Promise<void> {
  return perform({
    done: `${type} is sent again.`,
    act: async () => made(await petstore.webhooks.deliveries.resend(webhookId, id)),
  });
}

/** Whether something is known of its last try. */
export function isTried({ state, reason }: Delivery): boolean {
  return state !== "pending" || reason !== undefined;
}

/** Looks at a delivery until something came of its try, or the time for that is over; tells what it sees. */
export async function untilTried(
  delivery: Delivery,
  signal: AbortSignal,
  seen: (delivery: Delivery) => void,
): Promise<Delivery> {
  let now = delivery;
  for (let pause = FIRST_LOOK_MS; pause <= LAST_LOOK_MS && !isTried(now); pause *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    now = await petstore.webhooks.deliveries.get(delivery.webhookId, delivery.id, { signal });
    seen(now);
  }
  return now;
}

/** The address of a delivery's page. */
export function pathOf(webhookId: number, deliveryId: number): string {
  return hrefOf(`webhooks/${webhookId}/deliveries/${deliveryId}`);
}

function outcome(delivery: Delivery): Child {
  const next = isWaiting(delivery) && ["Next try ", time(delivery.nextAttemptAt)];
  return explainedBy(outcomeWords(delivery), next);
}

function nothing(state: DeliveryState | undefined, { enabled }: Webhook): string {
  if (state !== undefined) return `No delivery is ${state}. Show all above.`;
  return enabled
    ? "Nothing was sent yet. Ping it by the button above, and you will see here what came of it."
    : "Nothing was sent, or it is no longer kept.";
}
