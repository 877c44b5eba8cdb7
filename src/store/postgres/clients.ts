import type { ClientRecord, Writes } from "../../core/ports.ts";
import { presentClient } from "../clients.ts";
import { type Db, fragment, sql } from "../statement.ts";

// The two exclude each other, and the first does not exclude itself. Whoever has waited judges the row as it is then.
export const keptClient = fragment`select id from clients where id = :clientId and removed_at is null for key share`;
const lockedClient = sql<ClientRecord>`${presentClient} for update`;

export function clientLocking(db: Db): Pick<Writes, "lockedClient"> {
  return {
    lockedClient: (id) => db.get(lockedClient, { id }),
  };
}
