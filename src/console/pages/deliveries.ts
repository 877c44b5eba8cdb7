import type {
  Delivery,
  DeliveryState,
  Page,
  Webhook,
  WebhooksDeliveriesListQuery,
} from "../../../client/src/index.ts";
import { perform } from "../acts.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { filters } from "../filters.ts";
import { list } from "../list.ts";
import { badge, count, timeToTheSecond } from "../words.ts";
import { causeWords, explainedBy, nextTry, outcomeWords } from "./webhook-words.ts";

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

interface LogOptions {
  /** While it is disabled nothing is tried. */
  readonly webhook: Pick<Webhook, "enabled">;
  /** Only deliveries in this state. */
  readonly state: () => DeliveryState | undefined;
  readonly load: (asked: WebhooksDeliveriesListQuery, signal: AbortSignal) => PromiseLike<Page<Delivery>>;
  readonly name: (delivery: Delivery) => Child;
  readonly acts: (delivery: Delivery) => Child;
  /** What is said where nothing was ever sent. */
  readonly empty: string;
}

/** The log of a webhook, newest first. */
export function deliveryLog({ webhook, state, load, name, acts, empty }: LogOptions): DeliveryLog {
  const sent = list<Delivery>({
    label: "Deliveries",
    keyOf: ({ id }) => id,
    load: (signal) => load({ state: state(), limit: ON_A_PAGE }, signal),
    empty: () => h("p", {}, state() === undefined ? empty : `No delivery is ${state()}. Show all above.`),
    columns: [
      {
        name: "Delivery",
        cell: (delivery) => explainedBy(name(delivery), whatWords(delivery)),
      },
      { name: "Made", cell: ({ createdAt }) => timeToTheSecond(createdAt) },
      { name: "State", kind: "short", cell: (delivery) => badge(delivery.state) },
      { name: "Last try", cell: (delivery) => outcome(delivery, webhook) },
      { name: "Tries", kind: "number", cell: ({ attempts }) => count(attempts) },
      { name: "Actions", kind: "acts", cell: acts },
    ],
  });
  return {
    element: sent.element,
    reload: sent.reload,
    note(delivery) {
      const only = state();
      if (only === undefined || only === delivery.state) sent.put(delivery);
      else sent.drop(delivery);
    },
  };
}

/** What the log is narrowed by. */
export function stateFilter(path: string, query: URLSearchParams, onChange: () => void) {
  const choices = [
    ["", "all"],
    ["pending", "pending: still to be sent"],
    ["delivered", "delivered"],
    ["failed", "failed: given up"],
  ] as const;
  const { element, value } = filters(path, query, [{ name: "state", label: "Show", choices }], onChange);
  return { element, state: () => value("state") as DeliveryState | undefined };
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

function outcome(delivery: Delivery, webhook: Pick<Webhook, "enabled">): Child {
  const next = nextTry(delivery, webhook);
  return explainedBy(outcomeWords(delivery), next && ["Next try ", next]);
}

function whatWords({ type, cause }: Delivery): string {
  return cause === "event" ? type : `${type}, ${causeWords({ cause })}`;
}
