import type { OrderRecord, PetRecord, Writes } from "../../core/ports.ts";
import { type OrderRow, orderColumns, orderOf } from "../orders.ts";
import { type Db, fragment, sql } from "../statement.ts";
import { type MovedRow, type MovementNumbers, movedOf, movedUnitsIf, movementStatements } from "../stock.ts";
import { keptClient } from "./clients.ts";

interface PlacedRow extends MovedRow, Pick<OrderRow, "clientId" | "shipDate" | "complete"> {
  readonly orderId: number;
  readonly ordered: number;
  readonly orderVersion: number;
}

/** Taken while the pet's row is locked, so that whoever comes after has a higher one. */
const newNumber = fragment`nextval('movements_id_seq')`;
export const movementNumbers: MovementNumbers = { ...movementStatements(newNumber), next: () => null };

/** Client, units, order and movement in one statement, and so in one round trip. */
const placeOrder = sql<PlacedRow>`
  with client as (${keptClient}),
    taken as (${movedUnitsIf(fragment`exists (select from client)`, newNumber)}),
    placed as (insert into orders (client_id, pet_id, quantity, ship_date, complete, created_at)
      select :clientId, id, :quantity, :shipDate, :complete, :now from taken
      returning id, client_id, quantity, ship_date, complete, version),
    moved as (insert into movements (id, pet_id, change, balance, reason, order_id, at, previous_id)
      select "movementId", taken.id, -placed.quantity, taken.quantity, 'ordered', placed.id, :at, "previousId"
      from taken, placed)
  select taken.*, placed.id as "orderId", placed.client_id as "clientId", placed.quantity as ordered,
    placed.ship_date as "shipDate", placed.complete, placed.version as "orderVersion"
  from taken, placed`;

const addDraft = sql<OrderRow>`
  with client as (${keptClient})
  insert into orders (client_id, quantity, ship_date, complete, created_at)
  select id, :quantity, :shipDate, 0, :now from client returning ${orderColumns}`.as(orderOf);

export function orderPlacing(db: Db): Pick<Writes, "placeOrder" | "addDraft"> {
  return {
    addDraft: (draft, now) => db.get(addDraft, { ...draft, now }),
    async placeOrder({ clientId, petId, quantity, shipDate, complete }, now) {
      const row = await db.get(placeOrder, {
        id: petId,
        units: -quantity,
        openOrders: complete ? 0 : 1,
        takes: 1,
        clientId,
        quantity,
        shipDate,
        complete: complete ? 1 : 0,
        now,
        at: now,
      });
      return row && placed(row);
    },
  };
}

function placed(row: PlacedRow): { order: OrderRecord; pet: PetRecord } {
  const { orderId, ordered, orderVersion, clientId, shipDate, complete } = row;
  const { pet } = movedOf(row);
  const order = { id: orderId, clientId, petId: pet.id, quantity: ordered, shipDate, complete };
  return { pet, order: orderOf({ ...order, version: orderVersion }) };
}
