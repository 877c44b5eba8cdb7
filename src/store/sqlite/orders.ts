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
import { type OrderRow, orderWrites } from "../orders.ts";
import { petById, takenSomeUnits, takeUnits } from "../pets.ts";
import { RowsStatement, sql } from "../statement.ts";
import type { ClientKeeping } from "./clients.ts";
import type { Connection } from "./connection.ts";
import { knownInTransaction } from "./known.ts";

// Without `returning`: to ask for the pet afterwards costs SQLite less.
const takeSomeUnits = sql`${takenSomeUnits}`;
const insertOrders = new RowsStatement<NewRow>(
  ["id", "clientId", "petId", "quantity", "shipDate", "complete", "version", "now"],
  (values) =>
    `insert into orders (id, client_id, pet_id, quantity, ship_date, complete, version, created_at) ${values}`,
);
const lastOrder = sql<{ id: number }>`select seq as id from sqlite_sequence where name = 'orders'`;

type NewRow = OrderRow & { readonly now: number };

/** What is asked most of all writes, in words that are the least work for SQLite. */
export function orderPlacing(
  db: Connection,
  clients: ClientKeeping,
): Pick<Writes, "placeOrder" | "addDraft"> {
  const { addDraft } = orderWrites(db);
  // Numbered by us, so that an order can wait with those of others to be added.
  const last = knownInTransaction(db, () => ({ id: db.get(lastOrder, {})?.id ?? 0 }));
  return {
    placeOrder(order, now) {
      if (!clients.isThere(order.clientId)) return null;
      const openOrders = order.complete ? 0 : 1;
      const pet = taken(db, { petId: order.petId, units: -order.quantity, openOrders });
      return after(pet, (there) => there && placed(db, ++last.get().id, order, there, now));
    },
    addDraft(draft, now) {
      last.forget();
      db.appended.settle();
      return addDraft(draft, now);
    },
  };
}

function taken(db: Connection, move: Omit<StockMove, "reason" | "orderId">): Awaitable<PetRecord | null> {
  const { petId: id, units, openOrders } = move;
  const args = { id, units, openOrders, more: units, opened: openOrders, takes: 1 };
  return db.change(takeSomeUnits, args).changes === 1 ? db.get(petById, { id }) : takeUnits(db, move);
}

function placed(db: Connection, id: number, order: NewOrderRecord, pet: PetRecord, now: number): PlacedOrder {
  const { clientId, quantity, shipDate, complete } = order;
  const kept = { id, clientId, petId: pet.id, quantity, shipDate, version: 1 };
  db.appended.add(insertOrders, [{ ...kept, complete: complete ? 1 : 0, now }]);
  addMovement(db, {
    petId: pet.id,
    change: -quantity,
    balance: pet.quantity,
    reason: "ordered",
    orderId: id,
    at: now,
  });
  return { order: { ...kept, complete }, pet };
}
