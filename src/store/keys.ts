import type { Awaitable, KeyRecord, KnownKey, Reads, Writes } from "../core/ports.ts";
import { LAST_USED_COLUMNS, type Tally } from "../core/tally.ts";
import { type Conditions, listing, page } from "./page.ts";
import { type Db, fragment, RowsStatement, sql } from "./statement.ts";
import type { TallyReads } from "./tallies.ts";

const columns = fragment`k.id, k.client_id as "clientId", k.role, k.name, k.last_four as "lastFour",
  k.created_at as "createdAt", (select u.at from key_uses u where u.key_id = k.id) as "lastUsedAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
  (select max(b.until) from bans b where b.key_id = k.id and b.lifted_at is null) as "bannedUntil"`;

export interface KnownRow extends Omit<KnownKey, "windows" | "conduct"> {
  readonly day: number | null;
  readonly dayCount: number;
  readonly minuteOpenedAt: number;
  readonly minuteCount: number;
  readonly conduct: string | null;
}

/** All that must be known of a key to let it in; and where that is, beside the key's own row. */
export const knownColumns = fragment`${columns}, c.per_minute as "perMinute", c.per_day as "perDay", c.suspended_at as "clientSuspendedAt",
    (select count(*) from bans b where b.key_id = k.id and b.lifted_at is not null) as "lifts",
    w.minute_opened_at as "minuteOpenedAt", w.minute_count as "minuteCount", w.day, w.day_count as "dayCount", x.conduct`;
export const besideKey = fragment`join clients c on c.id = k.client_id
    left join client_windows w on w.client_id = k.client_id
    left join key_conduct x on x.key_id = k.id`;

const keyByHash = sql<KnownRow>`
  select ${knownColumns}
  from api_keys k ${besideKey}
  where k.hash = :hash`.as(known);

const keyById = sql<KeyRecord>`select ${columns} from api_keys k where k.id = :id`;
const anyKey = sql<{ id: number }>`select id from api_keys limit 1`;
const allKeys = sql<KeyRecord>`select ${columns} from api_keys k order by k.id`;
const keysOfClient = sql<KeyRecord>`select ${columns} from api_keys k where k.client_id = :clientId order by k.id`;
/** As `isWorking` of the core has it. */
export const isWorking = fragment`k.revoked_at is null and (k.expires_at is null or k.expires_at > :now)`;
const workingKeys = sql<{ count: number }>`
  select count(*) as count from api_keys k where k.client_id = :clientId and ${isWorking}`;
const insertKey = sql<{ id: number }>`
  insert into api_keys (client_id, role, name, hash, last_four, expires_at, created_at)
  values (:clientId, :role, :name, :hash, :lastFour, :expiresAt, :now) returning id`;
const revokeKey = sql`update api_keys set revoked_at = :now where id = :id and revoked_at is null`;
const expireKey = sql`update api_keys set expires_at = :at where id = :id`;
const keepLastUses = new RowsStatement<{ readonly keyId: number; readonly at: number }>(
  ["keyId", "at"],
  (values) => `
    insert into key_uses (key_id, at) ${values}
    on conflict (key_id) do update set at = excluded.at where key_uses.at < excluded.at`,
);

type KeyReads = Pick<Reads, "keyByHash" | "key" | "hasKeys" | "keys" | "keyPage" | "countWorkingKeys">;

export function keyReads(db: Db, tallies: TallyReads): KeyReads {
  return {
    keyByHash: (hash) => db.get(keyByHash, { hash }),
    key: async (id) => (await withLastUses(tallies, () => db.all(keyById, { id })))[0] ?? null,
    countWorkingKeys: async (clientId, now) => Number((await db.get(workingKeys, { clientId, now }))?.count),
    hasKeys: async () => (await db.get(anyKey, {})) !== null,
    keys: (clientId) =>
      withLastUses(tallies, () =>
        clientId === null ? db.all(allKeys, {}) : db.all(keysOfClient, { clientId }),
      ),
    keyPage: ({ clientId, roles, ...query }) => {
      const ofRoles = `k.role in (${roles.map(() => "?").join(", ")})`;
      const narrowed = (where: Conditions) =>
        void where.add("k.client_id = ?", clientId).add(ofRoles, ...roles);
      const branches = [narrowed];
      const { text, values } = page({ ...query, columns, table: "api_keys k", key: "id", branches });
      return withLastUses(tallies, () => db.all(listing<KeyRecord>(text), values));
    },
  };
}

export function keyWrites(db: Db): Pick<Writes, "addKey" | "revokeKey" | "expireKey" | "keepLastUses"> {
  return {
    addKey: async (key, now) => {
      const added = (await db.get(insertKey, { ...key, now })) as { id: number };
      return (await db.get(keyById, added)) as KeyRecord;
    },
    revokeKey: (id, now) => db.run(revokeKey, { id, now }),
    expireKey: (id, at) => db.run(expireKey, { id, at }),
    keepLastUses: (rows) => keepLastUses.run(db, rows),
  };
}

/** Tallies are read first: what moves from them to rows in between is then in the rows. */
async function withLastUses(tallies: TallyReads, read: () => Awaitable<KeyRecord[]>): Promise<KeyRecord[]> {
  const counted = await tallies.all();
  const keys = await read();
  const uses = lastUsesOf(new Set(keys.map(({ id }) => id)), counted);
  return keys.map((key) => ({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt }));
}

/** Of these keys alone: the tallies may hold a million others. */
function lastUsesOf(keyIds: ReadonlySet<number>, tallies: readonly Tally[]): Map<number, number> {
  const uses = new Map<number, number>();
  for (const { lastUsed } of tallies)
    for (let at = 0; at < lastUsed.length; at += LAST_USED_COLUMNS) {
      const keyId = lastUsed[at] as number;
      if (keyIds.has(keyId)) uses.set(keyId, lastUsed[at + 1] as number);
    }
  return uses;
}

export function known({ day, dayCount, minuteOpenedAt, minuteCount, conduct, ...key }: KnownRow): KnownKey {
  return {
    ...key,
    windows: day === null ? null : { day, dayCount, minuteOpenedAt, minuteCount },
    conduct: conduct === null ? null : JSON.parse(conduct),
  };
}
