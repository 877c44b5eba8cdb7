import type { ClientRecord, Writes } from "../../core/ports.ts";
import { presentClient } from "../clients.ts";
import { type Db, sql } from "../statement.ts";

// The two exclude each other, and the first does not exclude itself. Whoever has waited judges the row as it is then.
const keptClient = sql<ClientRecord>`${presentClient} for key share`;
const lockedClient = sql<ClientRecord>`${presentClient} for update`;

export function clientLocking(db: Db): Pick<Writes, "keptClient" | "lockedClient"> {
  return {
    keptClient: (id) => db.get(keptClient, { id }),
    lockedClient: (id) => db.get(lockedClient, { id }),
  };
}
