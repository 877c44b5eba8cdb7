import { counter, type Family, gauge, type Sample } from "../family.ts";
import type { Figures } from "../figures.ts";
import { TRY_SECONDS } from "../webhooks.ts";

/** What is told of events: to webhooks, and to those who follow a stream. */
export const webhookFamilies: readonly Family[] = [
  {
    name: "petstore_webhook_tries_total",
    type: "counter",
    unit: "tries",
    labels: ["outcome"],
    help: "Requests to webhooks, by what came of them: delivered, or the reason why not.",
    read: ({ meters }) => counted("outcome", meters.webhooks.tries),
  },
  {
    name: "petstore_webhook_try_duration_seconds",
    type: "histogram",
    unit: "seconds",
    labels: [],
    help: "Requests to webhooks, by how long the receiver took; 15 seconds is the most.",
    bounds: TRY_SECONDS,
    read: ({ meters }) => [{ labels: {}, row: meters.webhooks.trySeconds }],
  },
  {
    name: "petstore_webhook_deliveries_total",
    type: "counter",
    unit: "deliveries",
    labels: ["outcome"],
    help: "Deliveries that were delivered, or have failed: given up after their last try.",
    read: ({ meters }) => counted("outcome", meters.webhooks.endings),
  },
  {
    name: "petstore_webhook_deliveries_pending",
    type: "gauge",
    unit: "deliveries",
    labels: ["receiver"],
    help: "Deliveries that wait, of each webhook counted up to 100, by whether its last try failed. The same on every instance.",
    read: ({ figures }) => byReceiver(figures, ({ pending }) => pending),
  },
  {
    name: "petstore_webhook_oldest_due_seconds",
    type: "gauge",
    unit: "seconds",
    labels: ["receiver"],
    help: "How long the oldest delivery is due, by whether the last try of its webhook failed. The same on every instance.",
    read: ({ figures }) => byReceiver(figures, ({ oldestDueMs }) => oldestDueMs / 1000),
  },
  {
    name: "petstore_webhooks_disabled_total",
    type: "counter",
    unit: "webhooks",
    labels: ["reason"],
    help: "Webhooks that this instance has disabled: the receiver was gone, or failing for 5 days.",
    read: ({ meters }) => counted("reason", meters.webhooks.disabled),
  },
  gauge("petstore_event_streams", "streams", "Open streams of events.", ({ figures }) => [
    figures.streams.open,
  ]),
  counter(
    "petstore_event_streams_refused_total",
    "streams",
    "Streams of events that were refused, because the client or the server had too many.",
    ({ figures }) => [figures.streams.refused],
  ),
  counter(
    "petstore_streamed_events_total",
    "events",
    "Events that were sent over streams, each as often as it was sent.",
    ({ figures }) => [figures.streams.sent],
  ),
];

function counted(label: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

type Waiting = NonNullable<Figures["webhooks"]>["working"];

function byReceiver({ webhooks }: Figures, read: (waiting: Waiting) => number): Sample[] {
  return webhooks
    ? [
        { labels: { receiver: "working" }, value: read(webhooks.working) },
        { labels: { receiver: "failing" }, value: read(webhooks.failing) },
      ]
    : [];
}
