import type { Webhook } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { list } from "../list.ts";
import { button, heading, type Page, type Visit } from "../visit.ts";
import { time } from "../words.ts";
import { makeWebhook } from "./webhook-form.ts";
import { addressLink, disabledWords, explainedBy, typesInBrief, webhookBadge } from "./webhook-words.ts";

const ON_A_PAGE = 50;

export const webhooksPage: Page = { title: "Webhooks", show };

function show({ account }: Visit): Child {
  const webhooks = list<Webhook>({
    label: "Webhooks",
    keyOf: ({ id }) => id,
    load: (signal) => petstore.webhooks.list({ limit: ON_A_PAGE }, { signal }),
    empty: () =>
      h("p", {}, "No webhook yet. Make one by the button above, and your program is told what happens."),
    columns: [
      {
        name: "Address",
        cell: ({ id, url, description }) => explainedBy(addressLink(`webhooks/${id}`, url), description),
      },
      { name: "Is sent", cell: typesInBrief },
      {
        name: "State",
        cell: (webhook) => explainedBy(webhookBadge(webhook), disabledWords(webhook)),
      },
      { name: "Failing since", cell: ({ failingSince }) => time(failingSince) },
    ],
  });
  void webhooks.reload();
  return [
    heading(
      "Webhooks",
      button("Make a webhook", "make", () => makeWebhook(account), "main"),
    ),
    h("p", { class: "soft" }, `Addresses of ${account.client.name} that are told what happens.`),
    webhooks.element,
  ];
}
