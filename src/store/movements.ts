import type { Awaitable, MovementRecord, Reads } from "../core/ports.ts";
import { type Db, type Fragment, fragment, RowsStatement, sql } from "./statement.ts";

const columns = fragment`id, pet_id as "petId", change, balance, reason, order_id as "orderId", at`;

/** A movement, and the one before it of the same pet. */
export interface NewMovement extends MovementRecord {
  readonly previousId: number | null;
}

const insertMovements = new RowsStatement<NewMovement>(
  ["id", "petId", "change", "balance", "reason", "orderId", "at", "previousId"],
  (values) =>
    `insert into movements (id, pet_id, change, balance, reason, order_id, at, previous_id) ${values}`,
);

const closeLedger = sql`
  insert into closed_ledgers (pet_id, last_movement_id) values (:petId, :lastMovementId)`;

/** A page of a pet's ledger, newest first, from a movement on. */
const ledgerFrom = (first: Fragment) => sql<MovementRecord>`
  with recursive ledger as (
    select m.*, 1 as place from movements m where m.id = ${first}
    union all
    select m.*, place + 1 from ledger join movements m on m.id = ledger.previous_id
    where place < cast(:limit as bigint)
  )
  select ${columns} from ledger order by place`;

const ledger = ledgerFrom(fragment`coalesce(
  (select last_movement_id from pets where id = :petId),
  (select last_movement_id from closed_ledgers where pet_id = :petId))`);
const ledgerAfter = ledgerFrom(
  fragment`(select previous_id from movements where id = :after and pet_id = :petId)`,
);

export function addMovement(db: Db, movement: NewMovement): Awaitable<void> {
  return insertMovements.append(db, [movement]);
}

/** The pet is gone, and its movements can still be found, if it had any. */
export function keepLedger(
  db: Db,
  petId: MovementRecord["petId"],
  lastMovementId: number | null,
): Awaitable<void> {
  if (lastMovementId !== null) return db.run(closeLedger, { petId, lastMovementId });
}

export function movementReads(db: Db): Pick<Reads, "movements"> {
  return {
    movements: ({ petId, after, limit }) =>
      after ? db.all(ledgerAfter, { petId, limit, after: after.id }) : db.all(ledger, { petId, limit }),
  };
}
