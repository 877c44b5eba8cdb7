import type { AuditRecord, BanRecord, Reads, UsageRecord, Writes } from "../core/ports.ts";
import { usageIn } from "../core/tally.ts";
import type { Windows } from "../core/windows.ts";
import { type Conditions, listing, page } from "./page.ts";
import { type Db, Fragment, fragment, RowsStatement, sql } from "./statement.ts";
import type { TallyReads } from "./tallies.ts";

const banColumns = fragment`id, key_id as "keyId", client_id as "clientId", cause, reason, level, since, until`;
const insertBan = sql<unknown>`
  insert into bans (key_id, client_id, cause, reason, level, since, until)
  values (:keyId, :clientId, :cause, :reason, :level, :since, :until) on conflict do nothing returning id`;
const liftBan = sql<unknown>`
  update bans set lifted_at = :now where key_id = :keyId and lifted_at is null and until > :now returning id`;

const conductOf = sql<{ conduct: string }>`select conduct from key_conduct where key_id = :keyId`;
const conductsOfClient = sql<{ conduct: string }>`
  select x.conduct from key_conduct x join api_keys k on k.id = x.key_id where k.client_id = :clientId`;
const banOfKey = sql<BanRecord>`
  select ${banColumns} from bans where key_id = :keyId and lifted_at is null and until > :now order by until desc limit 1`;
const banOfClient = sql<BanRecord>`
  select ${banColumns} from bans where client_id = :clientId and lifted_at is null and until > :now order by until desc limit 1`;
const keepConduct = sql`
  insert into key_conduct (key_id, conduct) values (:keyId, :conduct)
  on conflict (key_id) do update set conduct = excluded.conduct`;

const keepWindows = new RowsStatement<Windows & { readonly clientId: number }>(
  ["clientId", "minuteOpenedAt", "minuteCount", "day", "dayCount"],
  (values) => `
    insert into client_windows (client_id, minute_opened_at, minute_count, day, day_count) ${values}
    on conflict (client_id) do update set minute_opened_at = excluded.minute_opened_at,
    minute_count = excluded.minute_count, day = excluded.day, day_count = excluded.day_count`,
);

const addUsage = new RowsStatement<UsageRecord>(
  ["clientId", "day", "operation", "statusClass", "requests"],
  (values) => `
    insert into usage (client_id, day, operation, status_class, requests) ${values}
    on conflict (client_id, day, operation, status_class) do update
    set requests = usage.requests + excluded.requests`,
);
/** A record, or the id of a tally that may have more: by one statement, so that nothing can move from these to those in between. */
type UsageRow = UsageRecord & { readonly tally: number | null };
const usageColumns = fragment`client_id as "clientId", day, operation, status_class as "statusClass", requests, null as tally`;
const andTallies = fragment`union all select 0, 0, '', 0, 0, id from tallies`;
const usageOfClient = sql<UsageRow>`
  select ${usageColumns} from usage where client_id = :clientId and day between :fromDay and :toDay ${andTallies}`;
type DayRow = Omit<UsageRow, "day"> & { readonly kind: "sum" | "client" | "tally" };
/** Its sums by operation and class, and by client: of one moment, so that they are sums of the same. */
const usageOfDay = sql<DayRow>`
  select 'sum' as kind, cast(0 as bigint) as "clientId", operation, status_class as "statusClass",
    cast(sum(requests) as bigint) as requests, cast(null as bigint) as tally
  from usage where day = :day group by operation, status_class
  union all
  select 'client', client_id, '', 0, cast(sum(requests) as bigint), null
  from usage where day = :day group by client_id
  union all select 'tally', 0, '', 0, 0, id from tallies`;
/** Rows of old usage that are dropped at once. */
const FORGOTTEN_AT_ONCE = 1000;
// The number is in the text: by one that is only bound PostgreSQL may plan for a tenth of the table, and read it whole.
const forgetUsage = sql<unknown>`
  delete from usage where (client_id, day, operation, status_class) in (
    select client_id, day, operation, status_class from usage where day < :beforeDay
    order by day limit ${new Fragment(String(FORGOTTEN_AT_ONCE))}) returning day`;

/** Nobody takes a duty for two times as long as it lasts: whoever seems to had a clock that was wrong. */
const takeDuty = sql<unknown>`
  insert into duties (name, taken_until) values (:name, :until)
  on conflict (name) do update set taken_until = excluded.taken_until
    where duties.taken_until <= :now or duties.taken_until > :tooLate
  returning name`;

