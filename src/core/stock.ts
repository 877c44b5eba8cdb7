import type { WriteContext } from "./context.ts";
import type { PetRecord } from "./ports.ts";
import { shownItem, shownPet } from "./shown.ts";
import type { Stock } from "./status.ts";

/** Tells what became of a pet's stock and status: the change, that none is left, the new status. */
export function tellStock(
  cx: WriteContext,
  before: Pick<Stock, "status" | "quantity">,
  after: PetRecord,
): void {
  const change = after.quantity - before.quantity;
  if (change !== 0) {
    cx.emit("inventory.changed", `store/inventory/${after.id}`, { ...shownItem(after), change });
    if (after.quantity === 0) cx.emit("inventory.depleted", `store/inventory/${after.id}`, shownItem(after));
  }
  if (after.status !== before.status) {
    cx.emit("pet.status_changed", `pets/${after.id}`, { ...shownPet(after), previousStatus: before.status });
  }
}
