import type { Int64, MovementReason, PetStatus } from "../contract/shapes.ts";
import { afterPrefix, foldName } from "../core/names.ts";
import type {
  ListedPet,
  ListedStock,
  PetQuery,
  PetRecord,
  PetWithCategory,
  Reads,
  StockMove,
  Writes,
} from "../core/ports.ts";
import { addMovement } from "./movements.ts";
import { type Conditions, listing, namesOf, page } from "./page.ts";
import { type Db, type Fragment, fragment, sql } from "./statement.ts";

export const petColumns = fragment`id, name, category_id as "categoryId", status, quantity, open_orders as "openOrders",
  version, stock_version as "stockVersion"`;
const listColumns = fragment`id, name, category_id as "categoryId", status`;
const stockColumns = fragment`id, quantity, status`;
const [listNames, stockNames] = [listColumns, stockColumns].map(namesOf) as [string, string];

export const petById = sql<PetRecord>`select ${petColumns} from pets where id = :id`;

const petWithCategoryById = sql<PetWithCategory>`
  select p.id, p.name, p.category_id as "categoryId", p.status, p.quantity, p.open_orders as "openOrders",
    p.version, p.stock_version as "stockVersion",
    c.name as "categoryName", c.description as "categoryDescription", c.version as "categoryVersion"
  from pets p join categories c on c.id = p.category_id where p.id = :id`;

const insertPet = sql<PetRecord>`
  insert into pets (name, name_key, category_id, status, quantity, open_orders, created_at)
  select :name, :nameKey, id, :status, :quantity, :openOrders, :now from categories where id = :categoryId
  returning ${petColumns}`;

const updatePet = sql<PetRecord>`
  update pets set name = :name, name_key = :nameKey, category_id = :categoryId, status = :status,
    quantity = :quantity, version = :newVersion, stock_version = :newStockVersion
  where id = :id and version = :version and stock_version = :stockVersion and open_orders = :openOrders
  returning ${petColumns}`;

const deletePet = sql<PetRecord>`
  delete from pets where id = :id and version = :version and stock_version = :stockVersion and open_orders = 0
  returning ${petColumns}`;

// The rule of core/status.ts `stockAfter`, for a change that may not read first; a test compares the two.
const statusAfter = fragment`case
    when quantity + :units > 0 then case when quantity = 0 then 'available' else status end
    when open_orders + :openOrders > 0 then 'pending'
    else 'sold' end`;

const movedUnits = fragment`
  update pets set quantity = quantity + :units, open_orders = open_orders + :openOrders,
    status = ${statusAfter},
    version = version + case when status = ${statusAfter} then 0 else 1 end,
    stock_version = stock_version + 1
  where id = :id and quantity + :units >= 0 and open_orders + :openOrders >= 0
    and (status = 'available' or :takes = 0)`;
const moveUnits = sql<PetRecord>`${movedUnits} returning ${petColumns}`;
/** The same if a condition holds besides. */
export const movedUnitsIf = (condition: Fragment) =>
  fragment`${movedUnits} and ${condition} returning ${petColumns}`;

// The same while there is stock before and after, when the status stays: indexes with a status in them are then left alone.
export const takenSomeUnits = fragment`
  update pets set quantity = quantity + :units, open_orders = open_orders + :openOrders, stock_version = stock_version + 1
  where id = :id and quantity > 0 and quantity + :more > 0 and open_orders + :opened >= 0
    and (status = 'available' or :takes = 0)`;
const moveSomeUnits = sql<PetRecord>`${takenSomeUnits} returning ${petColumns}`;

const anyPet = sql<{ id: number }>`select id from pets limit 1`;
const anyCategory = sql<{ id: number }>`select id from categories limit 1`;

const everyStatus: readonly PetStatus[] = ["available", "pending", "sold"];
const sortColumns = { id: "id", name: "name_key", quantity: "low_stock" } as const;

type PetReads = Pick<Reads, "pet" | "petWithCategory" | "pets" | "stock" | "isEmpty">;

export function petReads(db: Db): PetReads {
  return {
    pet: (id) => db.get(petById, { id }),
    petWithCategory: (id) => db.get(petWithCategoryById, { id }),
    pets: (query) => {
      const { text, values } = petPage(query, listColumns, listNames);
      return db.all(listing<ListedPet>(text), values);
    },
    stock: (query) => {
      const { text, values } = petPage(query, stockColumns, stockNames);
      return db.all(listing<ListedStock>(text), values);
    },
    isEmpty: async () => (await db.get(anyPet, {})) === null && (await db.get(anyCategory, {})) === null,
  };
}

