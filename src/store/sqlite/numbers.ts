import { fragment, sql } from "../statement.ts";
import { type MovementNumbers, movementStatements } from "../stock.ts";
import type { Connection } from "./connection.ts";
import { knownInTransaction } from "./known.ts";

/** Numbers of new rows, given by us: a row can be named, and wait with others to be added, before it is there. */
export interface Numbers {
  next(): number;
  /** This transaction lets SQLite number a row: the last number is asked for anew. */
  forget(): void;
}

// Each names its table, so that rows of it that wait are counted.
const lastNumber = {
  orders: sql<{ id: number }>`select seq as id from sqlite_sequence where name = 'orders'`,
  movements: sql<{ id: number }>`select seq as id from sqlite_sequence where name = 'movements'`,
};

export function numbersOf(db: Connection, table: keyof typeof lastNumber): Numbers {
  const last = knownInTransaction(db, () => ({ id: db.get(lastNumber[table], {})?.id ?? 0 }));
  return { next: () => ++last.get().id, forget: last.forget };
}

/** What stands for the number of a movement: the writer, alone as it is, gives it. */
export const MOVEMENT = fragment`:movementId`;
const statements = movementStatements(MOVEMENT);

export type OwnNumbers = MovementNumbers & { readonly next: () => number };

export function movementNumbers(db: Connection): OwnNumbers {
  return { ...statements, next: numbersOf(db, "movements").next };
}
