import type { ClientRecord, Reads, Writes } from "../core/ports.ts";
import { listing, page } from "./page.ts";
import { type Db, fragment, sql } from "./statement.ts";
import { noteRemovedWebhook } from "./webhooks.ts";

const columns = fragment`id, name, plan, per_minute as "perMinute", per_day as "perDay",
  created_at as "createdAt", suspended_at as "suspendedAt"`;

export const presentClient = fragment`select ${columns} from clients where id = :id and removed_at is null`;
export const clientById = sql<ClientRecord>`${presentClient}`;
const clientNamed = sql<ClientRecord>`
  select ${columns} from clients where name = :name and plan = :plan and removed_at is null order by id limit 1`;
const insertClient = sql<ClientRecord>`
  insert into clients (name, plan, per_minute, per_day, created_at)
  values (:name, :plan, :perMinute, :perDay, :now) returning ${columns}`;
const updateClient = sql`
  update clients set name = :name, plan = :plan, per_minute = :perMinute, per_day = :perDay, suspended_at = :suspendedAt
  where id = :id`;
const removeClient = sql`update clients set removed_at = :now where id = :id`;
const revokeItsKeys = sql`update api_keys set revoked_at = :now where client_id = :id and revoked_at is null`;
const removeItsWebhooks = sql<{ id: number }>`delete from webhooks where client_id = :id returning id`;

const revision = sql<{ revision: number }>`select revision from access where id = 1`;
const raiseRevision = sql`update access set revision = revision + 1 where id = 1`;

type ClientReads = Pick<Reads, "client" | "clients" | "clientNamed" | "accessRevision">;

export function clientReads(db: Db): ClientReads {
  return {
    client: (id) => db.get(clientById, { id }),
    clientNamed: (name, plan) => db.get(clientNamed, { name, plan }),
    clients: (query) => {
      const present = (where: { add(text: string): unknown }) => void where.add("removed_at is null");
      const { text, values } = page({ ...query, columns, table: "clients", key: "id", branches: [present] });
      return db.all(listing<ClientRecord>(text), values);
    },
    accessRevision: async () => (await db.get(revision, {}))?.revision ?? 0,
  };
}

type ClientWrites = Pick<
  Writes,
  "addClient" | "lockedClient" | "changeClient" | "removeClient" | "raiseAccessRevision"
>;

export function clientWrites(db: Db): ClientWrites {
  return {
    addClient: async (client, now) => (await db.get(insertClient, { ...client, now })) as ClientRecord,
    // Where one writes after another, as in SQLite, nobody else orders meanwhile.
    lockedClient: (id) => db.get(clientById, { id }),
    changeClient: (client) => db.run(updateClient, { ...client }),
    removeClient: async (id, now) => {
      await db.run(revokeItsKeys, { id, now });
      // Only those that this has removed: what its own key removes at the same moment is noted there.
      for (const webhook of await db.all(removeItsWebhooks, { id }))
        await db.run(noteRemovedWebhook, { ...webhook, now });
      await db.run(removeClient, { id, now });
    },
    raiseAccessRevision: () => db.run(raiseRevision, {}),
  };
}
