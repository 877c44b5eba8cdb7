import { ROTATION_DAYS, ROTATION_DAYS_DEFAULT } from "./bounds.ts";
import { type Plan as PlanName, plans, type Quota } from "./plans.ts";
import { roles } from "./route.ts";
import { array, boolean, int, object, oneOf, partial, record, string, type Value } from "./shape.ts";
import { givenId, id, name, text } from "./shapes.ts";
import { date, moment } from "./times.ts";

const REASON_CHARACTERS = 500;
const count = int({ minimum: 0 });
const limit = int({ minimum: 1, maximum: 1_000_000_000 });

export const Role = oneOf(roles, {
  id: "Role",
  description: "What a key may do; each role includes the ones before it.",
});
export const Plan = oneOf(Object.keys(plans) as PlanName[], {
  id: "Plan",
  description: `${Object.entries(plans).map(planText).join(", ")}.`,
});

const clientFields = {
  name: name.described("What the client is called."),
  plan: Plan,
  perMinute: limit.described("Requests a minute; given with enterprise, and only there."),
  perDay: limit.described("Requests a day; given with enterprise, and only there."),
};

export const NewClient = object(
  {
    ...clientFields,
    plan: Plan.default("free"),
    perMinute: clientFields.perMinute.optional(),
    perDay: clientFields.perDay.optional(),
  },
  { id: "NewClient", description: "What creates a client." },
);
export type NewClient = Value<typeof NewClient>;

export const ClientUpdate = object(
  partial({
    id: givenId,
    ...clientFields,
    suspended: boolean({ description: "`true` refuses all its keys, `false` lets them in again." }),
  }),
  {
    id: "ClientUpdate",
    description:
      "The fields of a client to change. The counters go on as they are. An `id` must be the path's.",
  },
);
export type ClientUpdate = Value<typeof ClientUpdate>;

export const Client = object(
  { id, ...clientFields, suspended: boolean(), createdAt: moment },
  { id: "Client", description: "Who the limits apply to." },
);
export type Client = Value<typeof Client>;
export const Clients = array(Client, { id: "Clients", description: "A page of clients." });

export const NewKey = object(
  {
    role: Role.default("customer"),
    name: name.described("What the key is for.").optional(),
    expiresInDays: int({
      minimum: 1,
      maximum: 3650,
      description: "When it stops working; without it, never.",
    }).optional(),
  },
  { id: "NewKey", description: "What creates a key." },
);
export type NewKey = Value<typeof NewKey>;

export const Rotation = object(
  {
    overlapDays: int({
      minimum: 0,
      maximum: ROTATION_DAYS,
      description: "How long the old key still works, in days; 0 ends it at once.",
    }).default(ROTATION_DAYS_DEFAULT),
  },
  { id: "Rotation", description: "What replaces a key by a new one." },
);

const keyFields = {
  id,
  clientId: id,
  role: Role,
  name: name.optional(),
  lastFour: string({ description: "The last four characters of the key." }),
  createdAt: moment,
  lastUsedAt: moment.described("To the minute.").optional(),
  expiresAt: moment.optional(),
  revokedAt: moment.optional(),
  bannedUntil: moment.optional(),
};

export const Key = object(keyFields, { id: "Key", description: "A key without its secret." });
export type Key = Value<typeof Key>;
export const Keys = array(Key, { id: "Keys", description: "A page of a client's keys." });

/** What whoever makes a key has to know. */
export const keyShownOnce =
  "The answer shows the key this once: a repetition with the same `Idempotency-Key` gives its record without the key. If the answer is lost, revoke the new key and make another.";

export const CreatedKey = object(
  {
    ...keyFields,
    key: string({
      description: "The key itself, shown this once; a replayed answer leaves it out.",
    }).optional(),
  },
  { id: "CreatedKey", description: "A new key." },
);

