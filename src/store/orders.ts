import type { OrderQuery, OrderRecord, Reads, Writes } from "../core/ports.ts";
import { clientById } from "./clients.ts";
import { type Conditions, listing, namesOf, page } from "./page.ts";
import { type Db, fragment, sql } from "./statement.ts";

/** `complete` is 0 or 1 in the database, so that both engines keep and index it alike. */
export type OrderRow = Omit<OrderRecord, "complete"> & { readonly complete: number };

export const orderColumns = fragment`id, client_id as "clientId", pet_id as "petId", quantity, ship_date as "shipDate", complete, version`;
const names = namesOf(orderColumns);

const orderById = sql<OrderRow>`select ${orderColumns} from orders where id = :id`.as(orderOf);

const insertOrder = sql<OrderRow>`
  insert into orders (client_id, pet_id, quantity, ship_date, complete, created_at)
  values (:clientId, :petId, :quantity, :shipDate, :complete, :now) returning ${orderColumns}`.as(orderOf);

const updateOrder = sql<OrderRow>`
  update orders set pet_id = :petId, quantity = :quantity, ship_date = :shipDate, complete = :complete, version = version + 1
  where id = :id and version = :version returning ${orderColumns}`.as(orderOf);

const deleteOrder = sql<OrderRow>`
  delete from orders where id = :id and version = :version and complete = 0 returning ${orderColumns}`.as(
  orderOf,
);

export function orderReads(db: Db): Pick<Reads, "order" | "orders"> {
  return {
    order: (id) => db.get(orderById, { id }),
    orders: async (query) => {
      const { text, values } = orderPage(query);
      return (await db.all(listing<OrderRow>(text), values)).map(orderOf);
    },
  };
}

export function orderWrites(db: Db): Pick<Writes, "addDraft" | "changeOrder" | "removeOrder"> {
  return {
    addDraft: async (draft, now) =>
      (await db.get(clientById, { id: draft.clientId })) &&
      db.get(insertOrder, { ...draft, petId: null, complete: 0, now }),
    changeOrder: ({ id, version }, change) =>
      db.get(updateOrder, { ...change, complete: change.complete ? 1 : 0, id, version }),
    removeOrder: ({ id, version }) => db.get(deleteOrder, { id, version }),
  };
}

function orderPage(query: OrderQuery) {
  const { clientId, petId, complete, shippedFrom, shippedBefore } = query;
  const byShipDate = query.sort === "shipDate";
  const narrow = (where: Conditions) => {
    if (clientId !== undefined) where.add("client_id = ?", clientId);
    if (petId !== undefined) where.add("pet_id = ?", petId);
    if (byShipDate) where.add("ship_date is not null");
    if (shippedFrom !== undefined) where.add("ship_date >= ?", shippedFrom);
    if (shippedBefore !== undefined) where.add("ship_date < ?", shippedBefore);
  };
  const each = (value: number) => (where: Conditions) => narrow(where.add("complete = ?", value));
  const isWholeTable = !byShipDate && complete === undefined && clientId === undefined && petId === undefined;
  const branches = isWholeTable ? [narrow] : (complete === undefined ? [0, 1] : [complete ? 1 : 0]).map(each);
  return page({
    ...query,
    columns: orderColumns,
    names,
    table: "orders",
    key: byShipDate ? "ship_date" : "id",
    branches,
  });
}

export function orderOf({
  complete,
  id,
  clientId,
  petId,
  quantity,
  shipDate,
  version,
}: OrderRow): OrderRecord {
  return { id, clientId, petId, quantity, shipDate, complete: complete === 1, version };
}
