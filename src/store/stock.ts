import { foldName } from "../core/names.ts";
import type { Awaitable, PetRecord, StockMove, Writes } from "../core/ports.ts";
import { addMovement, keepLedger, type NewMovement } from "./movements.ts";
import { type Db, type Fragment, fragment, type Statement, sql } from "./statement.ts";

export const petColumns = fragment`id, name, category_id as "categoryId", status, quantity, open_orders as "openOrders",
  version, stock_version as "stockVersion"`;

/** A pet whose stock was moved: the movement that tells of it, and what was its last movement before. */
export interface MovedPet {
  readonly pet: PetRecord;
  readonly movementId: number | null;
  readonly previousId: number | null;
}

export type MovedRow = PetRecord & Omit<MovedPet, "pet">;

const movedColumns = fragment`${petColumns}, last_movement_id as "movementId", previous_movement_id as "previousId"`;
export const movedPetById = sql<MovedRow>`select ${movedColumns} from pets where id = :id`.as(movedOf);

/** Goes with every change of a quantity. */
const noting = (number: Fragment) =>
  fragment`, previous_movement_id = last_movement_id, last_movement_id = ${number}`;
/** The quantity stays as it is. */
const unnoted = fragment``;

// The rule of core/status.ts `stockAfter`, for a change that may not read first; a test compares the two.
const statusAfter = fragment`case
    when quantity + :units > 0 then case when quantity = 0 then 'available' else status end
    when open_orders + :openOrders > 0 then 'pending'
    else 'sold' end`;

const movedUnits = (note: Fragment) => fragment`
  update pets set quantity = quantity + :units, open_orders = open_orders + :openOrders,
    status = ${statusAfter},
    version = version + case when status = ${statusAfter} then 0 else 1 end,
    stock_version = stock_version + 1${note}
  where id = :id and quantity + :units >= 0 and open_orders + :openOrders >= 0
    and (status = 'available' or :takes = 0)`;
/** The same if a condition holds besides. */
export const movedUnitsIf = (condition: Fragment, number: Fragment) =>
  fragment`${movedUnits(noting(number))} and ${condition} returning ${movedColumns}`;

// The same while there is stock before and after, when the status stays: indexes with a status in them are then left alone.
const movedSomeUnits = (note: Fragment) => fragment`
  update pets set quantity = quantity + :units, open_orders = open_orders + :openOrders, stock_version = stock_version + 1${note}
  where id = :id and quantity > 0 and quantity + :more > 0 and open_orders + :opened >= 0
    and (status = 'available' or :takes = 0)`;
export const takenSomeUnits = (number: Fragment) => movedSomeUnits(noting(number));

const updatedPet = (note: Fragment) => fragment`
  update pets set name = :name, name_key = :nameKey, category_id = :categoryId, status = :status,
    quantity = :quantity, version = :newVersion, stock_version = :newStockVersion${note}
  where id = :id and version = :version and stock_version = :stockVersion and open_orders = :openOrders`;

const returned = (moved: Fragment) => sql<MovedRow>`${moved} returning ${movedColumns}`.as(movedOf);
const restatePet = returned(updatedPet(unnoted));
const countOrders = [movedSomeUnits(unnoted), movedUnits(unnoted)].map(returned);

/** How an engine numbers movements: a number is taken by the statement that changes the pet's row, so that of one pet the later has the higher. */
export interface MovementNumbers {
  readonly insertPet: Statement<MovedPet>;
  readonly restockPet: Statement<MovedPet>;
  readonly deletePet: Statement<MovedPet>;
  /** The first is tried before the second. */
  readonly moveUnits: readonly Statement<MovedPet>[];
  /** The value of `:movementId`, if that is what stands for the number. */
  readonly next: () => number | null;
}

