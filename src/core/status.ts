import type { PetStatus } from "../contract/shapes.ts";

/** What the rules of a pet's status look at; the three live on one row. */
export interface Stock {
  readonly status: PetStatus;
  readonly quantity: number;
  readonly openOrders: number;
}

/** The stock of a new pet: one status, and units unless it is created sold. */
export function newStock(status: PetStatus, units: number): Stock {
  return { status, quantity: status === "sold" ? 0 : units, openOrders: 0 };
}

/** Stock and open orders moved: the status follows by itself. A hold lasts until stock crosses zero. */
export function stockAfter(before: Stock, quantity: number, openOrders: number): Stock {
  return { status: statusAfter(before, quantity, openOrders), quantity, openOrders };
}

function statusAfter(before: Stock, quantity: number, openOrders: number): PetStatus {
  if (quantity === 0) return openOrders > 0 ? "pending" : "sold";
  return before.quantity === 0 ? "available" : before.status;
}

/** The status before units and open orders were added; units are only ever taken from an available pet. */
export function statusBefore(after: Stock, unitsAdded: number, openOrdersAdded: number): PetStatus {
  const quantity = after.quantity - unitsAdded;
  if (quantity === 0) return after.openOrders - openOrdersAdded > 0 ? "pending" : "sold";
  return after.quantity > 0 ? after.status : "available";
}

export type StatusRefusal = "invalid_status_transition" | "pet_has_open_orders";

/** Staff set the status: the stock that follows, or the code of the rule against it. */
export function setStatus(before: Stock, status: PetStatus): Stock | StatusRefusal {
  if (status === before.status) return before;
  if (status === "sold") {
    return before.openOrders > 0 ? "pet_has_open_orders" : { status, quantity: 0, openOrders: 0 };
  }
  if (before.status === "sold") return { status, quantity: 1, openOrders: 0 };
  if (status === "available" && before.quantity === 0) return "invalid_status_transition";
  return { ...before, status };
}

/** Whether a pet may be in this state at all; the database checks the same. */
export function isPossible({ status, quantity, openOrders }: Stock): boolean {
  if (quantity < 0 || openOrders < 0) return false;
  if (status === "sold") return quantity === 0 && openOrders === 0;
  return status === "available" ? quantity > 0 : quantity > 0 || openOrders > 0;
}
