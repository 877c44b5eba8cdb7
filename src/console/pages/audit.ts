import type { AuditEntry } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { type List, list } from "../list.ts";
import { heading, type Page } from "../visit.ts";
import { time } from "../words.ts";

const ON_A_PAGE = 50;

export const auditPage: Page = { title: "Audit trail", show };

function show(): Child {
  const entries: List<AuditEntry> = list({
    label: "What was done to clients, keys, bans and webhooks",
    keyOf: ({ id }) => id,
    load: (signal) => petstore.admin.audit({ limit: ON_A_PAGE }, { signal }),
    empty: () => h("p", {}, "Nothing was done to clients, keys, bans or webhooks yet."),
    columns: [
      { name: "When", cell: ({ at }) => time(at) },
      { name: "What", kind: "short", cell: ({ operation }) => h("code", {}, operation) },
      { name: "By", kind: "short", cell: ({ by }) => by },
      { name: "Of", kind: "short", cell: ({ subject }) => subject },
      { name: "Asked for", cell: ({ input }) => h("code", { class: "long" }, input) },
    ],
  });
  void entries.reload();
  return [
    heading("Audit trail"),
    h("p", { class: "soft" }, "What was done to clients, keys, bans and webhooks; newest first."),
    entries.element,
  ];
}