/** By what stands for the number of a movement in statements. */
export function movementStatements(number: Fragment): Omit<MovementNumbers, "next"> {
  const noted = noting(number);
  return {
    insertPet: sql<MovedRow>`
      insert into pets (name, name_key, category_id, status, quantity, open_orders, created_at, last_movement_id)
      select :name, :nameKey, id, :status, :quantity, :openOrders, :now,
        case when cast(:quantity as bigint) > 0 then ${number} end
      from categories where id = :categoryId returning ${movedColumns}`.as(movedOf),
    restockPet: returned(updatedPet(noted)),
    deletePet: sql<MovedRow>`
      delete from pets where id = :id and version = :version and stock_version = :stockVersion and open_orders = 0
      returning ${petColumns}, case when quantity > 0 then ${number} end as "movementId", last_movement_id as "previousId"`.as(
      movedOf,
    ),
    moveUnits: [movedSomeUnits(noted), movedUnits(noted)].map(returned),
  };
}

type StockWrites = Pick<Writes, "addPet" | "changePet" | "removePet" | "moveStock">;

export function stockWrites(db: Db, numbers: MovementNumbers): StockWrites {
  return {
    async addPet(pet, now) {
      const args = { ...pet, nameKey: foldName(pet.name), now, movementId: numbers.next() };
      const added = await db.get(numbers.insertPet, args);
      if (added) await noteMovement(db, added, { change: pet.quantity, reason: "created", at: now });
      return added?.pet ?? null;
    },

    async changePet(before, { name, categoryId, stock, reason }, now) {
      const change = stock.quantity - before.quantity;
      const restated =
        name !== before.name || categoryId !== before.categoryId || stock.status !== before.status;
      const restocked = change !== 0 || stock.status !== before.status;
      const after = await db.get(change === 0 ? restatePet : numbers.restockPet, {
        ...before,
        ...stock,
        name,
        nameKey: foldName(name),
        categoryId,
        newVersion: before.version + (restated ? 1 : 0),
        newStockVersion: before.stockVersion + (restocked ? 1 : 0),
        movementId: numbers.next(),
      });
      if (after) await noteMovement(db, after, { change, reason, at: now });
      return after?.pet ?? null;
    },

    async removePet(before, now) {
      const removed = await db.get(numbers.deletePet, { ...before, movementId: numbers.next() });
      if (!removed) return null;
      const { pet, movementId, previousId } = removed;
      const left = { ...removed, pet: { ...pet, quantity: 0 } };
      await noteMovement(db, left, { change: -pet.quantity, reason: "removed", at: now });
      await keepLedger(db, pet.id, movementId ?? previousId);
      return pet;
    },

    async moveStock(move, now) {
      const after = await takeUnits(db, numbers, move, numbers.next());
      const { units: change, reason, orderId } = move;
      if (after) await noteMovement(db, after, { change, reason, orderId, at: now });
      return after?.pet ?? null;
    },
  };
}

/** The conditional statement alone, for the order that brings its own movement. */
export async function takeUnits(
  db: Db,
  { moveUnits }: Pick<MovementNumbers, "moveUnits">,
  { petId, units, openOrders }: Omit<StockMove, "reason" | "orderId">,
  movementId: number | null,
): Promise<MovedPet | null> {
  const args = { id: petId, units, openOrders, more: units, opened: openOrders };
  for (const statement of units === 0 ? countOrders : moveUnits) {
    const moved = await db.get(statement, { ...args, takes: units < 0 ? 1 : 0, movementId });
    if (moved) return moved;
  }
  return null;
}

/** Keeps the movement that the pet's row names by now, if anything was moved. */
export function noteMovement(
  db: Db,
  { pet, movementId, previousId }: MovedPet,
  {
    change,
    reason,
    orderId = null,
    at,
  }: Pick<NewMovement, "change" | "reason" | "at"> & Partial<NewMovement>,
): Awaitable<void> {
  if (change === 0) return;
  const id = movementId as number;
  return addMovement(db, {
    id,
    petId: pet.id,
    change,
    balance: pet.quantity,
    reason,
    orderId,
    at,
    previousId,
  });
}

/** By name, because an order's way is hot. */
export function movedOf(row: MovedRow): MovedPet {
  const { id, name, categoryId, status, quantity, openOrders, version, stockVersion } = row;
  const pet = { id, name, categoryId, status, quantity, openOrders, version, stockVersion };
  return { pet, movementId: row.movementId, previousId: row.previousId };
}
