import type { Client, Key } from "../../../client/src/index.ts";
import { performIfAgreed } from "../acts.ts";
import { go, hrefOf } from "../address.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { button, facts, heading, type Page, section, type Visit } from "../visit.ts";
import { badge, count, time } from "../words.ts";
import { imposeBan } from "./bans.ts";
import { editClient } from "./clients.ts";
import { createKey, type KeyActs, keyList } from "./keys.ts";
import { usagePlots } from "./usage.ts";

const ON_A_PAGE = 50;

export const clientPage: Page = { title: "Client", show };

async function show({ id, signal, refresh }: Visit): Promise<Child> {
  const [{ data: client, etag }, usage] = await Promise.all([
    petstore.admin.clients.get(id, { signal }).withResponse(),
    petstore.admin.usage({ clientId: id }, { signal }),
  ]);
  document.title = `${client.name} · Petstore console`;
  const { keys: all } = petstore.admin;
  const acts: KeyActs = {
    load: (loading) => all.list(id, { limit: ON_A_PAGE }, { signal: loading }),
    create: (body) => all.create(id, body),
    rotate: (keyId, body) => all.rotate(keyId, body),
    revoke: (keyId) => all.revoke(keyId),
    more: (key) => banButton(key, () => keys.reload()),
    roles: ["customer", "staff", "admin"],
  };
  const keys = keyList(acts);
  void keys.reload();
  return [
    h("p", { class: "crumbs" }, h("a", { href: hrefOf("clients") }, "Clients")),
    heading(
      [client.name, " ", badge(client.suspended ? "suspended" : "active")],
      button("Edit", "edit", () => editClient(client, etag, refresh)),
      (client.suspended || !isOperator(client)) && suspension(client, etag, refresh),
      !isOperator(client) && button("Remove", "remove", () => remove(client, etag), "danger"),
    ),
    facts(
      ["Number", String(client.id)],
      ["Plan", client.plan],
      ["Requests a minute", count(client.perMinute)],
      ["Requests a day", count(client.perDay)],
      ["Since", time(client.createdAt)],
      ["Webhooks", h("a", { href: hrefOf("all-webhooks", { clientId: id }) }, "To its webhooks")],
    ),
    section(
      "Keys",
      h(
        "div",
        { class: "section-acts" },
        button("Make a key", "make-key", () => createKey(acts, keys.reload), "main"),
      ),
      keys.element,
    ),
    section("Requests of the last 30 days", usagePlots(usage, client.perDay)),
  ];
}

/** Nobody can suspend or remove the operator's own client; its name is kept for it. */
function isOperator({ name, plan }: Client): boolean {
  return name === "operator" && plan === "enterprise";
}

function banButton(key: Key, done: () => unknown): Child {
  return key.bannedUntil === undefined && button("Ban", `ban-${key.id}`, () => imposeBan(key, done));
}

function suspension(
  { id, name, suspended }: Client,
  ifMatch: string | undefined,
  refresh: () => Promise<void>,
): Child {
  return button(suspended ? "Resume" : "Suspend", "suspend", () =>
    performIfAgreed({
      title: suspended ? `Resume ${name}?` : `Suspend ${name}?`,
      text: suspended
        ? "Its keys work again."
        : "All its keys are refused within a second, until you resume it.",
      verb: suspended ? "Resume" : "Suspend",
      done: `${name} is ${suspended ? "active again" : "suspended"}.`,
      act: () => petstore.admin.clients.update(id, { suspended: !suspended }, { ifMatch }),
      after: refresh,
    }),
  );
}

function remove({ id, name }: Client, ifMatch: string | undefined): Promise<void> {
  return performIfAgreed({
    title: `Remove ${name}?`,
    text: "Its keys are revoked for good; its completed orders stay.",
    verb: "Remove the client",
    done: `${name} was removed.`,
    act: () => petstore.admin.clients.remove(id, { ifMatch }),
    after: () => go("clients"),
  });
}
