import type { Writes } from "../../core/ports.ts";
import { writes } from "../store.ts";
import { answerKeeping } from "./answers.ts";
import { clientKeeping } from "./clients.ts";
import type { Connection } from "./connection.ts";
import { movementNumbers } from "./numbers.ts";
import { orderPlacing } from "./orders.ts";

/** The shared store, but for what is less work in words of SQLite's own: one for a connection, because it remembers what it has asked. */
export function sqliteWrites(db: Connection): Writes {
  const clients = clientKeeping(db);
  const movements = movementNumbers(db);
  return {
    ...writes(db, movements),
    ...orderPlacing(db, clients, movements),
    ...answerKeeping(db),
    ...clients.writes,
  };
}
