import type { EventType } from "../contract/event-types.ts";
import type { Plan, Quota } from "../contract/plans.ts";
import type { Role } from "../contract/route.ts";
import type { Int64, MovementReason, PetStatus } from "../contract/shapes.ts";
import type { Conduct } from "./bans.ts";
import type { Stock } from "./status.ts";
import type { LimitState, Refusing, Windows } from "./windows.ts";

/** A pet's one row. */
export interface PetRecord extends Stock {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  /** Counts changes of the pet's own fields. */
  readonly version: number;
  /** Counts changes of its stock entry. */
  readonly stockVersion: number;
}

/** A pet as a list shows it, and its stock. */
export type ListedPet = Pick<PetRecord, "id" | "name" | "categoryId" | "status">;
export type ListedStock = Pick<PetRecord, "id" | "quantity" | "status">;

export interface CategoryRecord {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
}

/** A pet with what its category says, read together. */
export interface PetWithCategory extends PetRecord {
  readonly categoryName: string;
  readonly categoryDescription: string | null;
  readonly categoryVersion: number;
}

/** An order; without a pet it is a draft. Times are milliseconds since 1970. */
export interface OrderRecord {
  readonly id: number;
  readonly clientId: number;
  readonly petId: number | null;
  readonly quantity: number | null;
  readonly shipDate: number | null;
  readonly complete: boolean;
  readonly version: number;
}

export interface MovementRecord {
  readonly id: number;
  readonly petId: number;
  readonly change: number;
  readonly balance: number;
  readonly reason: MovementReason;
  readonly orderId: number | null;
  readonly at: number;
}

export interface KeyRecord {
  readonly id: number;
  readonly clientId: number;
  readonly role: Role;
  readonly name: string | null;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** When its last ban that was not lifted ends, or ended. */
  readonly bannedUntil: number | null;
}

/** A key with all that must be known to let it in and to limit it. */
export interface KnownKey extends KeyRecord, Quota {
  readonly clientSuspendedAt: number | null;
  /** How many of its bans were lifted. */
  readonly lifts: number;
  /** What was counted when it was last written down. */
  readonly windows: Windows | null;
  readonly conduct: Conduct | null;
}

/** Somebody who is signed in to the console, with the key that it acts as. */
export interface SessionRecord {
  readonly key: KnownKey;
  /** To the minute. */
  readonly usedAt: number;
  readonly endsAt: number;
}

export interface BanRecord {
  readonly id: number;
  readonly keyId: number;
  readonly clientId: number;
  readonly cause: "strikes" | "admin";
  readonly reason: string | null;
  readonly level: number;
  readonly since: number;
  readonly until: number;
}

export type NewBanRecord = Omit<BanRecord, "id">;

/** Requests of a client on a day (days since 1970, UTC), by operation and class of status. */
export interface UsageRecord {
  readonly clientId: number;
  readonly day: number;
  readonly operation: string;
  readonly statusClass: number;
  readonly requests: number;
}

export interface UsageQuery {
  readonly clientId: Int64;
  readonly fromDay: number;
  readonly toDay: number;
}

export interface AuditRecord {
  readonly id: number;
  readonly at: number;
  /** `null`: the command line. */
  readonly keyId: number | null;
  readonly operation: string;
  readonly subject: string;
  readonly input: string;
}

export interface ClientRecord {
  readonly id: number;
  readonly name: string;
  readonly plan: Plan;
  readonly perMinute: number;
  readonly perDay: number;
  readonly createdAt: number;
  readonly suspendedAt: number | null;
}

/** The last record of the page before: its sort key, and its id to break ties. */
export interface After {
  readonly key: number | string;
  readonly id: number;
}

export interface PageQuery {
  readonly descending: boolean;
  readonly after?: After | undefined;
  readonly limit: number;
}

export interface PetQuery extends PageQuery {
  /** By quantity only together with `maxQuantity`. */
  readonly sort: "id" | "name" | "quantity";
  readonly ids?: readonly Int64[] | undefined;
  readonly statuses?: readonly PetStatus[] | undefined;
  readonly categoryId?: Int64 | undefined;
  /** Folded, see names.ts. */
  readonly namePrefix?: string | undefined;
  /** At most `LOW_STOCK`. */
  readonly maxQuantity?: number | undefined;
}

