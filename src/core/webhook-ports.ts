import type { Role } from "../contract/route.ts";
import type { Int64 } from "../contract/shapes.ts";
import type { Delivery, DeliveryState, Webhook } from "../contract/webhook-shapes.ts";
import type { Awaitable } from "./ports.ts";
import type { After } from "./records.ts";

export type DisabledReason = NonNullable<Webhook["disabledReason"]>;
export type FailureReason = NonNullable<Delivery["reason"]>;

/** A webhook, with what must be known of its key and its client to say what it may see. */
export interface WebhookRecord {
  readonly id: number;
  readonly clientId: number;
  /** The key that it acts for. */
  readonly keyId: number;
  readonly role: Role;
  readonly url: string;
  /** `null`: all of them. */
  readonly types: readonly string[] | null;
  readonly description: string | null;
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly previousSecretUntil: number | null;
  /** `null`: it is enabled. */
  readonly disabledReason: DisabledReason | null;
  readonly failingSince: number | null;
  /** Events up to this one are not sent to it. */
  readonly startsAfter: number;
  /** What a replay has still to send: events after the first up to the second. */
  readonly replayAfter: number | null;
  readonly replayUpTo: number | null;
  readonly version: number;
  readonly createdAt: number;
  readonly keyRole: Role;
  readonly keyExpiresAt: number | null;
  readonly keyRevokedAt: number | null;
  readonly clientSuspendedAt: number | null;
  /** When the last key of the client stops working; `null`: none works. */
  readonly keysWorkUntil: number | null;
}

/** What can be changed of a webhook; the rest follows from it or stays. */
export type WebhookChange = Pick<
  WebhookRecord,
  | "keyId"
  | "url"
  | "types"
  | "description"
  | "secret"
  | "previousSecret"
  | "previousSecretUntil"
  | "disabledReason"
  | "failingSince"
  | "startsAfter"
  | "replayAfter"
  | "replayUpTo"
>;

export type NewWebhookRecord = Pick<
  WebhookRecord,
  "clientId" | "keyId" | "role" | "url" | "types" | "description" | "secret" | "startsAfter"
>;

