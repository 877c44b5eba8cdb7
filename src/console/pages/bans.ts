import type { Ban, Key, NewBan } from "../../../client/src/index.ts";
import { performIfAgreed } from "../acts.ts";
import { hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { numberField, textField } from "../fields.ts";
import { bodyOf, formDialog } from "../form.ts";
import { type List, list } from "../list.ts";
import { tell } from "../notices.ts";
import { button, heading, type Page } from "../visit.ts";
import { none, time } from "../words.ts";
import { nameOf } from "./keys.ts";

const ON_A_PAGE = 50;
const AN_HOUR = 60;

export const bansPage: Page = { title: "Bans", show };

function show(): Child {
  const bans: List<Ban> = list({
    label: "Bans in force",
    keyOf: ({ keyId }) => keyId,
    load: (signal) => petstore.admin.bans.list({ limit: ON_A_PAGE }, { signal }),
    empty: () => h("p", {}, "No key is banned. A key can be banned on the page of its client."),
    columns: [
      { name: "Key", cell: ({ keyId }) => `Key ${keyId}` },
      {
        name: "Client",
        cell: ({ clientId }) => h("a", { href: hrefOf(`clients/${clientId}`) }, `client ${clientId}`),
      },
      {
        name: "Cause",
        kind: "short",
        cell: ({ cause, level }) => (cause === "admin" ? "imposed" : `strikes, level ${level}`),
      },
      { name: "Reason", cell: ({ reason }) => reason ?? none() },
      { name: "Until", cell: ({ until }) => time(until) },
      {
        name: "Actions",
        kind: "acts",
        cell: (ban) => button("Lift", `lift-${ban.keyId}`, () => lift(ban, () => bans.drop(ban))),
      },
    ],
  });
  void bans.reload();
  return [heading("Bans"), bans.element];
}

/** Bans a key for a time. */
export function imposeBan(key: Key, done: () => unknown): void {
  formDialog(`Ban ${nameOf(key)}`, {
    fields: [
      numberField("minutes", { label: "For so many minutes", value: AN_HOUR, required: true }),
      textField("reason", { label: "Reason", hint: "For the list of bans and the audit trail." }),
    ],
    verb: "Ban the key",
    send: async (values) => {
      await petstore.admin.bans.impose(key.id, bodyOf<NewBan>(values));
      tell(`${nameOf(key)} is banned.`);
      await done();
    },
  });
}

function lift({ keyId }: Ban, lifted: () => void): Promise<void> {
  return performIfAgreed({
    title: `Lift the ban of key ${keyId}?`,
    text: "The key works again at once, and its strikes are cleared.",
    verb: "Lift the ban",
    done: `Key ${keyId} works again.`,
    act: () => petstore.admin.bans.lift(keyId),
    after: lifted,
  });
}
