import type { Client, ClientUpdate, NewClient, Plan } from "../../../client/src/index.ts";
import { go, hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { guarded } from "../changes.ts";
import { type Child, h } from "../dom.ts";
import { choiceField, type Field, Misentered, numberField, textField } from "../fields.ts";
import { bodyOf, changedFrom, formDialog } from "../form.ts";
import { type List, list } from "../list.ts";
import { tell } from "../notices.ts";
import { button, heading, type Page } from "../visit.ts";
import { badge, count, time } from "../words.ts";

const ON_A_PAGE = 50;
const plans: readonly (readonly [Plan, string])[] = [
  ["free", "free: 60 a minute, 1,000 a day"],
  ["pro", "pro: 300 a minute, 10,000 a day"],
  ["business", "business: 1,000 a minute, 100,000 a day"],
  ["enterprise", "enterprise: as given below"],
];

const numbers = ["perMinute", "perDay"] as const;

export const clientsPage: Page = { title: "Clients", show };

function show(): Child {
  const clients: List<Client> = list({
    label: "Clients",
    keyOf: ({ id }) => id,
    load: (signal) => petstore.admin.clients.list({ limit: ON_A_PAGE }, { signal }),
    empty: () => h("p", {}, "No client yet. Add one by the button above, then make it a key."),
    columns: [
      { name: "Name", cell: ({ id, name }) => h("a", { href: hrefOf(`clients/${id}`) }, name) },
      { name: "Number", cell: ({ id }) => String(id), kind: "number" },
      { name: "Plan", kind: "short", cell: ({ plan }) => plan },
      { name: "A minute", cell: ({ perMinute }) => count(perMinute), kind: "number" },
      { name: "A day", cell: ({ perDay }) => count(perDay), kind: "number" },
      { name: "State", kind: "short", cell: ({ suspended }) => badge(suspended ? "suspended" : "active") },
      { name: "Since", cell: ({ createdAt }) => time(createdAt) },
    ],
  });
  void clients.reload();
  return [heading("Clients", button("Add a client", "add", addClient, "main")), clients.element];
}

function addClient(): void {
  formDialog("Add a client", {
    fields: clientFields(),
    verb: "Add the client",
    send: async (values) => {
      const client = await petstore.admin.clients.create(bodyOf<NewClient>(values));
      tell(`${client.name} was added. Make it a key.`);
      return () => go(`clients/${client.id}`);
    },
  });
}

/** Changes name and plan; only what was entered anew is sent. */
export function editClient(client: Client, etag: string | undefined, done: () => unknown): void {
  const read = () => petstore.admin.clients.get(client.id).withResponse();
  const change = guarded({ etag }, read, inWords);
  const before = agreed(client);
  formDialog(`Edit ${client.name}`, {
    fields: clientFields(before),
    verb: "Save",
    send: async (values) => {
      // What is empty is not sent, so that the API would keep the number that somebody meant to take away.
      const missing = numbers.find((name) => values.plan === "enterprise" && values[name] === undefined);
      if (missing) throw new Misentered(missing, "must be given: enterprise has no numbers of its own");
      const body = bodyOf<ClientUpdate>(changedFrom(before, values));
      await change((ifMatch) => petstore.admin.clients.update(client.id, body, { ifMatch }));
      tell("Saved. It acts within a second.");
      await done();
    },
  });
}

/** What was agreed with a client: other plans have numbers of their own. */
function agreed({ name, plan, perMinute, perDay }: Client): Partial<NewClient> {
  return plan === "enterprise" ? { name, plan, perMinute, perDay } : { name, plan };
}

function inWords({ name, plan, perMinute, perDay }: Client): string {
  return `“${name}”, ${plan}, ${count(perMinute)} a minute, ${count(perDay)} a day`;
}

function clientFields({ name, plan = "free", perMinute, perDay }: Partial<NewClient> = {}): Field[] {
  return [
    textField("name", { label: "Name", value: name, required: true }),
    choiceField<Plan>("plan", { label: "Plan", value: plan, choices: plans }),
    numberField("perMinute", {
      label: "Requests a minute",
      hint: "Only with enterprise.",
      value: perMinute,
    }),
    numberField("perDay", {
      label: "Requests a day",
      hint: "Only with enterprise.",
      value: perDay,
    }),
  ];
}
