import type { Role } from "../../../client/src/index.ts";
import { mayAct, petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { button, facts, heading, type Page, section, type Visit } from "../visit.ts";
import { count } from "../words.ts";
import { createKey, type KeyActs, keyList } from "./keys.ts";

const ON_A_PAGE = 50;

export const accountPage: Page = { title: "Account", show };

function show({ account }: Visit): Child {
  const { client, key } = account;
  const { keys: own } = petstore.account;
  const roles: readonly Role[] = ["customer", "staff", "admin"];
  const acts: KeyActs = {
    load: (signal) => own.list({ limit: ON_A_PAGE }, { signal }),
    create: (body) => own.create(body),
    rotate: (keyId, body) => own.rotate(keyId, body),
    revoke: (keyId) => own.revoke(keyId),
    roles: roles.filter((role) => mayAct(account, role)),
  };
  const keys = keyList(acts);
  void keys.reload();
  return [
    heading("Account"),
    facts(
      ["Client", client.name],
      ["Plan", client.plan],
      ["Requests a minute", count(client.perMinute)],
      ["Requests a day", count(client.perDay)],
      ["Signed in with", [key.name ?? `key ${key.id}`, " ", h("code", {}, `…${key.lastFour}`)]],
      ["Role", key.role],
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
  ];
}
