import type { Order, PetUpdate, StorePet } from "../../../client/src/index.ts";
import { perform, performIfAgreed } from "../acts.ts";
import { go, hrefOf } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { guarded } from "../changes.ts";
import { keepingFocus } from "../dialog.ts";
import { type Child, fill, h } from "../dom.ts";
import { bodyOf, changedFrom, formDialog } from "../form.ts";
import { tell } from "../notices.ts";
import { button, facts, heading, type Page, section, type Visit } from "../visit.ts";
import { badge, count, explained, isAbort } from "../words.ts";
import { movementList } from "./movements.ts";
import { placeOrder } from "./order-form.ts";
import { orderList } from "./orders.ts";
import { petFields } from "./pets.ts";
import { setStock } from "./stock-form.ts";

const ORDERS_SHOWN = 10;

export const petPage: Page = { title: "Pet", show };

async function show({ id, signal, account }: Visit): Promise<Child> {
  const isStaff = mayAct(account, "staff");
  const top = h("div");
  const read = async () => {
    const { data: pet, etag } = await petstore.store.pet(id, { signal }).withResponse();
    document.title = `${pet.name} · Petstore console`;
    keepingFocus(top, () =>
      fill(
        top,
        heading([pet.name, " ", badge(pet.status)], acts(pet, etag, isStaff, changed)),
        facts(["Number", String(pet.id)], ["Category", pet.category.name], ["In stock", inStock(pet)]),
      ),
    );
  };
  /** The pet has changed, or its stock; its orders stay as they are shown, but for one that is new. */
  const changed = async (placed?: Order) => {
    if (placed) orders.put(placed);
    void movements?.reload();
    await read().catch((error) => isAbort(error) || tell(explained(error)));
  };
  await read();
  const orders = orderList({
    query: () => ({ petId: id }),
    empty: () => (isStaff ? "Nobody has ordered this pet yet." : "You have not ordered this pet yet."),
    limit: ORDERS_SHOWN,
    isOfOnePet: true,
    onChange: () => changed(),
  });
  void orders.reload();
  const movements = isStaff ? movementList(id) : undefined;
  void movements?.reload();
  return [
    h("p", { class: "crumbs" }, h("a", { href: hrefOf("pets") }, "Pets")),
    top,
    section(isStaff ? "Orders" : "Your orders", orders.element),
    movements && section("Stock movements", movements.element),
  ];
}

function inStock({ quantity, status }: StorePet): string {
  if (status === "available") return `${count(quantity)} can be ordered now`;
  return status === "pending" && quantity > 0 ? `${count(quantity)} in stock, held` : count(quantity);
}

function acts(
  pet: StorePet,
  etag: string | undefined,
  isStaff: boolean,
  changed: (placed?: Order) => Promise<void>,
): Child[] {
  const { id, name, status, quantity } = pet;
  const order = button(isStaff ? "Sell" : "Order", "order", () => placeOrder(isStaff, pet, changed), "main");
  const move = (label: string, to: "available" | "pending", done: string) =>
    button(label, "move", () =>
      perform({
        done,
        act: () => petstore.pets.update(id, { status: to }, { ifMatch: etag }),
        after: changed,
      }),
    );
  const remove = () =>
    performIfAgreed({
      title: `Remove ${name}?`,
      text: "The pet is gone for good. Its completed orders and the ledger of its stock stay.",
      verb: "Remove the pet",
      done: `${name} was removed.`,
      act: () => petstore.pets.remove(id, { ifMatch: etag }),
      after: () => go("pets"),
    });
  return [
    status === "available" && order,
    ...(isStaff
      ? [
          button("Set stock", "stock", () => setStock(id, name, () => changed())),
          status === "available" && move("Hold", "pending", `${name} is held: nobody can order.`),
          status === "pending" &&
            quantity > 0 &&
            move("Release", "available", `${name} can be ordered again.`),
          status === "sold" && move("Take back", "available", `${name} is back, one in stock.`),
          button("Edit", "edit", () => edit(pet, etag, changed)),
          button("Remove", "remove", remove, "danger"),
        ]
      : []),
  ];
}

function edit(before: StorePet, etag: string | undefined, changed: () => Promise<void>): void {
  const read = () => petstore.store.pet(before.id).withResponse();
  const change = guarded(
    { etag },
    read,
    ({ name, category, status }) => `“${name}”, ${category.name}, ${status}`,
  );
  formDialog(`Edit ${before.name}`, {
    fields: petFields(before),
    verb: "Save",
    send: async (values) => {
      const body = bodyOf<PetUpdate>(changedFrom(before, values));
      await change((ifMatch) => petstore.pets.update(before.id, body, { ifMatch }));
      tell("Saved.");
      await changed();
    },
  });
}
