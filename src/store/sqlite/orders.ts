import type { PetRecord, StockMove, Writes } from "../../core/ports.ts";
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
    async placeOrder(order, now) {
      const { quantity, complete } = order;
      const pet = await taken(db, {
        petId: order.petId,
        units: -quantity,
        openOrders: complete ? 0 : 1,
      });
      if (!pet) return null;
      const kept = { ...order, petId: pet.id, version: 1 };
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
      return { order: { id, ...kept }, pet };
    },
  };
}

async function taken(db: Connection, move: Omit<StockMove, "reason" | "orderId">): Promise<PetRecord | null> {
  const { petId: id, units, openOrders } = move;
  const args = { id, units, openOrders, more: units, opened: openOrders, takes: 1 };
  return db.change(takeSomeUnits, args).changes === 1 ? db.get(petById, { id }) : takeUnits(db, move);
}