export interface CategoryQuery extends PageQuery {
  readonly sort: "id" | "name";
  readonly namePrefix?: string | undefined;
}

export interface OrderQuery extends PageQuery {
  readonly sort: "id" | "shipDate";
  readonly clientId?: number | undefined;
  readonly petId?: Int64 | undefined;
  readonly complete?: boolean | undefined;
  readonly shippedFrom?: number | undefined;
  readonly shippedBefore?: number | undefined;
}

/** Newest first. */
export interface MovementQuery extends Omit<PageQuery, "descending"> {
  readonly petId: Int64;
}

export interface KeyQuery extends PageQuery {
  readonly clientId: number;
  readonly roles: readonly Role[];
}

/** A success that a repeated idempotency key is answered with. */
export interface KeptAnswer {
  readonly fingerprint: string;
  readonly body: string | null;
  readonly tag: string | null;
}

export interface NewPetRecord extends Stock {
  readonly name: string;
  readonly categoryId: Int64;
}

export interface PetChange {
  readonly name: string;
  readonly categoryId: Int64;
  readonly stock: Stock;
  readonly reason: MovementReason;
}

export interface NewOrderRecord {
  readonly clientId: number;
  readonly petId: Int64;
  readonly quantity: number;
  readonly shipDate: number | null;
  readonly complete: boolean;
}

export interface DraftRecord {
  readonly clientId: number;
  readonly quantity: number | null;
  readonly shipDate: number | null;
}

export type OrderChange = Omit<OrderRecord, "id" | "clientId" | "version" | "petId"> & {
  readonly petId: Int64 | null;
};

/** Units and open orders added to a pet (negative: taken). */
export interface StockMove {
  readonly petId: Int64;
  readonly units: number;
  readonly openOrders: number;
  readonly reason: MovementReason;
  readonly orderId: number;
}

export interface NewEvent {
  readonly type: EventType;
  readonly subject: string;
  /** The client that it concerns; `null` is the catalogue, which everybody sees. */
  readonly clientId: number | null;
  readonly data: unknown;
}

/** An event of the log; its number says where it stands. */
export interface EventRecord {
  readonly id: number;
  readonly type: EventType;
  readonly subject: string;
  readonly clientId: number | null;
  /** JSON, as it was written. */
  readonly data: string;
  readonly at: number;
}

export interface EventQuery {
  /** Only events behind this one ... */
  readonly after: number;
  /** ... as far as this one: what `lastEvent` gave, so that none is missed that has a number but is not committed yet. */
  readonly upTo: number;
  readonly types?: readonly EventType[] | undefined;
  /** The catalogue's events and those of this client; `null`: the catalogue's alone. Left out: all. */
  readonly clientId?: number | null | undefined;
  readonly limit: number;
}

/** Where the log of events ends. */
export interface EventBounds {
  /** The last event that is no longer kept; 0 if all are. */
  readonly forgotten: number;
  /** The last number that any event has. */
  readonly given: number;
}

/** A key as the limiter sees it: whose it is, what it may ask for, and whether it is banned. */
export interface LimitedKey extends Quota {
  readonly clientId: number;
  readonly keyId: number;
  readonly bannedUntil: number | null;
  /** How many of its bans were lifted, as far as is known. */
  readonly lifts?: number;
}

/** Whether a request may go on, and how the windows stand after it. */
export interface Admission {
  readonly state: LimitState;
  readonly refusing: Refusing | "ban";
  /** When the ban ends, if that is what refuses. */
  readonly bannedUntil: number | null;
  /** The time by which it was judged, where limits have a clock of their own. */
  readonly judgedAt?: number;
}

/** How a key stands with the limits. */
export interface Standing {
  readonly state: LimitState;
  readonly conduct: Conduct;
  readonly bannedUntil: number | null;
  /** As in `Admission`. */
  readonly judgedAt?: number;
}
