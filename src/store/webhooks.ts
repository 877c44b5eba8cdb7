import type {
  NewWebhookRecord,
  WebhookChange,
  WebhookReads,
  WebhookRecord,
  WebhookWrites,
} from "../core/webhook-ports.ts";
import { type Conditions, listing, page } from "./page.ts";
import { type Db, fragment, sql } from "./statement.ts";

interface WebhookRow extends Omit<WebhookRecord, "types"> {
  readonly types: string | null;
}

/** The last millisecond that a number can tell exactly, for keys that never expire. */
const NEVER = fragment`9007199254740991`;

const columns = fragment`w.id, w.client_id as "clientId", w.key_id as "keyId", w.role, w.url, w.types, w.description, w.secret,
  w.previous_secret as "previousSecret", w.previous_secret_until as "previousSecretUntil", case w.disabled_by_operator when 1 then 'operator' else w.disabled_reason end as "disabledReason",
  w.failing_since as "failingSince", w.starts_after as "startsAfter", w.replay_after as "replayAfter", w.replay_up_to as "replayUpTo",
  w.version, w.created_at as "createdAt",
  (select k.role from api_keys k where k.id = w.key_id) as "keyRole",
  (select k.expires_at from api_keys k where k.id = w.key_id) as "keyExpiresAt",
  (select k.revoked_at from api_keys k where k.id = w.key_id) as "keyRevokedAt",
  (select c.suspended_at from clients c where c.id = w.client_id) as "clientSuspendedAt",
  (select max(coalesce(k.expires_at, ${NEVER})) from api_keys k where k.client_id = w.client_id and k.revoked_at is null) as "keysWorkUntil"`;

const webhookById = sql<WebhookRow>`select ${columns} from webhooks w where w.id = :id`.as(webhookOf);
const ofClient = sql<{ count: number }>`select count(*) as count from webhooks where client_id = :clientId`;
const enabled = sql<WebhookRow>`
  select ${columns} from webhooks w where w.disabled_reason is null order by w.id`.as(webhookOf);
const due = sql<WebhookRow>`
  select ${columns} from webhooks w
  where w.disabled_reason is null and w.id > :afterId and exists (
    select 1 from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending' and d.next_at <= :now)
  order by w.id limit cast(:limit as bigint)`.as(webhookOf);
const insert = sql<{ id: number }>`
  insert into webhooks (client_id, key_id, role, url, types, description, secret, starts_after, created_at)
  values (:clientId, :keyId, :role, :url, :types, :description, :secret, :startsAfter, :now) returning id`;
const update = sql<{ id: number }>`
  update webhooks set key_id = :keyId, url = :url, types = :types, description = :description, secret = :secret,
    previous_secret = :previousSecret, previous_secret_until = :previousSecretUntil, disabled_reason = :disabledReason,
    disabled_by_operator = :disabledByOperator, failing_since = :failingSince, starts_after = :startsAfter, replay_after = :replayAfter, replay_up_to = :replayUpTo,
    version = version + 1
  where id = :id and version = :version returning id`;
const remove = sql<{ id: number }>`delete from webhooks where id = :id returning id`;
export const noteRemovedWebhook = sql`insert into removed_webhooks (id, removed_at) values (:id, :now)`;
const handOver = sql`update webhooks set key_id = :toKeyId, version = version + 1 where key_id = :fromKeyId`;
const noteFailure = sql`
  update webhooks set failing_since = :since, version = version + 1
  where id = :id and url = :url and failing_since is null`;
const noteSuccess = sql`
  update webhooks set failing_since = null, version = version + 1
  where id = :id and url = :url and failing_since is not null`;
const disable = sql<{ id: number }>`
  update webhooks set disabled_reason = :reason, replay_after = null, replay_up_to = null, version = version + 1
  where id = :id and url = :url and disabled_reason is null returning id`;

const fanOut = sql<{ position: number; since: number | null; replaying: number | null }>`
  select f.position, (select min(w.starts_after) from webhooks w where w.disabled_reason is null) as since,
    (select min(w.id) from webhooks w where w.replay_after is not null
      and not exists (select 1 from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending')) as replaying
  from fan_out f where f.id = 1`;