type PetWrites = Pick<Writes, "addPet" | "changePet" | "removePet" | "moveStock">;

export function petWrites(db: Db): PetWrites {
  return {
    async addPet(pet, now) {
      const added = await db.get(insertPet, { ...pet, nameKey: foldName(pet.name), now });
      if (added) await moved(db, added, added.quantity, "created", null, now);
      return added;
    },

    async changePet(before, { name, categoryId, stock, reason }, now) {
      const restated =
        name !== before.name || categoryId !== before.categoryId || stock.status !== before.status;
      const restocked = stock.quantity !== before.quantity || stock.status !== before.status;
      const after = await db.get(updatePet, {
        ...before,
        ...stock,
        name,
        nameKey: foldName(name),
        categoryId,
        newVersion: before.version + (restated ? 1 : 0),
        newStockVersion: before.stockVersion + (restocked ? 1 : 0),
      });
      if (after) await moved(db, after, after.quantity - before.quantity, reason, null, now);
      return after;
    },

    async removePet(before, now) {
      const removed = await db.get(deletePet, { ...before });
      if (removed) await moved(db, { id: removed.id, quantity: 0 }, -removed.quantity, "removed", null, now);
      return removed;
    },

    moveStock: (move, now) => moveStock(db, move, now),
  };
}

async function moveStock(db: Db, move: StockMove, now: number): Promise<PetRecord | null> {
  const after = await takeUnits(db, move);
  if (after) await moved(db, after, move.units, move.reason, move.orderId, now);
  return after;
}

/** The conditional statement alone, for the order that brings its own movement. */
export async function takeUnits(
  db: Db,
  { petId, units, openOrders }: Omit<StockMove, "reason" | "orderId">,
): Promise<PetRecord | null> {
  const args = { id: petId, units, openOrders, takes: units < 0 ? 1 : 0 };
  const some = { ...args, more: units, opened: openOrders };
  return (await db.get(moveSomeUnits, some)) ?? (await db.get(moveUnits, args));
}

async function moved(
  db: Db,
  pet: Pick<PetRecord, "id" | "quantity">,
  change: number,
  reason: MovementReason,
  orderId: number | null,
  now: number,
): Promise<void> {
  if (change !== 0)
    await addMovement(db, { petId: pet.id, change, balance: pet.quantity, reason, orderId, at: now });
}

function petPage(query: PetQuery, columns: Fragment, names: string) {
  const { categoryId, namePrefix, maxQuantity } = query;
  const ids = query.ids && padded(query.ids);
  const statuses = query.statuses && [...new Set(query.statuses)];
  const key = sortColumns[query.sort];
  const narrow = (where: Conditions) => {
    if (categoryId !== undefined) where.add("category_id = ?", categoryId);
    if (namePrefix !== undefined) startsWith(where, namePrefix);
    if (maxQuantity !== undefined) where.add("low_stock <= ?", maxQuantity);
  };
  const each = (status: PetStatus) => (where: Conditions) => narrow(where.add("status = ?", status));
  const named = (where: Conditions) => {
    where.add(`id in (${ids?.map(() => "?").join(", ")})`, ...(ids ?? []));
    if (statuses) where.add(`status in (${statuses.map(() => "?").join(", ")})`, ...statuses);
    narrow(where);
  };
  const isWholeTable = query.sort === "id" && !statuses && categoryId === undefined;
  const branches = ids ? [named] : isWholeTable ? [narrow] : (statuses ?? everyStatus).map(each);
  return page({ ...query, columns, names, table: "pets", key, branches });
}

/** A filter of few different lengths, so that it has few different texts. */
function padded(ids: readonly Int64[]): readonly Int64[] {
  const length = [1, 10, 100].find((each) => each >= ids.length) ?? ids.length;
  return ids.concat(new Array(length - ids.length).fill(ids[0]));
}

export function startsWith(where: Conditions, prefix: string): void {
  where.add("name_key >= ?", prefix);
  const end = afterPrefix(prefix);
  if (end !== null) where.add("name_key < ?", end);
}
