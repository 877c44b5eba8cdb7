import { z } from "zod";
import { ROTATION_DAYS } from "./bounds.ts";
import { roles } from "./route.ts";
import { givenId, name } from "./shapes.ts";

const id = z.int().min(1).meta({ format: "int64" });
const moment = z.iso.datetime().meta({ format: "date-time" });
const count = z.int().min(0);
const limit = z.int().min(1).max(1_000_000_000);
const date = z.iso.date().meta({ description: "A UTC day." });

export const Role = z
  .enum(roles)
  .meta({ id: "Role", description: "What a key may do; each role includes the ones before it." });
export const Plan = z.enum(["free", "pro", "business", "enterprise"]).meta({
  id: "Plan",
  description:
    "`free` 60 requests a minute and 1,000 a day, `pro` 300 and 10,000, `business` 1,000 and 100,000, `enterprise` as agreed.",
});

const clientFields = {
  name: name.meta({ description: "What the client is called." }),
  plan: Plan,
  perMinute: limit.meta({ description: "Requests a minute; given with enterprise, and only there." }),
  perDay: limit.meta({ description: "Requests a day; given with enterprise, and only there." }),
};

export const NewClient = z
  .strictObject({
    ...clientFields,
    plan: Plan.default("free"),
    perMinute: clientFields.perMinute.optional(),
    perDay: clientFields.perDay.optional(),
  })
  .meta({ id: "NewClient", description: "What creates a client." });
export type NewClient = z.output<typeof NewClient>;

export const ClientUpdate = z
  .strictObject({
    ...clientFields,
    suspended: z.boolean().meta({ description: "`true` refuses all its keys, `false` lets them in again." }),
  })
  .partial()
  .meta({
    id: "ClientUpdate",
    description: "The fields of a client to change. The counters go on as they are.",
  });
export type ClientUpdate = z.output<typeof ClientUpdate>;

export const Client = z
  .strictObject({ id, ...clientFields, suspended: z.boolean(), createdAt: moment })
  .meta({ id: "Client", description: "Who the limits apply to." });
export type Client = z.output<typeof Client>;
export const Clients = z.array(Client).meta({ id: "Clients", description: "A page of clients." });

export const NewKey = z
  .strictObject({
    role: Role.default("customer"),
    name: name.meta({ description: "What the key is for." }).optional(),
    expiresInDays: z
      .int()
      .min(1)
      .max(3650)
      .meta({ description: "When it stops working; without it, never." })
      .optional(),
  })
  .meta({ id: "NewKey", description: "What creates a key." });
export type NewKey = z.output<typeof NewKey>;

export const Rotation = z
  .strictObject({
    overlapDays: z
      .int()
      .min(0)
      .max(ROTATION_DAYS)
      .default(0)
      .meta({ description: "How long the old key still works, in days." }),
  })
  .meta({ id: "Rotation", description: "What replaces a key by a new one." });

const keyFields = {
  id,
  clientId: id,
  role: Role,
  name: name.optional(),
  lastFour: z.string().meta({ description: "The last four characters of the key." }),
  createdAt: moment,
  lastUsedAt: moment.meta({ description: "To the minute." }).optional(),
  expiresAt: moment.optional(),
  revokedAt: moment.optional(),
  bannedUntil: moment.optional(),
};

export const Key = z.strictObject(keyFields).meta({ id: "Key", description: "A key without its secret." });
export type Key = z.output<typeof Key>;
export const Keys = z.array(Key).meta({ id: "Keys", description: "The keys of a client." });

export const CreatedKey = z
  .strictObject({
    ...keyFields,
    key: z
      .string()
      .meta({ description: "The key itself, shown this once; a replayed answer leaves it out." })
      .optional(),
  })
  .meta({ id: "CreatedKey", description: "A new key." });

export const NewBan = z
  .strictObject({
    minutes: z.int().min(1).max(525_600).meta({ description: "How long it lasts." }),
    reason: z
      .string()
      .max(500)
      .meta({ description: "Why, for the audit trail and the list of bans." })
      .optional(),
  })
  .meta({ id: "NewBan", description: "What bans a key." });

