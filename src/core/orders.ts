import type { PetstoreApi } from "../contract/api.ts";
import type { Input } from "../contract/route.ts";
import type { Int64, Order, OrderUpdate } from "../contract/shapes.ts";
import {
  type Operations,
  type ReadContext,
  requireMatch,
  requireSameId,
  type WriteContext,
} from "./context.ts";
import { Conflict, Failure, fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { refuseRemoved } from "./key-refusal.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { Command } from "./perform.ts";
import type { OrderChange, OrderRecord, PetRecord, StockMove } from "./ports.ts";
import { clientSeen } from "./sees.ts";
import { statusBefore } from "./status.ts";
import { tellStock } from "./stock.ts";
import { orderTag } from "./tags.ts";

export const orders: Operations<PetstoreApi["orders"]> = {
  async list(cx, { petId, complete, shippedAfter, shippedBefore, sort, limit, cursor }) {
    const byShipDate = shippedAfter !== undefined || shippedBefore !== undefined;
    const order = sort ?? (byShipDate ? "shipDate" : "id");
    if (order.endsWith("shipDate") !== byShipDate) refuseSort(order, byShipDate);
    const records = await cx.store.orders({
      sort: byShipDate ? "shipDate" : "id",
      descending: order.startsWith("-"),
      clientId: clientSeen(cx),
      petId,
      complete,
      shippedFrom: milliseconds(shippedAfter),
      shippedBefore: milliseconds(shippedBefore),
      after: readCursor(cursor, "orders", order, "number"),
      limit: limit + 1,
    });
    return pageOf(records, limit, shownOrder, (last) =>
      cursorAfter("orders", order, { key: byShipDate ? (last.shipDate as number) : last.id, id: last.id }),
    );
  },

  async place(cx, { body: { petId, quantity, shipDate, complete = false } }) {
    const { clientId } = cx.caller;
    if (petId === undefined) {
      if (complete) refuseDraft();
      const draft = { clientId, quantity: quantity ?? null, shipDate: milliseconds(shipDate) ?? null };
      return answer((await cx.store.addDraft(draft, cx.now)) ?? refuseRemoved());
    }
    const units = quantity ?? 1;
    const shippedAt = milliseconds(shipDate) ?? (complete ? cx.now : null);
    const order = { clientId, petId, quantity: units, shipDate: shippedAt, complete };
    const placed = await cx.store.placeOrder(order, cx.now);
    if (!placed) {
      const [client, pet] = await Promise.all([cx.store.client(clientId), cx.store.pet(petId)]);
      if (!client) refuseRemoved();
      refuseUnits(pet, petId, units);
    }
    tell(cx, "order.placed", placed.order);
    if (complete) tell(cx, "order.completed", placed.order);
    tellMove(cx, placed.pet, -units, complete ? 0 : 1);
    return answer(placed.order);
  },

  async get(cx, { orderId }) {
    return answer(await ownOrder(cx, orderId));
  },

  async update(cx, { orderId, body }) {
    const before = await ownOrder(cx, orderId);
    requireMatch(cx, orderTag(before));
    requireSameId(body.id, orderId);
    const after = changed(before, body, cx.now);
    if (isSame(before, after)) return answer(before);
    if (before.complete) refuseComplete(before.id);
    if (after.complete && after.petId === null) refuseDraft();

    const order = await cx.store.changeOrder(before, after);
    if (!order) throw new Conflict();
    tellChange(cx, before, order);
    for (const move of moves(before, after)) await moveStock(cx, move, after.quantity ?? 1);
    return answer(order);
  },

  async cancel(cx, { orderId }) {
    const before = await ownOrder(cx, orderId);
    requireMatch(cx, orderTag(before));
    if (before.complete) refuseComplete(before.id);
    if (!(await cx.store.removeOrder(before))) throw new Conflict();
    tell(cx, "order.cancelled", before);
    if (before.petId !== null) {
      await moveStock(cx, {
        petId: before.petId,
        units: before.quantity ?? 1,
        openOrders: -1,
        reason: "cancelled",
        orderId: before.id,
      });
    }
    return { body: undefined };
  },
};

/** The pet that a new order takes units of: the one row that it changes and others may want. */
export function petOrdered({ operation, input }: Pick<Command, "operation" | "input">): Int64 | undefined {
  if (operation !== "orders.place") return undefined;
  return (input as Input<PetstoreApi["orders"]["place"]>).body?.petId;
}

/** The order if the caller may see it: another client's order is as unknown as one that never was. */
async function ownOrder(cx: ReadContext, orderId: Int64): Promise<OrderRecord> {
  const order = await cx.store.order(orderId);
  const clientId = clientSeen(cx);
  if (order && (clientId === undefined || order.clientId === clientId)) return order;
  fail("order_not_found", `There is no order ${orderId}. Find ids with GET /store/orders.`);
}

function answer(order: OrderRecord) {
  return { body: shownOrder(order), tag: orderTag(order) };
}

function shownOrder({ id, petId, quantity, shipDate, complete }: OrderRecord): Order {
  return {
    id,
    petId: petId ?? undefined,
    quantity: quantity ?? undefined,
    shipDate: shipDate === null ? undefined : iso(shipDate),
    complete,
  };
}

/** The order with a merge patch applied; completion without a new ship date ships now. */
function changed(before: OrderRecord, patch: OrderUpdate, now: number): OrderChange {
  const petId = patch.petId === undefined ? before.petId : patch.petId;
  const quantity = patch.quantity === undefined ? before.quantity : patch.quantity;
  const complete = patch.complete ?? before.complete;
  const completes = complete && !before.complete;
  const shipDate =
    patch.shipDate === undefined && !completes ? before.shipDate : (milliseconds(patch.shipDate) ?? null);
  return {
    petId,
    quantity: petId === null ? quantity : (quantity ?? 1),
    shipDate: completes ? (shipDate ?? now) : shipDate,
    complete,
  };
}

function isSame(before: OrderRecord, after: OrderChange): boolean {
  return (
    before.petId === after.petId &&
    before.quantity === after.quantity &&
    before.shipDate === after.shipDate &&
    before.complete === after.complete
  );
}

/** What an order's change moves: one pet's difference, or two pets' whole units, in the order of their ids. */
function moves(before: OrderRecord, after: OrderChange): StockMove[] {
  const given = before.petId === null ? 0 : (before.quantity ?? 1);
  const taken = after.petId === null ? 0 : (after.quantity ?? 1);
  const opens = after.complete ? 0 : 1;
  const orderId = before.id;
  if (before.petId !== null && before.petId === after.petId) {
    const move: StockMove = {
      petId: before.petId,
      units: given - taken,
      openOrders: opens - 1,
      reason: "changed",
      orderId,
    };
    return move.units !== 0 || move.openOrders !== 0 ? [move] : [];
  }
  const both: StockMove[] = [];
  if (before.petId !== null)
    both.push({ petId: before.petId, units: given, openOrders: -1, reason: "changed", orderId });
  if (after.petId !== null) {
    const reason = before.petId === null ? "ordered" : "changed";
    both.push({ petId: after.petId, units: -taken, openOrders: opens, reason, orderId });
  }
  return both.sort((a, b) => (a.petId < b.petId ? -1 : 1));
}

async function moveStock(cx: WriteContext, move: StockMove, asked = 0): Promise<void> {
  const pet = await cx.store.moveStock(move, cx.now);
  if (!pet) refuseUnits(await cx.store.pet(move.petId), move.petId, -move.units, asked);
  tellMove(cx, pet, move.units, move.openOrders);
}

/** Says why a pet's units cannot be had; of those that are asked for an order may have some already. */
function refuseUnits(pet: PetRecord | null, petId: Int64, units: number, asked = units): never {
  if (!pet) {
    const message = `There is no pet ${petId}. Find ids with GET /pets.`;
    fail("unknown_pet", message, [{ field: "petId", message }]);
  }
  if (pet.status !== "available") {
    fail("pet_not_available", `Pet ${petId} is ${pet.status}; only an available pet can be ordered.`);
  }
  if (pet.quantity < units) throw insufficientStock(petId, asked, units, pet.quantity);
  throw new Conflict();
}

/** Of the units that are asked for an order may have some already, and needs so many more. */
export function insufficientStock(petId: Int64, asked: number, needed: number, inStock: number): Failure {
  const more = needed === asked ? "" : `, ${needed} more than the order has`;
  return new Failure(
    "insufficient_stock",
    `Asked for ${asked} of pet ${petId}${more}, ${inStock} in stock. Staff restock with PUT /store/inventory/${petId}.`,
  );
}

function refuseSort(order: string, byShipDate: boolean): never {
  const message = byShipDate
    ? `must be shipDate or -shipDate together with a filter of ship dates, got ${order}`
    : `must be id or -id without a filter of ship dates, got ${order}`;
  fail("invalid_parameter", `The parameter sort ${message}.`, [{ field: "sort", message }]);
}

export function refuseDraft(): never {
  fail(
    "order_is_draft",
    "An order without a petId is a draft and cannot be completed. Give it a petId first, or in the same request.",
  );
}

export function refuseComplete(orderId: Int64): never {
  fail("order_complete", `Order ${orderId} is complete and can no longer be changed or cancelled.`);
}

function tell(
  cx: WriteContext,
  type: "order.placed" | "order.updated" | "order.completed" | "order.cancelled",
  order: OrderRecord,
): void {
  cx.emit(type, `store/orders/${order.id}`, shownOrder(order), order.clientId);
}

function tellChange(cx: WriteContext, before: OrderRecord, after: OrderRecord): void {
  const completes = after.complete && !before.complete;
  if (before.petId === null && after.petId !== null) tell(cx, "order.placed", after);
  else if (!completes || before.petId !== after.petId || before.quantity !== after.quantity)
    tell(cx, "order.updated", after);
  if (completes) tell(cx, "order.completed", after);
}

function tellMove(cx: WriteContext, pet: PetRecord, units: number, openOrders: number): void {
  tellStock(cx, { status: statusBefore(pet, units, openOrders), quantity: pet.quantity - units }, pet);
}

function milliseconds(dateTime: string | null | undefined): number | undefined {
  return dateTime === null || dateTime === undefined ? undefined : Date.parse(dateTime);
}
