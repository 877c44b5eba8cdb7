import type { ClientRecord, Writes } from "../../core/ports.ts";
import { clientById, clientWrites } from "../clients.ts";
import type { Connection } from "./connection.ts";
import { knownInTransaction } from "./known.ts";

/** Many orders of a batch are one client's: whether it is there is asked once for all of them. */
export function clientKeeping(
  db: Connection,
): Pick<Writes, "keptClient" | "addClient" | "changeClient" | "removeClient"> {
  const { addClient, changeClient, removeClient } = clientWrites(db);
  const known = knownInTransaction(db, () => new Map<number, ClientRecord | null>());
  const forgetting =
    <A extends unknown[], R>(change: (...args: A) => R) =>
    (...args: A) => {
      known.forget();
      return change(...args);
    };
  return {
    keptClient(id) {
      const clients = known.get();
      const there = clients.get(id);
      if (there !== undefined) return there;
      const client = db.get(clientById, { id });
      clients.set(id, client);
      return client;
    },
    addClient: forgetting(addClient),
    changeClient: forgetting(changeClient),
    removeClient: forgetting(removeClient),
  };
}