export const Ban = z
  .strictObject({
    keyId: id,
    clientId: id,
    cause: z
      .enum(["strikes", "admin"])
      .meta({ description: "Earned by repeated requests after a 429, or imposed." }),
    reason: z.string().optional(),
    level: count.meta({ description: "How many bans in a row this is; 0 if it was imposed." }),
    since: moment,
    until: moment,
  })
  .meta({ id: "Ban", description: "A ban in force." });
export type Ban = z.output<typeof Ban>;
export const Bans = z.array(Ban).meta({ id: "Bans", description: "A page of bans in force." });

const window = (what: string) =>
  z
    .strictObject({
      limit: count,
      remaining: count,
      resetAt: z.int().meta({ description: "Unix seconds." }),
    })
    .meta({ description: what });

export const Limits = z
  .strictObject({
    minute: window("The minute that opened with the first request in it."),
    day: window("The UTC day."),
    strikes: z
      .strictObject({
        count: count.meta({ description: "Strikes of this key that still count." }),
        threshold: count.meta({ description: "The strike that bans." }),
        windowSeconds: count,
        graceSeconds: count.meta({
          description: "After the first 429 of a window; requests within it are forgiven.",
        }),
      })
      .meta({ description: "A strike is a request that gets 429 after the grace." }),
    banLevel: count.meta({ description: "Bans of this key, less one for each full day of good conduct." }),
    nextBanMinutes: count.meta({ description: "How long the next ban would last." }),
    bannedUntil: moment.optional(),
  })
  .meta({
    id: "Limits",
    description: "Both windows of the client, and how the key stands. Asking costs nothing.",
  });
export type Limits = z.output<typeof Limits>;

export const Account = z
  .strictObject({
    client: z.strictObject({ id, name, plan: Plan, perMinute: limit, perDay: limit }),
    key: Key,
  })
  .meta({ id: "Account", description: "Who is calling." });

const series = z.array(count);
const usageFields = {
  days: z
    .array(z.iso.date())
    .meta({ description: "The days, oldest first; every series has one number for each." }),
  total: series,
  byOperation: z
    .record(z.string(), series)
    .meta({ description: "Requests by operation; `none` met no operation." }),
  byStatus: z
    .record(z.string(), series)
    .meta({ description: "Requests by class of status: 2xx, 3xx, 4xx, 5xx." }),
};

export const Usage = z
  .strictObject(usageFields)
  .meta({ id: "Usage", description: "Requests a day, as series for a chart." });
export type Usage = z.output<typeof Usage>;

export const AdminUsage = z
  .strictObject({
    ...usageFields,
    topClients: z
      .array(z.strictObject({ clientId: id, name, requests: count }))
      .meta({ description: "The clients with the most requests, at most 20." }),
  })
  .meta({ id: "AdminUsage", description: "Requests a day of one client or of all." });

export const usageQuery = {
  from: date.meta({ description: "The first UTC day; 29 days before `to` by default." }).optional(),
  to: date.meta({ description: "The last UTC day; today by default." }).optional(),
};

export const AuditEntry = z
  .strictObject({
    id,
    at: moment,
    operation: z.string(),
    by: z.string().meta({ description: "`key 7`, or `command line`." }),
    subject: z.string().meta({ description: "What was changed, such as `clients/2`." }),
    input: z.string().meta({ description: "What was asked for, as JSON." }),
  })
  .meta({ id: "AuditEntry", description: "Something that an admin, or a client with its keys, did." });
export type AuditEntry = z.output<typeof AuditEntry>;
export const AuditEntries = z
  .array(AuditEntry)
  .meta({ id: "AuditEntries", description: "A page of the audit trail, newest first." });

export const accessIds = {
  clientId: givenId.meta({ description: "The client's id." }),
  keyId: givenId.meta({ description: "The key's id." }),
};
