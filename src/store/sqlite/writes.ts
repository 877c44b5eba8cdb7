import type { Writes } from "../../core/ports.ts";
import { writes } from "../store.ts";
import { answerKeeping } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { orderPlacing } from "./orders.ts";

/** The shared store, but for what is less work in words of SQLite's own. */
export function sqliteWrites(db: Connection): Writes {
  return { ...writes(db), ...orderPlacing(db), ...answerKeeping(db) };
}
