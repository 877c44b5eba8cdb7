import type { OrderRecord, PetRecord, Writes } from "../../core/ports.ts";
import { type OrderRow, orderOf } from "../orders.ts";
import { takenUnits } from "../pets.ts";
import { type Db, sql } from "../statement.ts";

interface PlacedRow extends PetRecord, Pick<OrderRow, "clientId" | "shipDate" | "complete"> {
  readonly orderId: number;
  readonly ordered: number;
  readonly orderVersion: number;
}

/** Units, order and movement in one statement: one round trip where the shared text has three. */
const placeOrder = sql<PlacedRow>`
  with taken as (${takenUnits}),
    placed as (insert into orders (client_id, pet_id, quantity, ship_date, complete, created_at)
      select :clientId, id, :quantity, :shipDate, :complete, :now from taken
      returning id, client_id, quantity, ship_date, complete, version),
    moved as (insert into movements (pet_id, change, balance, reason, order_id, at)
      select taken.id, -placed.quantity, taken.quantity, 'ordered', placed.id, :at from taken, placed)
  select taken.*, placed.id as "orderId", placed.client_id as "clientId", placed.quantity as ordered,
    placed.ship_date as "shipDate", placed.complete, placed.version as "orderVersion"
  from taken, placed`;

export function orderPlacing(db: Db): Pick<Writes, "placeOrder"> {
  return {
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
  const { orderId, ordered, orderVersion, clientId, shipDate, complete, ...pet } = row;
  const order = { id: orderId, clientId, petId: pet.id, quantity: ordered, shipDate, complete };
  return { pet, order: orderOf({ ...order, version: orderVersion }) };
}
