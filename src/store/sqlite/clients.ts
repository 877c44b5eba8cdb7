import type { Writes } from "../../core/ports.ts";
import { clientById, clientWrites } from "../clients.ts";
import type { Connection } from "./connection.ts";
import { knownInTransaction } from "./known.ts";

export interface ClientKeeping {
  isThere(id: number): boolean;
  readonly writes: Pick<Writes, "addClient" | "changeClient" | "removeClient">;
}

/** Many orders of a batch are one client's: whether it is there is asked once for all of them. */
export function clientKeeping(db: Connection): ClientKeeping {
  const { addClient, changeClient, removeClient } = clientWrites(db);
  const known = knownInTransaction(db, () => new Map<number, boolean>());
  const forgetting =
    <A extends unknown[], R>(change: (...args: A) => R) =>
    (...args: A) => {
      known.forget();
      return change(...args);
    };
  return {
    isThere(id) {
      const clients = known.get();
      const seen = clients.get(id);
      if (seen !== undefined) return seen;
      const isThere = db.get(clientById, { id }) !== null;
      clients.set(id, isThere);
      return isThere;
    },
    writes: {
      addClient: forgetting(addClient),
      changeClient: forgetting(changeClient),
      removeClient: forgetting(removeClient),
    },
  };
}