export const fanOutPosition = fragment`select position from fan_out where id = 1`;
const position = sql<{ position: number }>`${fanOutPosition}`;
const moveFanOut = sql`update fan_out set position = :position where id = 1`;

type Asked = "webhook" | "webhooks" | "countWebhooks" | "enabledWebhooks" | "fanOut" | "dueWebhooks";

export function webhookReads(db: Db): Pick<WebhookReads, Asked> {
  return {
    webhook: (id) => db.get(webhookById, { id }),
    webhooks: async ({ clientId, roles, enabled: isEnabled, ...query }) => {
      const narrowed = (where: Conditions) => {
        if (clientId !== undefined) where.add("w.client_id = ?", clientId);
        if (roles !== undefined) where.add(`w.role in (${roles.map(() => "?").join(", ")})`, ...roles);
        if (isEnabled !== undefined) where.add(`w.disabled_reason is ${isEnabled ? "null" : "not null"}`);
      };
      const { text, values } = page({
        ...query,
        columns,
        table: "webhooks w",
        key: "id",
        branches: [narrowed],
      });
      return (await db.all(listing<WebhookRow>(text), values)).map(webhookOf);
    },
    countWebhooks: async (clientId) => (await db.get(ofClient, { clientId }))?.count ?? 0,
    enabledWebhooks: () => db.all(enabled, {}),
    fanOut: async () => (await db.get(fanOut, {})) ?? { position: 0, since: null, replaying: null },
    dueWebhooks: (now, afterId, limit) => db.all(due, { now, afterId, limit }),
  };
}

type Changed =
  | "addWebhook"
  | "changeWebhook"
  | "removeWebhook"
  | "handOverWebhooks"
  | "lockedFanOut"
  | "moveFanOut"
  | "noteFailing"
  | "disableWebhook";

export function webhookWrites(db: Db): Pick<WebhookWrites, Changed> {
  const known = async (id: number) => (await db.get(webhookById, { id })) as WebhookRecord;
  return {
    addWebhook: async (webhook, now) => {
      const { id } = (await db.get(insert, { ...rowOf(webhook), now })) as { id: number };
      return known(id);
    },
    changeWebhook: async ({ id, version }, change) => {
      const changed = await db.get(update, { ...changeOf(change), id, version });
      return changed && known(id);
    },
    removeWebhook: async (id, now) => {
      const isRemoved = (await db.get(remove, { id })) !== null;
      if (isRemoved) await db.run(noteRemovedWebhook, { id, now });
      return isRemoved;
    },
    handOverWebhooks: (fromKeyId, toKeyId) => db.run(handOver, { fromKeyId, toKeyId }),
    // Where one writes after another, as in SQLite, nobody else goes on with it meanwhile.
    lockedFanOut: async () => (await db.get(position, {}))?.position ?? 0,
    moveFanOut: (to) => db.run(moveFanOut, { position: to }),
    noteFailing: ({ id, url }, since) =>
      since === null ? db.run(noteSuccess, { id, url }) : db.run(noteFailure, { id, url, since }),
    disableWebhook: async ({ id, url }, reason) => (await db.get(disable, { id, url, reason })) !== null,
  };
}

function webhookOf({ types, ...row }: WebhookRow): WebhookRecord {
  return { ...row, types: types === null ? null : JSON.parse(types) };
}

function rowOf({ types, ...webhook }: NewWebhookRecord) {
  return { ...webhook, types: types === null ? null : JSON.stringify(types) };
}

/** That an operator has disabled it is a column of its own: whatever looks for enabled ones has no other word to compare. */
function changeOf({ types, disabledReason, ...webhook }: WebhookChange) {
  const isByOperator = disabledReason === "operator";
  return {
    ...webhook,
    types: types === null ? null : JSON.stringify(types),
    disabledReason: isByOperator ? "asked" : disabledReason,
    disabledByOperator: isByOperator ? 1 : 0,
  };
}
