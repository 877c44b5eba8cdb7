import type { PetstoreApi } from "../contract/api.ts";
import type { Movement } from "../contract/shapes.ts";
import { type Operations, requireMatch } from "./context.ts";
import { Conflict } from "./failure.ts";
import { iso } from "./iso.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import { knownPet } from "./pets.ts";
import type { MovementRecord } from "./ports.ts";
import { shownItem } from "./shown.ts";
import { stockAfter } from "./status.ts";
import { tellStock } from "./stock.ts";
import { stockTag } from "./tags.ts";

export const inventory: Operations<PetstoreApi["inventory"]> = {
  async list(cx, { status, maxQuantity, limit, cursor }) {
    const sort = maxQuantity === undefined ? "id" : "quantity";
    const records = await cx.store.stock({
      sort,
      descending: false,
      statuses: status,
      maxQuantity,
      after: readCursor(cursor, "inventory", sort, "number"),
      limit: limit + 1,
    });
    return pageOf(records, limit, shownItem, (last) =>
      cursorAfter("inventory", sort, { key: last[sort], id: last.id }),
    );
  },

  async get(cx, { petId }) {
    const pet = await knownPet(cx, petId);
    return { body: shownItem(pet), tag: stockTag(pet) };
  },

  async set(cx, { petId, body: { quantity } }) {
    const before = await knownPet(cx, petId);
    requireMatch(cx, stockTag(before));
    if (quantity === before.quantity) return { body: shownItem(before), tag: stockTag(before) };
    const stock = stockAfter(before, quantity, before.openOrders);
    const pet = await cx.store.changePet(before, { ...before, stock, reason: "restocked" }, cx.now);
    if (!pet) throw new Conflict();
    tellStock(cx, before, pet);
    return { body: shownItem(pet), tag: stockTag(pet) };
  },

  async movements(cx, { petId, limit, cursor }) {
    const list = `movements/${petId}`;
    const after = readCursor(cursor, list, "-id", "number");
    const records = await cx.store.movements({ petId, after, limit: limit + 1 });
    // A pet created sold has no movements yet; a removed pet has no row but keeps its movements.
    if (records.length === 0 && !after) await knownPet(cx, petId);
    return pageOf(records, limit, shownMovement, (last) =>
      cursorAfter(list, "-id", { key: last.id, id: last.id }),
    );
  },
};

function shownMovement({ orderId, at, ...rest }: MovementRecord): Movement {
  const movement = { ...rest, at: iso(at) };
  return orderId === null ? movement : { ...movement, orderId };
}
