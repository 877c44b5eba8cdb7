import type { Writes } from "../../core/ports.ts";
import { eventReads, eventWrites } from "../events.ts";
import { movementReads } from "../movements.ts";
import { orderReads, orderWrites } from "../orders.ts";
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
  const { forgetEvents } = eventWrites(db);
  const { changeOrder, removeOrder } = orderWrites(db);
  const ofEvents = { ...eventReads(db), ...movementReads(db), forgetEvents };
  const ofOrders = { ...orderReads(db), changeOrder, removeOrder };
  return {
    ...writes(db, movements),
    ...orderPlacing(db, clients, movements),
    ...answerKeeping(db),
    ...clients.writes,
    ...eachAfter(db.appended.settle, ofEvents),
    ...eachAfter(db.appended.settle, ofOrders),
  };
}

type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The same functions, before each of which something else is done. */
function eachAfter<F extends Functions>(first: () => void, functions: F): F {
  const after = ([name, each]: [string, Functions[string]]) => [
    name,
    (...args: never[]) => {
      first();
      return each(...args);
    },
  ];
  return Object.fromEntries(Object.entries(functions).map(after)) as F;
}
