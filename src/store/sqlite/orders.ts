import { after } from "../../core/after.ts";
import type {
  Awaitable,
  NewOrderRecord,
  PetRecord,
  PlacedOrder,
  StockMove,
  Writes,
} from "../../core/ports.ts";
import { addMovement } from "../movements.ts";
import { petById, takenSomeUnits, takeUnits } from "../pets.ts";
import { sql } from "../statement.ts";
import type { Connection } from "./connection.ts";

// Without `returning`: to ask for the pet afterwards costs SQLite less.
const takeSomeUnits = sql`${takenSomeUnits}`;
const insertOrder = sql`
  insert into orders (client_id, pet_id, quantity, ship_date, complete, version, created_at)
  values (:clientId, :petId, :quantity, :shipDate, :complete, :version, :now)`;

/** What is asked most of all writes, in words that are the least work for SQLite. */
export function orderPlacing(db: Connection): Pick<Writes, "placeOrder"> {
  return {
    placeOrder(order, now) {
      const openOrders = order.complete ? 0 : 1;
      const pet = taken(db, { petId: order.petId, units: -order.quantity, openOrders });
      return after(pet, (there) => there && placed(db, order, there, now));
    },
  };
}

function taken(db: Connection, move: Omit<StockMove, "reason" | "orderId">): Awaitable<PetRecord | null> {
  const { petId: id, units, openOrders } = move;
  const args = { id, units, openOrders, more: units, opened: openOrders, takes: 1 };
  return db.change(takeSomeUnits, args).changes === 1 ? db.get(petById, { id }) : takeUnits(db, move);
}

function placed(db: Connection, order: NewOrderRecord, pet: PetRecord, now: number): PlacedOrder {
  const { clientId, quantity, shipDate, complete } = order;
  const kept = { clientId, petId: pet.id, quantity, shipDate, version: 1 };
  const { lastInsertRowid } = db.change(insertOrder, { ...kept, complete: complete ? 1 : 0, now });
  const id = Number(lastInsertRowid);
  addMovement(db, {
    petId: pet.id,
    change: -quantity,
    balance: pet.quantity,
    reason: "ordered",
    orderId: id,
    at: now,
  });
  return { order: { id, ...kept, complete }, pet };
}
