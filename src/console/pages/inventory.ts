import type { InventoryItem, InventoryListQuery } from "../../../client/src/index.ts";
import { hrefOf } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { filters } from "../filters.ts";
import { type List, list } from "../list.ts";
import { learnPets, petLink, petName } from "../names.ts";
import { button, heading, type Page, type Visit } from "../visit.ts";
import { badge, count, statusChoices } from "../words.ts";
import { setStock } from "./stock-form.ts";

const ON_A_PAGE = 50;

export const inventoryPage: Page = { title: "Inventory", show };

function show({ account, query }: Visit) {
  const isStaff = mayAct(account, "staff");
  const narrowing = filters(
    "inventory",
    query,
    [
      { name: "status", label: "Status", choices: statusChoices },
      { name: "maxQuantity", label: "At most (up to 1,000)", type: "number" },
    ],
    () => void stock.reload(),
  );
  const stock: List<InventoryItem> = list({
    label: "Stock of each pet",
    keyOf: ({ petId }) => petId,
    load: (signal) =>
      petstore.inventory.list({ ...narrowing.asked<InventoryListQuery>(), limit: ON_A_PAGE }, { signal }),
    prepare: (found, signal) =>
      learnPets(
        found.map(({ petId }) => petId),
        signal,
      ),
    empty: () => h("p", {}, narrowing.isNarrowed() ? "No pet is like that. Ask for less above." : nothing()),
    columns: [
      { name: "Pet", cell: ({ petId }) => petLink(petId) },
      { name: "In stock", cell: ({ quantity }) => count(quantity), kind: "number" },
      { name: "Status", kind: "short", cell: ({ status }) => badge(status) },
      {
        name: "Actions",
        kind: "acts",
        cell: (item) =>
          isStaff &&
          button("Set stock", `stock-${item.petId}`, () =>
            setStock(item.petId, petName(item.petId), (now) => stock.put(now)),
          ),
      },
    ],
  });
  void stock.reload();
  return [heading("Inventory"), narrowing.element, stock.element];
}

function nothing(): Child {
  return ["The store has no pets yet. They are added under ", h("a", { href: hrefOf("pets") }, "Pets"), "."];
}
