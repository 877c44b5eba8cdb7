import type { AdminWebhook, AdminWebhooksListQuery, Client } from "../../../client/src/index.ts";
import { performIfAgreed } from "../acts.ts";
import { hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { type Filter, filters } from "../filters.ts";
import { type List, list } from "../list.ts";
import { button, heading, type Page, type Visit } from "../visit.ts";
import { time } from "../words.ts";
import { addressLink, disabledWords, explainedBy, webhookBadge } from "./webhook-words.ts";

const ON_A_PAGE = 50;
/** Clients that can be chosen by their names; of more the number is asked for. */
const CHOSEN_FROM = 100;

export const allWebhooksPage: Page = { title: "All webhooks", show };

async function show({ query, signal }: Visit): Promise<Child> {
  const clients = await petstore.admin.clients.list({ limit: CHOSEN_FROM }, { signal });
  const names = new Map(clients.map(({ id, name }) => [id, name]));
  const narrowedBy = narrowing(clients.hasNext ? undefined : clients);
  const narrowed = filters("all-webhooks", query, narrowedBy, () => void webhooks.reload());
  const webhooks: List<AdminWebhook> = list({
    label: "Webhooks of all clients",
    keyOf: ({ id }) => id,
    load: (loading) =>
      petstore.admin.webhooks.list(
        { ...narrowed.asked<AdminWebhooksListQuery>(), limit: ON_A_PAGE },
        { signal: loading },
      ),
    empty: () => h("p", {}, nothing(narrowed.isNarrowed())),
    columns: [
      {
        name: "Address",
        cell: ({ id, url, description }) => explainedBy(addressLink(`all-webhooks/${id}`, url), description),
      },
      { name: "Client", cell: ({ clientId }) => clientLink(clientId, names.get(clientId)) },
      { name: "State", cell: (webhook) => explainedBy(webhookBadge(webhook), disabledWords(webhook)) },
      { name: "Failing since", cell: ({ failingSince }) => time(failingSince) },
      { name: "Actions", kind: "acts", cell: (webhook) => switchButton(webhook, webhooks.reload) },
    ],
  });
  void webhooks.reload();
  return [
    heading("All webhooks"),
    h("p", { class: "soft" }, "Where the events of this store are sent, by any client."),
    narrowed.element,
    webhooks.element,
  ];
}

function narrowing(clients: readonly Client[] | undefined): readonly Filter[] {
  return [
    clients
      ? {
          name: "clientId",
          label: "Client",
          choices: [["", "any"], ...clients.map(({ id, name }) => [String(id), `${name} (${id})`] as const)],
        }
      : { name: "clientId", label: "Client number", type: "number" },
    {
      name: "enabled",
      label: "State",
      choices: [
        ["", "any"],
        ["true", "enabled"],
        ["false", "disabled"],
      ],
    },
  ];
}

function nothing(isNarrowed: boolean): string {
  return isNarrowed ? "No webhook is like that. Ask for less above." : "No client has a webhook yet.";
}

/** A client by its name, or by its number if that is all that is known. */
export function clientLink(clientId: number, name: string | undefined): Child {
  return h("a", { href: hrefOf(`clients/${clientId}`) }, name ?? `client ${clientId}`);
}

/** Disables or enables a client's webhook as the operator. */
export function switchButton(webhook: AdminWebhook, done: () => unknown): Child {
  const { id, enabled } = webhook;
  return enabled
    ? button("Disable", `switch-${id}`, () => disable(webhook, done), "danger")
    : button("Enable", `switch-${id}`, () => enable(webhook, done));
}

/** Until an admin enables it; its client cannot. */
export function disable({ id }: AdminWebhook, done: () => unknown): Promise<void> {
  return performIfAgreed({
    title: `Disable webhook ${id}?`,
    text: "Nothing more is sent to it. Until an admin enables it here, its client can neither enable, change nor remove it, nor point another one to the same host. Those that lead there already go on: disable each. The client is told by an event.",
    verb: "Disable the webhook",
    done: `Webhook ${id} is disabled.`,
    act: () => petstore.admin.webhooks.update(id, { enabled: false }),
    after: done,
  });
}

function enable({ id, disabledReason }: AdminWebhook, done: () => unknown): Promise<void> {
  return performIfAgreed({
    title: `Enable webhook ${id}?`,
    text: `${disabledReason === "asked" ? "Its own client disabled it. " : ""}It is sent what happens from now on.`,
    verb: "Enable the webhook",
    done: `Webhook ${id} is enabled.`,
    act: () => petstore.admin.webhooks.update(id, { enabled: true }),
    after: done,
  });
}
