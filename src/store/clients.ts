import type { ClientRecord, KeyRecord, Reads, Writes } from "../core/ports.ts";
import { type Db, fragment, sql } from "./statement.ts";

const clientColumns = fragment`id, name, plan, per_minute as "perMinute", per_day as "perDay",
  created_at as "createdAt", suspended_at as "suspendedAt"`;
const keyColumns = fragment`k.id, k.client_id as "clientId", k.role, k.name, k.last_four as "lastFour",
  k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
  c.suspended_at as "clientSuspendedAt"`;
const keysWithClient = fragment`api_keys k join clients c on c.id = k.client_id`;

const clientById = sql<ClientRecord>`select ${clientColumns} from clients where id = :id`;
const allClients = sql<ClientRecord>`select ${clientColumns} from clients order by id`;
const insertClient = sql<ClientRecord>`
  insert into clients (name, plan, per_minute, per_day, created_at)
  values (:name, :plan, :perMinute, :perDay, :now) returning ${clientColumns}`;

const keyByHash = sql<KeyRecord>`select ${keyColumns} from ${keysWithClient} where k.hash = :hash`;
const keyById = sql<KeyRecord>`select ${keyColumns} from ${keysWithClient} where k.id = :id`;
const allKeys = sql<KeyRecord>`select ${keyColumns} from ${keysWithClient} order by k.id`;
const keysOfClient = sql<KeyRecord>`select ${keyColumns} from ${keysWithClient} where k.client_id = :clientId order by k.id`;
const insertKey = sql<{ id: number }>`
  insert into api_keys (client_id, role, name, hash, last_four, expires_at, created_at)
  values (:clientId, :role, :name, :hash, :lastFour, :expiresAt, :now) returning id`;
const revokeKey = sql`update api_keys set revoked_at = coalesce(revoked_at, :now) where id = :id`;

export function clientReads(db: Db): Pick<Reads, "client" | "clients" | "keyByHash" | "keys"> {
  return {
    client: (id) => db.get(clientById, { id }),
    clients: () => db.all(allClients, {}),
    keyByHash: (hash) => db.get(keyByHash, { hash }),
    keys: (clientId) => (clientId === null ? db.all(allKeys, {}) : db.all(keysOfClient, { clientId })),
  };
}

export function clientWrites(db: Db): Pick<Writes, "addClient" | "addKey" | "revokeKey"> {
  return {
    addClient: async (client, now) => (await db.get(insertClient, { ...client, now })) as ClientRecord,
    addKey: async (key, now) => {
      const added = (await db.get(insertKey, { ...key, now })) as { id: number };
      return (await db.get(keyById, added)) as KeyRecord;
    },
    revokeKey: async (id, now) => {
      await db.run(revokeKey, { id, now });
      return db.get(keyById, { id });
    },
  };
}