const auditColumns = fragment`id, at, key_id as "keyId", operation, subject, input`;
const insertAudit = sql`
  insert into audit (at, key_id, operation, subject, input) values (:at, :keyId, :operation, :subject, :input)`;

export function limitReads(
  db: Db,
  tallies: TallyReads,
): Pick<Reads, "bans" | "ban" | "clientBan" | "conduct" | "conducts" | "usage" | "usageOfDay" | "audit"> {
  return {
    bans: (query, now) => {
      const inForce = (where: Conditions) => void where.add("lifted_at is null").add("until > ?", now);
      const { text, values } = page({
        ...query,
        columns: banColumns,
        table: "bans",
        key: "until",
        branches: [inForce],
      });
      return db.all(listing<BanRecord>(text), values);
    },
    conduct: async (keyId) => {
      const row = await db.get(conductOf, { keyId });
      return row && JSON.parse(row.conduct);
    },
    conducts: async (clientId) =>
      (await db.all(conductsOfClient, { clientId })).map(({ conduct }) => JSON.parse(conduct)),
    ban: (keyId, now) => db.get(banOfKey, { keyId, now }),
    clientBan: (clientId, now) => db.get(banOfClient, { clientId, now }),
    usage: (query) =>
      tallies.whileTheyStay(async () => {
        const rows = await db.all(usageOfClient, { ...query });
        const counted = await tallies.of(talliesIn(rows));
        if (!counted) return null;
        const records = rows.filter(({ tally }) => tally === null).map(({ tally: _, ...record }) => record);
        return records.concat(counted.flatMap((tally) => usageIn(tally, query)));
      }),
    usageOfDay: async (day) => {
      // An engine that answers at once would else be asked for one day after another, and nobody served meanwhile.
      await nextTurn();
      return tallies.whileTheyStay(async () => {
        const rows = await db.all(usageOfDay, { day });
        const counted = await tallies.of(talliesIn(rows));
        const more = counted?.flatMap((tally) => usageIn(tally, { fromDay: day, toDay: day }));
        if (!more) return null;
        const of = (kind: DayRow["kind"]) => rows.filter((row) => row.kind === kind);
        const sums = of("sum").map((row) => ({ ...row, day }));
        return { sums: [...sums, ...more], clients: [...of("client"), ...more] };
      });
    },
    audit: (query) => {
      const { text, values } = page({
        ...query,
        columns: auditColumns,
        table: "audit",
        key: "id",
        branches: [() => {}],
      });
      return db.all(listing<AuditRecord>(text), values);
    },
  };
}

type LimitWrites = Pick<
  Writes,
  "addBan" | "liftBan" | "keepWindows" | "keepConduct" | "addUsage" | "forgetUsage" | "takeDuty" | "addAudit"
>;

export function limitWrites(db: Db): LimitWrites {
  return {
    addBan: async (ban) => (await db.get(insertBan, { ...ban })) !== null,
    liftBan: async (keyId, now) => (await db.all(liftBan, { keyId, now })).length > 0,
    keepConduct: (keyId, conduct) => db.run(keepConduct, { keyId, conduct: JSON.stringify(conduct) }),
    keepWindows: (rows) => keepWindows.run(db, rows.toSorted(byClient)),
    addUsage: (rows) => addUsage.run(db, rows.toSorted(byUsage)),
    forgetUsage: async (beforeDay) => (await db.all(forgetUsage, { beforeDay })).length === FORGOTTEN_AT_ONCE,
    takeDuty: async (name, now, until) =>
      (await db.all(takeDuty, { name, until, now, tooLate: now + 2 * (until - now) })).length > 0,
    addAudit: (entry) => db.run(insertAudit, { ...entry }),
  };
}

/** Oldest first. */
function talliesIn(rows: readonly Pick<UsageRow, "tally">[]): number[] {
  return rows.flatMap(({ tally }) => tally ?? []).sort((a, b) => a - b);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

// Rows in one order: two instances that write the same ones wait for each other, and not in a circle.
function byClient(a: { readonly clientId: number }, b: { readonly clientId: number }): number {
  return a.clientId - b.clientId;
}

function byUsage(a: UsageRecord, b: UsageRecord): number {
  const order = byClient(a, b) || a.day - b.day || a.statusClass - b.statusClass;
  return order || (a.operation < b.operation ? -1 : 1);
}