export interface WebhookQuery {
  /** Only of this client. */
  readonly clientId?: Int64 | undefined;
  /** Only of these roles. */
  readonly roles?: readonly Role[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly descending: false;
  readonly after?: After | undefined;
  readonly limit: number;
}

/** How far events have been turned into deliveries, and whether there is anything to do it for. */
export interface FanOut {
  readonly position: number;
  /** The event after which the first enabled webhook begins; `null`: none is enabled. */
  readonly since: number | null;
  /** A webhook that past events are sent to again. */
  readonly replaying: number | null;
}

/** One event on its way to one webhook. */
export interface DeliveryRecord {
  readonly id: number;
  readonly webhookId: number;
  /** The header `webhook-id`. */
  readonly messageId: string;
  readonly type: string;
  /** The client that the event concerns; `null` is the catalogue. */
  readonly aboutClientId: number | null;
  readonly body: string;
  readonly cause: Delivery["cause"];
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is due; while a try is under way, when that counts as lost. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly attemptedAt: number | null;
  readonly reason: FailureReason | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly durationMs: number | null;
}

export interface NewDeliveryRecord {
  readonly webhookId: number;
  /** Of an event's own delivery, of which there is one for each webhook; `null` of all others. */
  readonly eventId: number | null;
  readonly messageId: string;
  readonly type: string;
  readonly aboutClientId: number | null;
  readonly body: string;
  readonly cause: Delivery["cause"];
}

/** What a try has come to. */
export interface DeliveryOutcome {
  readonly id: number;
  /** The number of the try: an outcome that comes after its lease is not noted. */
  readonly attempt: number;
  readonly state: DeliveryState;
  readonly nextAt: number | null;
  readonly reason: FailureReason | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly durationMs: number | null;
}

/** Deliveries that wait. */
export interface DeliveryBacklog {
  readonly isFailing: boolean;
  readonly pending: number;
  /** When the first of them is, or was, due. */
  readonly nextAt: number;
}

/** A webhook that is no more, but for deliveries. */
export interface RemovedWebhook {
  readonly id: number;
  readonly removedAt: number;
}

export interface DeliveryQuery {
  readonly webhookId: number;
  readonly state?: DeliveryState | undefined;
  readonly descending: true;
  readonly after?: After | undefined;
  readonly limit: number;
}

/** What can be asked about webhooks. */
export interface WebhookReads {
  webhook(id: Int64): Awaitable<WebhookRecord | null>;
  webhooks(query: WebhookQuery): Awaitable<WebhookRecord[]>;
  countWebhooks(clientId: number): Awaitable<number>;
  enabledWebhooks(): Awaitable<WebhookRecord[]>;
  fanOut(): Awaitable<FanOut>;
  /** Enabled webhooks with an id above this one that have deliveries due, in the order of their ids. */
  dueWebhooks(now: number, afterId: number, limit: number): Awaitable<WebhookRecord[]>;
  /** What waits for webhooks that are at work, for those whose last try failed and for the others; of each counted up to a hundred. */
  deliveryBacklog(now: number): Awaitable<DeliveryBacklog[]>;
  delivery(id: Int64): Awaitable<DeliveryRecord | null>;
  deliveries(query: DeliveryQuery): Awaitable<DeliveryRecord[]>;
}

/** A webhook while it has this address: what was learned of the address is not said of another. */
export type Addressed = Pick<WebhookRecord, "id" | "url">;

/** What can be changed about webhooks, inside one transaction. */
export interface WebhookWrites {
  addWebhook(webhook: NewWebhookRecord, now: number): Awaitable<WebhookRecord>;
  /** `null`: it is not as it was read. */
  changeWebhook(before: WebhookRecord, change: WebhookChange): Awaitable<WebhookRecord | null>;
  /** Whether it was there; its deliveries are neither shown nor sent from then on, and it is among those whose are to be forgotten. */
  removeWebhook(id: number, now: number): Awaitable<boolean>;
  /** A key's webhooks act for another from now on. */
  handOverWebhooks(fromKeyId: number, toKeyId: number): Awaitable<void>;
  /** How far events have been turned into deliveries; nobody else goes on with it until the transaction ends. */
  lockedFanOut(): Awaitable<number>;
  moveFanOut(position: number): Awaitable<void>;
  /** Of each webhook and event once, however often it is asked. */
  addDeliveries(rows: readonly NewDeliveryRecord[], now: number): Awaitable<void>;
  addDelivery(row: NewDeliveryRecord, now: number): Awaitable<DeliveryRecord>;
  /** Begins a try of some that are due, the oldest first, and forgets the outcome of the last; without one by then it is due again. */
  takeDeliveries(webhookId: number, now: number, until: number, limit: number): Awaitable<DeliveryRecord[]>;
  /** `null`: the try is not the delivery's last one, or has an outcome already. */
  noteDelivery(outcome: DeliveryOutcome): Awaitable<DeliveryRecord | null>;
  /** A failure, of which the first since the last success is kept; or `null` for a success. */
  noteFailing(webhook: Addressed, since: number | null): Awaitable<void>;
  /** Whether it was enabled. */
  disableWebhook(webhook: Addressed, reason: DisabledReason): Awaitable<boolean>;
  /** Drops some of the older deliveries; whether more may be left. */
  forgetDeliveries(before: number): Awaitable<boolean>;
  /** Removed webhooks with an id above this one that may still have deliveries, in the order of their ids. */
  removedWebhooks(afterId: number, limit: number): Awaitable<RemovedWebhook[]>;
  /** Drops so many deliveries of a webhook at the most; how many there were. */
  forgetDeliveriesOf(webhookId: number, limit: number): Awaitable<number>;
  /** Unless it still has deliveries. */
  forgetRemovedWebhook(id: number): Awaitable<void>;
}
