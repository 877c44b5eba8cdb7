import type { Awaitable, MovementRecord, Reads } from "../core/ports.ts";
import { type Conditions, listing, page } from "./page.ts";
import { type Db, fragment, RowsStatement } from "./statement.ts";

const columns = fragment`id, pet_id as "petId", change, balance, reason, order_id as "orderId", at`;

type NewMovement = Omit<MovementRecord, "id">;

const insertMovements = new RowsStatement<NewMovement>(
  ["petId", "change", "balance", "reason", "orderId", "at"],
  (values) => `insert into movements (pet_id, change, balance, reason, order_id, at) ${values}`,
);

export function addMovement(db: Db, movement: NewMovement): Awaitable<void> {
  return insertMovements.append(db, [movement]);
}

export function movementReads(db: Db): Pick<Reads, "movements"> {
  return {
    movements: ({ petId, ...query }) => {
      const ofPet = (where: Conditions) => void where.add("pet_id = ?", petId);
      const { text, values } = page({ ...query, columns, table: "movements", key: "id", branches: [ofPet] });
      return db.all(listing<MovementRecord>(text), values);
    },
  };
}
