import { after } from "../../core/after.ts";
import type { Awaitable, NewOrderRecord, PlacedOrder, StockMove, Writes } from "../../core/ports.ts";
import { type OrderRow, orderWrites } from "../orders.ts";
import { RowsStatement, sql } from "../statement.ts";
import { type MovedPet, movedPetById, noteMovement, takenSomeUnits, takeUnits } from "../stock.ts";
import type { ClientKeeping } from "./clients.ts";
import type { Connection } from "./connection.ts";
import { MOVEMENT, numbersOf, type OwnNumbers } from "./numbers.ts";

// Without `returning`: to ask for the pet afterwards costs SQLite less.
const takeSomeUnits = sql`${takenSomeUnits(MOVEMENT)}`;
const insertOrders = new RowsStatement<NewRow>(
  ["id", "clientId", "petId", "quantity", "shipDate", "complete", "version", "now"],
  (values) =>
    `insert into orders (id, client_id, pet_id, quantity, ship_date, complete, version, created_at) ${values}`,
);

type NewRow = OrderRow & { readonly now: number };

/** What is asked most of all writes, in words that are the least work for SQLite. */
export function orderPlacing(
  db: Connection,
  clients: ClientKeeping,
  movements: OwnNumbers,
): Pick<Writes, "placeOrder" | "addDraft"> {
  const { addDraft } = orderWrites(db);
  const orders = numbersOf(db, "orders");
  return {
    placeOrder(order, now) {
      if (!clients.isThere(order.clientId)) return null;
      const openOrders = order.complete ? 0 : 1;
      const moved = taken(db, movements, { petId: order.petId, units: -order.quantity, openOrders });
      return after(moved, (there) => there && placed(db, orders.next(), order, there, now));
    },
    addDraft(draft, now) {
      orders.forget();
      return addDraft(draft, now);
    },
  };
}

function taken(
  db: Connection,
  movements: OwnNumbers,
  move: Omit<StockMove, "reason" | "orderId">,
): Awaitable<MovedPet | null> {
  const { petId: id, units, openOrders } = move;
  const movementId = movements.next();
  const args = { id, units, openOrders, more: units, opened: openOrders, takes: 1, movementId };
  return db.change(takeSomeUnits, args).changes === 1
    ? db.get(movedPetById, { id })
    : takeUnits(db, movements, move, movementId);
}

function placed(
  db: Connection,
  id: number,
  order: NewOrderRecord,
  moved: MovedPet,
  now: number,
): PlacedOrder {
  const { pet } = moved;
  const { clientId, quantity, shipDate, complete } = order;
  const kept = { id, clientId, petId: pet.id, quantity, shipDate, version: 1 };
  db.appended.add(insertOrders, [{ ...kept, complete: complete ? 1 : 0, now }]);
  noteMovement(db, moved, { change: -quantity, reason: "ordered", orderId: id, at: now });
  return { order: { ...kept, complete }, pet };
}