export const NewBan = object(
  {
    minutes: int({ minimum: 1, maximum: 525_600, description: "How long it lasts." }),
    reason: text(REASON_CHARACTERS, false)
      .described("Why, for the audit trail and the list of bans.")
      .optional(),
  },
  { id: "NewBan", description: "What bans a key." },
);

export const Ban = object(
  {
    keyId: id,
    clientId: id,
    cause: oneOf(["strikes", "admin"], {
      description: "Earned by repeated requests after a 429, or imposed.",
    }),
    reason: string().optional(),
    level: count.described("How many bans in a row this is; 0 if it was imposed."),
    since: moment,
    until: moment,
  },
  { id: "Ban", description: "A ban in force." },
);
export type Ban = Value<typeof Ban>;
export const Bans = array(Ban, { id: "Bans", description: "A page of bans in force." });

const window = (description: string) =>
  object({ limit: count, remaining: count, resetAt: int({ description: "Unix seconds." }) }, { description });

export const Limits = object(
  {
    minute: window("The minute that opened with the first request in it."),
    day: window("The UTC day."),
    strikes: object(
      {
        count: count.described("Strikes of this key that still count."),
        threshold: count.described("The strike that bans."),
        windowSeconds: count,
        graceSeconds: count.described("After the first 429 of a window; requests within it are forgiven."),
      },
      { description: "A strike is a request that gets 429 after the grace." },
    ),
    banLevel: count.described("Bans of this key, less one for each full day of good conduct."),
    nextBanMinutes: count.described("How long the next ban would last."),
    bannedUntil: moment.optional(),
  },
  {
    id: "Limits",
    description: "Both windows of the client, and how the key stands. Asking costs nothing.",
  },
);
export type Limits = Value<typeof Limits>;

export const Account = object(
  { client: object({ id, name, plan: Plan, perMinute: limit, perDay: limit }), key: Key },
  { id: "Account", description: "Who is calling." },
);

const series = array(count);
const usageFields = {
  days: array(date, { description: "The days, oldest first; every series has one number for each." }),
  total: series,
  byOperation: record(series, { description: "Requests by operation; `none` met no operation." }),
  byStatus: record(series, { description: "Requests by class of status: 2xx, 3xx, 4xx, 5xx." }),
};

export const Usage = object(usageFields, {
  id: "Usage",
  description: "Requests a day, as series for a chart.",
});
export type Usage = Value<typeof Usage>;

export const AdminUsage = object(
  {
    ...usageFields,
    topClients: array(object({ clientId: id, name, requests: count }), {
      description: "The clients with the most requests, at most 20.",
    }),
  },
  { id: "AdminUsage", description: "Requests a day of one client or of all." },
);

export const usageQuery = {
  from: date.described("The first UTC day; 29 days before `to` by default.").optional(),
  to: date.described("The last UTC day; today by default.").optional(),
};

export const AuditEntry = object(
  {
    id,
    at: moment,
    operation: string(),
    by: string({ description: "`key 7`, or `command line`." }),
    subject: string({ description: "What was changed, such as `clients/2`." }),
    input: string({ description: "What was asked for, as JSON." }),
  },
  { id: "AuditEntry", description: "Something that an admin, or a client with its keys, did." },
);
export type AuditEntry = Value<typeof AuditEntry>;
export const AuditEntries = array(AuditEntry, {
  id: "AuditEntries",
  description: "A page of the audit trail, newest first.",
});

export const accessIds = {
  clientId: givenId.described("The client's id."),
  keyId: givenId.described("The key's id."),
};

/** What the numbers count is said with the first plan. */
function planText([plan, quota]: [string, Quota | null], place: number): string {
  if (quota === null) return `\`${plan}\` as agreed`;
  const [minute, day] = [grouped(quota.perMinute), grouped(quota.perDay)];
  const [requests, ofDay] = place === 0 ? [" requests a minute", " a day"] : ["", ""];
  return `\`${plan}\` ${minute}${requests} and ${day}${ofDay}`;
}

/** Every start writes these: what writes numbers by language would take milliseconds and megabytes of it. */
function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
