// Generated from the contract by client/generate.ts: `npm run generate` writes it anew.

import type { Call, EventStream, ListCall } from "./call.ts";
import type { CallOptions, ChangeOptions, StreamOptions, WriteOptions } from "./options.ts";

/** Who is calling. */
export interface Account {
  /** The client that the key belongs to. */
  client: {
    /** The record's id. */
    id: number;
    /** Its name. */
    name: string;
    /**
     * `free` 60 requests a minute and 1,000 a day, `pro` 300 and 10,000, `business` 1,000 and 100,000,
     * `enterprise` as agreed.
     */
    plan: Plan;
    /** Requests that it may send in a minute. */
    perMinute: number;
    /** Requests that it may send in a UTC day. */
    perDay: number;
  };
  /** A key without its secret. */
  key: Key;
}

/** Requests a day of one client or of all. */
export interface AdminUsage {
  /** The days, oldest first; every series has one number for each. */
  days: string[];
  /** All requests. */
  total: number[];
  /** Requests by operation; `none` met no operation. */
  byOperation: Record<string, number[]>;
  /** Requests by class of status: 2xx, 3xx, 4xx, 5xx. */
  byStatus: Record<string, number[]>;
  /** The clients with the most requests, at most 20. */
  topClients: {
    /** The client's id. */
    clientId: number;
    /** Its name. */
    name: string;
    /** How many requests it sent. */
    requests: number;
  }[];
}

/** A webhook of any client, without its secret. */
export interface AdminWebhook {
  /** The record's id. */
  id: number;
  /** Where events are sent: https, on a public address, without user name, password and fragment. */
  url: string;
  /** Only events of these types; without it, all that the webhook may see. */
  types?: ("pet.created" | "pet.updated" | "pet.status_changed" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "inventory.changed" | "inventory.depleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "quota.warning" | "key.strike_warning" | "key.banned" | "key.unbanned" | "webhook.disabled")[];
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. */
  enabled: boolean;
  /**
   * Why it is not enabled: the client asked for it, the receiver answered 410, nothing was delivered for 5
   * days, or the operator disabled it, and then only the operator enables it again.
   */
  disabledReason?: "asked" | "gone" | "failing" | "operator";
  /** When the first try failed since the last success. */
  failingSince?: string;
  /** What a key may do; each role includes the ones before it. */
  role: Role;
  /**
   * `own`: the catalogue, and the client's own orders, keys, quota and webhooks. `all`: every event, while
   * the key in `keyId` works and is staff's.
   */
  sees: "own" | "all";
  /** The client's key that made it or changed it last. */
  keyId: number;
  /** Until then deliveries are signed with the previous secret as well. */
  previousSecretUntil?: string;
  /** Whether past events are being sent again. */
  replaying: boolean;
  /** When it was made. */
  createdAt: string;
  /** The client that it belongs to. */
  clientId: number;
}

/** What an operator can change of a client's webhook. An `id` must be the path's. */
export interface AdminWebhookUpdate {
  /** The record's id. */
  id?: number | bigint;
  /**
   * `false` sends nothing more, and the client cannot enable it; `true` sends what still waits, and then what
   * happens from now on.
   */
  enabled?: boolean;
}

/** Something that an admin, or a client with its keys, did. */
export interface AuditEntry {
  /** The record's id. */
  id: number;
  /** When it happened. */
  at: string;
  /** What was done, such as `pets.list`. */
  operation: string;
  /** `key 7`, or `command line`. */
  by: string;
  /** What was changed, such as `clients/2`. */
  subject: string;
  /** What was asked for, as JSON. */
  input: string;
}

/** A ban in force. */
export interface Ban {
  /** The key's id. */
  keyId: number;
  /** The client's id. */
  clientId: number;
  /** Earned by repeated requests after a 429, or imposed. */
  cause: "strikes" | "admin";
  /** Why, if that was told. */
  reason?: string;
  /** How many bans in a row this is; 0 if it was imposed. */
  level: number;
  /** When it began. */
  since: string;
  /** When it ends. */
  until: string;
}

/** A category of animals. */
export interface Category {
  /** The record's id. */
  id: number;
  /** For example a kind of animal. Names need not be unique. */
  name: string;
  /** A short description. */
  description?: string;
}

/** `category.created`. */
export interface CategoryCreatedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "category.created";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** A category of animals. */
  data: Category;
}

/** `category.deleted`. */
export interface CategoryDeletedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "category.deleted";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** A category of animals. */
  data: Category;
}

/** A whole category. An `id` must be the path's. */
export interface CategoryReplacement {
  /** The record's id. */
  id?: number | bigint;
  /** For example a kind of animal. Names need not be unique. */
  name: string;
  /** A short description. */
  description?: string;
}

/** The fields of a category to change; `null` clears the description. An `id` must be the path's. */
export interface CategoryUpdate {
  /** The record's id. */
  id?: number | bigint;
  /** Its name. */
  name?: string;
  /** A short description. */
  description?: string | null;
}

/** `category.updated`. */
export interface CategoryUpdatedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "category.updated";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** A category of animals. */
  data: Category;
}

/** Who the limits apply to. */
export interface Client {
  /** The record's id. */
  id: number;
  /** What the client is called. */
  name: string;
  /**
   * `free` 60 requests a minute and 1,000 a day, `pro` 300 and 10,000, `business` 1,000 and 100,000,
   * `enterprise` as agreed.
   */
  plan: Plan;
  /** Requests a minute; given with enterprise, and only there. */
  perMinute: number;
  /** Requests a day; given with enterprise, and only there. */
  perDay: number;
  /** Whether all its keys are refused. */
  suspended: boolean;
  /** When it was made. */
  createdAt: string;
}

/** The fields of a client to change. The counters go on as they are. An `id` must be the path's. */
export interface ClientUpdate {
  /** The record's id. */
  id?: number | bigint;
  /** What the client is called. */
  name?: string;
  /**
   * `free` 60 requests a minute and 1,000 a day, `pro` 300 and 10,000, `business` 1,000 and 100,000,
   * `enterprise` as agreed.
   */
  plan?: Plan;
  /** Requests a minute; given with enterprise, and only there. */
  perMinute?: number;
  /** Requests a day; given with enterprise, and only there. */
  perDay?: number;
  /** `true` refuses all its keys, `false` lets them in again. */
  suspended?: boolean;
}

/** A new key. */
export interface CreatedKey {
  /** The record's id. */
  id: number;
  /** The client's id. */
  clientId: number;
  /** What a key may do; each role includes the ones before it. */
  role: Role;
  /** Its name. */
  name?: string;
  /** The last four characters of the key. */
  lastFour: string;
  /** When it was made. */
  createdAt: string;
  /** To the minute. */
  lastUsedAt?: string;
  /** When it stops working, if it does. */
  expiresAt?: string;
  /** When it was revoked, if it was. */
  revokedAt?: string;
  /** Until when the key is banned, if it is. */
  bannedUntil?: string;
  /** The key itself, shown this once; a replayed answer leaves it out. */
  key?: string;
}

/** A webhook with its new secret. */
export interface CreatedWebhook {
  /** The record's id. */
  id: number;
  /** Where events are sent: https, on a public address, without user name, password and fragment. */
  url: string;
  /** Only events of these types; without it, all that the webhook may see. */
  types?: ("pet.created" | "pet.updated" | "pet.status_changed" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "inventory.changed" | "inventory.depleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "quota.warning" | "key.strike_warning" | "key.banned" | "key.unbanned" | "webhook.disabled")[];
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. */
  enabled: boolean;
  /**
   * Why it is not enabled: the client asked for it, the receiver answered 410, nothing was delivered for 5
   * days, or the operator disabled it, and then only the operator enables it again.
   */
  disabledReason?: "asked" | "gone" | "failing" | "operator";
  /** When the first try failed since the last success. */
  failingSince?: string;
  /** What a key may do; each role includes the ones before it. */
  role: Role;
  /**
   * `own`: the catalogue, and the client's own orders, keys, quota and webhooks. `all`: every event, while
   * the key in `keyId` works and is staff's.
   */
  sees: "own" | "all";
  /** The client's key that made it or changed it last. */
  keyId: number;
  /** Until then deliveries are signed with the previous secret as well. */
  previousSecretUntil?: string;
  /** Whether past events are being sent again. */
  replaying: boolean;
  /** When it was made. */
  createdAt: string;
  /**
   * What deliveries are signed with, `whsec_` and base64, shown this once; a replayed answer leaves it out.
   */
  secret?: string;
}

/** One event on its way to one webhook, with the outcome of the last try. */
export interface Delivery {
  /** The record's id. */
  id: number;
  /** The webhook's id. */
  webhookId: number;
  /** The event's id, and the header `webhook-id`: the same in every try. */
  messageId: string;
  /** The event's type; `webhook.ping` of a ping. */
  type: string;
  /** Why it is sent. */
  cause: "event" | "resend" | "replay" | "ping";
  /** `pending` waits for its first or next try, `delivered` was answered 2xx, `failed` is given up. */
  state: DeliveryState;
  /** Tries that were begun. */
  attempts: number;
  /** When it was made. */
  createdAt: string;
  /** When the last try began. */
  attemptedAt?: string;
  /** When it is tried next; of a try under way, when it counts as lost. */
  nextAttemptAt?: string;
  /** What is sent: the event as JSON. */
  requestBody: string;
  /** Why the last try failed. `not_permitted`: the webhook may not see the event any more. */
  reason?: "timeout" | "dns" | "private_address" | "connection_refused" | "connection_reset" | "connection_failed" | "tls" | "invalid_response" | "redirect" | "gone" | "status_4xx" | "status_5xx" | "not_permitted";
  /** The status that the receiver answered the last try with. */
  responseStatus?: number;
  /** The first 1,000 characters of its body. */
  responseBody?: string;
  /** How long the last try took. */
  durationMs?: number;
}

/** `pending` waits for its first or next try, `delivered` was answered 2xx, `failed` is given up. */
export type DeliveryState = "pending" | "delivered" | "failed";

/** Every failure has this body. */
export interface ErrorBody {
  /** Machine-readable and stable. */
  code: string;
  /** What was wrong and what to do. */
  message: string;
  /** The HTTP status code. */
  status: number;
  /** Every problem of a refused request. */
  details?: ErrorDetail[];
}

/** One problem of a request. */
export interface ErrorDetail {
  /** The field or parameter. */
  field: string;
  /** What is wrong with it. */
  message: string;
}

/** What happened. */
export type EventType = "pet.created" | "pet.updated" | "pet.status_changed" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "inventory.changed" | "inventory.depleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "quota.warning" | "key.strike_warning" | "key.banned" | "key.unbanned" | "webhook.disabled";

/** `inventory.changed`. */
export interface InventoryChangedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "inventory.changed";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The stock of a pet after a change, and the change. */
  data: StockChange;
}

/** `inventory.depleted`. */
export interface InventoryDepletedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "inventory.depleted";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The stock of a pet. */
  data: InventoryItem;
}

/** The stock of a pet. */
export interface InventoryItem {
  /** The pet's id. */
  petId: number;
  /** Units that can be ordered now. */
  quantity: number;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status: PetStatus;
}

/** What sets the stock of a pet. */
export interface InventoryUpdate {
  /** The new stock count. */
  quantity: number;
}

/** A key without its secret. */
export interface Key {
  /** The record's id. */
  id: number;
  /** The client's id. */
  clientId: number;
  /** What a key may do; each role includes the ones before it. */
  role: Role;
  /** Its name. */
  name?: string;
  /** The last four characters of the key. */
  lastFour: string;
  /** When it was made. */
  createdAt: string;
  /** To the minute. */
  lastUsedAt?: string;
  /** When it stops working, if it does. */
  expiresAt?: string;
  /** When it was revoked, if it was. */
  revokedAt?: string;
  /** Until when the key is banned, if it is. */
  bannedUntil?: string;
}

/** A key is refused for a time. */
export interface KeyBan {
  /** The key's id. */
  keyId: number;
  /** The client's id. */
  clientId: number;
  /** Whether strikes or an admin banned it. */
  cause: "strikes" | "admin";
  /** How many bans were earned before, lately. */
  level: number;
  /** When the ban ends. */
  until: string;
}

/** `key.banned`. */
export interface KeyBannedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "key.banned";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** A key is refused for a time. */
  data: KeyBan;
}

/** `key.strike_warning`. */
export interface KeyStrikeWarningEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "key.strike_warning";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** A key has half of the strikes that ban it. */
  data: StrikeWarning;
}

/** A key's ban was lifted before its end. */
export interface KeyUnban {
  /** The key's id. */
  keyId: number;
  /** The client's id. */
  clientId: number;
}

/** `key.unbanned`. */
export interface KeyUnbannedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "key.unbanned";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** A key's ban was lifted before its end. */
  data: KeyUnban;
}

/** Both windows of the client, and how the key stands. Asking costs nothing. */
export interface Limits {
  /** The minute that opened with the first request in it. */
  minute: {
    /** Requests that the window allows. */
    limit: number;
    /** Requests that are left of it. */
    remaining: number;
    /** Unix seconds. */
    resetAt: number;
  };
  /** The UTC day. */
  day: {
    /** Requests that the window allows. */
    limit: number;
    /** Requests that are left of it. */
    remaining: number;
    /** Unix seconds. */
    resetAt: number;
  };
  /** A strike is a request that gets 429 after the grace. */
  strikes: {
    /** Strikes of this key that still count. */
    count: number;
    /** The strike that bans. */
    threshold: number;
    /** How long a strike counts. */
    windowSeconds: number;
    /** After the first 429 of a window; requests within it are forgiven. */
    graceSeconds: number;
  };
  /** Bans of this key, less one for each full day of good conduct. */
  banLevel: number;
  /** How long the next ban would last. */
  nextBanMinutes: number;
  /** Until when the key is banned, if it is. */
  bannedUntil?: string;
}

/** One change of stock; movements are never changed or removed. */
export interface Movement {
  /** The record's id. */
  id: number;
  /** The pet's id. */
  petId: number;
  /** Units added, or taken if negative. */
  change: number;
  /** The stock after the change. */
  balance: number;
  /** Why stock changed. */
  reason: MovementReason;
  /** The order that caused it, if one did. */
  orderId?: number;
  /** When it happened. */
  at: string;
}

/** Why stock changed. */
export type MovementReason = "created" | "ordered" | "changed" | "cancelled" | "restocked" | "sold" | "returned" | "removed";

/** What bans a key. */
export interface NewBan {
  /** How long it lasts. */
  minutes: number;
  /** Why, for the audit trail and the list of bans. */
  reason?: string;
}

/** What creates a category. */
export interface NewCategory {
  /** For example a kind of animal. Names need not be unique. */
  name: string;
  /** A short description. */
  description?: string;
}

/** What creates a client. */
export interface NewClient {
  /** What the client is called. */
  name: string;
  /**
   * `free` 60 requests a minute and 1,000 a day, `pro` 300 and 10,000, `business` 1,000 and 100,000,
   * `enterprise` as agreed.
   */
  plan?: Plan;
  /** Requests a minute; given with enterprise, and only there. */
  perMinute?: number;
  /** Requests a day; given with enterprise, and only there. */
  perDay?: number;
}

/** What creates a key. */
export interface NewKey {
  /** What a key may do; each role includes the ones before it. */
  role?: Role;
  /** What the key is for. */
  name?: string;
  /** When it stops working; without it, never. */
  expiresInDays?: number;
}

/** What places an order; without `petId` it is a draft. */
export interface NewOrder {
  /** Ignored: the service assigns it. */
  id?: number | bigint;
  /** The pet that is ordered; without one the order is a draft. */
  petId?: number | bigint;
  /** Units ordered; 1 if a pet is given without it. */
  quantity?: number;
  /** Expected or actual ship date. */
  shipDate?: string;
  /** Whether the order has been fulfilled. */
  complete?: boolean;
}

/** What creates a pet. */
export interface NewPet {
  /** The animal's name. */
  name: string;
  /** The category that the animal belongs to. */
  categoryId: number | bigint;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status?: PetStatus;
}

/** What sends past events again. */
export interface NewReplay {
  /** Events from this time on are sent again. */
  since: string;
}

/** What creates a webhook. */
export interface NewWebhook {
  /** Where events are sent: https, on a public address, without user name, password and fragment. */
  url: string;
  /** Only events of these types; without it, all that the webhook may see. */
  types?: ("pet.created" | "pet.updated" | "pet.status_changed" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "inventory.changed" | "inventory.depleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "quota.warning" | "key.strike_warning" | "key.banned" | "key.unbanned" | "webhook.disabled")[];
  /** What the webhook is for. */
  description?: string;
}

/** An order of a pet. */
export interface Order {
  /** The pet's id. */
  petId?: number;
  /** Units ordered; 1 if a pet is given without it. */
  quantity?: number;
  /** Expected or actual ship date. */
  shipDate?: string;
  /** Whether the order has been fulfilled. */
  complete?: boolean;
  /** The record's id. */
  id?: number;
}

/** `order.cancelled`. */
export interface OrderCancelledEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "order.cancelled";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** An order of a pet. */
  data: Order;
}

/** `order.completed`. */
export interface OrderCompletedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "order.completed";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** An order of a pet. */
  data: Order;
}

/** `order.placed`. */
export interface OrderPlacedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "order.placed";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** An order of a pet. */
  data: Order;
}

/**
 * The fields of an open order to change; `petId: null` makes it a draft again. An `id` must be the path's.
 */
export interface OrderUpdate {
  /** The record's id. */
  id?: number | bigint;
  /** The pet that is ordered; without one the order is a draft. */
  petId?: number | bigint | null;
  /** Units ordered; 1 if a pet is given without it. */
  quantity?: number | null;
  /** Expected or actual ship date. */
  shipDate?: string | null;
  /** Whether the order has been fulfilled. */
  complete?: boolean;
}

/** `order.updated`. */
export interface OrderUpdatedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "order.updated";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** An order of a pet. */
  data: Order;
}

/** An animal of the store. */
export interface Pet {
  /** Assigned on creation. */
  id: number;
  /** The animal's name. */
  name: string;
  /** The category that the animal belongs to. */
  categoryId: number;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status?: PetStatus;
}

/** `pet.created`. */
export interface PetCreatedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "pet.created";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** An animal of the store. */
  data: Pet;
}

/** `pet.deleted`. */
export interface PetDeletedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "pet.deleted";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** An animal of the store. */
  data: Pet;
}

/** A whole pet; without `status` the pet keeps its own. An `id` must be the path's. */
export interface PetReplacement {
  /** The record's id. */
  id?: number | bigint;
  /** The animal's name. */
  name: string;
  /** The category that the animal belongs to. */
  categoryId: number | bigint;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status?: PetStatus;
}

/** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
export type PetStatus = "available" | "pending" | "sold";

/** A pet as it is now, and the status that it had. */
export interface PetStatusChange {
  /** Assigned on creation. */
  id: number;
  /** The animal's name. */
  name: string;
  /** The category that the animal belongs to. */
  categoryId: number;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status?: PetStatus;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  previousStatus: PetStatus;
}

/** `pet.status_changed`. */
export interface PetStatusChangedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "pet.status_changed";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** A pet as it is now, and the status that it had. */
  data: PetStatusChange;
}

/** The fields of a pet to change. An `id` must be the path's. */
export interface PetUpdate {
  /** The record's id. */
  id?: number | bigint;
  /** The animal's name. */
  name?: string;
  /** The category that the animal belongs to. */
  categoryId?: number | bigint;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status?: PetStatus;
}

/** `pet.updated`. */
export interface PetUpdatedEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "pet.updated";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** An animal of the store. */
  data: Pet;
}

/**
 * `free` 60 requests a minute and 1,000 a day, `pro` 300 and 10,000, `business` 1,000 and 100,000,
 * `enterprise` as agreed.
 */
export type Plan = "free" | "pro" | "business" | "enterprise";

/** A client has spent most of its day's requests. */
export interface QuotaWarning {
  /** The client's id. */
  clientId: number;
  /** Requests that the client may send in a UTC day. */
  limit: number;
  /** Requests that are spent. */
  used: number;
  /** When the day ends, in Unix seconds. */
  resetAt: number;
}

/** `quota.warning`. */
export interface QuotaWarningEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "quota.warning";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** A client has spent most of its day's requests. */
  data: QuotaWarning;
}

/** What a key may do; each role includes the ones before it. */
export type Role = "customer" | "staff" | "admin";

/** What replaces a key by a new one. */
export interface Rotation {
  /** How long the old key still works, in days; 0 ends it at once. */
  overlapDays?: number;
}

/** What replaces the secret of a webhook by a new one. */
export interface SecretRotation {
  /** How long deliveries are signed with the old secret as well, in hours. */
  overlapHours?: number;
}

/** The stock of a pet after a change, and the change. */
export interface StockChange {
  /** The pet's id. */
  petId: number;
  /** Units that can be ordered now. */
  quantity: number;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status: PetStatus;
  /** Units added, or taken if negative. */
  change: number;
}

/** Something that happened in the store, as a CloudEvent. */
export type StoreEvent = PetCreatedEvent | PetUpdatedEvent | PetStatusChangedEvent | PetDeletedEvent | CategoryCreatedEvent | CategoryUpdatedEvent | CategoryDeletedEvent | InventoryChangedEvent | InventoryDepletedEvent | OrderPlacedEvent | OrderUpdatedEvent | OrderCompletedEvent | OrderCancelledEvent | QuotaWarningEvent | KeyStrikeWarningEvent | KeyBannedEvent | KeyUnbannedEvent | WebhookDisabledEvent;

/** A pet with its category and its stock. */
export interface StorePet {
  /** Assigned on creation. */
  id: number;
  /** The animal's name. */
  name: string;
  /** The category that the animal belongs to. */
  categoryId: number;
  /** `available` can be ordered, `pending` is held or waits for its open orders, `sold` is gone. */
  status: PetStatus;
  /** A category of animals. */
  category: Category;
  /** Units that can be ordered now. */
  quantity: number;
}

/** A key has half of the strikes that ban it. */
export interface StrikeWarning {
  /** The key's id. */
  keyId: number;
  /** The client's id. */
  clientId: number;
  /** Strikes that count now. */
  strikes: number;
  /** The strike that bans the key. */
  threshold: number;
}

/** Requests a day, as series for a chart. */
export interface Usage {
  /** The days, oldest first; every series has one number for each. */
  days: string[];
  /** All requests. */
  total: number[];
  /** Requests by operation; `none` met no operation. */
  byOperation: Record<string, number[]>;
  /** Requests by class of status: 2xx, 3xx, 4xx, 5xx. */
  byStatus: Record<string, number[]>;
}

/** An address that events are sent to, without its secret. */
export interface Webhook {
  /** The record's id. */
  id: number;
  /** Where events are sent: https, on a public address, without user name, password and fragment. */
  url: string;
  /** Only events of these types; without it, all that the webhook may see. */
  types?: ("pet.created" | "pet.updated" | "pet.status_changed" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "inventory.changed" | "inventory.depleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "quota.warning" | "key.strike_warning" | "key.banned" | "key.unbanned" | "webhook.disabled")[];
  /** What the webhook is for. */
  description?: string;
  /** Whether events are sent. */
  enabled: boolean;
  /**
   * Why it is not enabled: the client asked for it, the receiver answered 410, nothing was delivered for 5
   * days, or the operator disabled it, and then only the operator enables it again.
   */
  disabledReason?: "asked" | "gone" | "failing" | "operator";
  /** When the first try failed since the last success. */
  failingSince?: string;
  /** What a key may do; each role includes the ones before it. */
  role: Role;
  /**
   * `own`: the catalogue, and the client's own orders, keys, quota and webhooks. `all`: every event, while
   * the key in `keyId` works and is staff's.
   */
  sees: "own" | "all";
  /** The client's key that made it or changed it last. */
  keyId: number;
  /** Until then deliveries are signed with the previous secret as well. */
  previousSecretUntil?: string;
  /** Whether past events are being sent again. */
  replaying: boolean;
  /** When it was made. */
  createdAt: string;
}

/** Events are no longer sent to a webhook. */
export interface WebhookDisabled {
  /** The webhook's id. */
  webhookId: number;
  /** The client's id. */
  clientId: number;
  /** The receiver answered 410, nothing was delivered for 5 days, or the operator disabled it. */
  reason: "gone" | "failing" | "operator";
  /** When the first try failed since the last success; of an operator's only if it failed. */
  failingSince?: string;
}

/** `webhook.disabled`. */
export interface WebhookDisabledEvent {
  /** The version of CloudEvents. */
  specversion: "1.0";
  /** The event's number in the log, as `after` and `Last-Event-ID` take it. */
  id: string;
  /** Where it comes from; with the id it names the event. */
  source: "/petstore";
  /** What happened. */
  type: "webhook.disabled";
  /** What it happened to, such as `pets/7`. */
  subject: string;
  /** When it happened. */
  time: string;
  /** What the data is. */
  datacontenttype: "application/json";
  /** The id of the client that it concerns. */
  clientid: string;
  /** Events are no longer sent to a webhook. */
  data: WebhookDisabled;
}

/**
 * The fields of a webhook to change; `null` clears the types or the description. An `id` must be the path's.
 */
export interface WebhookUpdate {
  /** The record's id. */
  id?: number | bigint;
  /** Where events are sent: https, on a public address, without user name, password and fragment. */
  url?: string;
  /** Only events of these types; without it, all that the webhook may see. */
  types?: ("pet.created" | "pet.updated" | "pet.status_changed" | "pet.deleted" | "category.created" | "category.updated" | "category.deleted" | "inventory.changed" | "inventory.depleted" | "order.placed" | "order.updated" | "order.completed" | "order.cancelled" | "quota.warning" | "key.strike_warning" | "key.banned" | "key.unbanned" | "webhook.disabled")[] | null;
  /** What the webhook is for. */
  description?: string | null;
  /** `false` sends nothing more; `true` sends what still waits, and then what happens from now on. */
  enabled?: boolean;
}

/** What `pets.list` can be asked for. */
export interface PetsListQuery {
  /** Only these pets; may be repeated. */
  id?: readonly (number | bigint)[] | undefined;
  /** Only pets of these statuses; may be repeated. */
  status?: readonly PetStatus[] | undefined;
  /** Only pets of this category. */
  categoryId?: number | bigint | undefined;
  /** Only pets whose name starts so, in any case. */
  name?: string | undefined;
  /** The order; `-` is downward. `id` by default, `name` with a `name` filter. */
  sort?: "id" | "-id" | "name" | "-name" | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `categories.list` can be asked for. */
export interface CategoriesListQuery {
  /** Only categories whose name starts so, in any case. */
  name?: string | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `orders.list` can be asked for. */
export interface OrdersListQuery {
  /** Only orders of this pet. */
  petId?: number | bigint | undefined;
  /** Only completed, or only open, orders. */
  complete?: boolean | undefined;
  /** Only orders with a ship date at or after this time. */
  shippedAfter?: string | undefined;
  /** Only orders with a ship date before this time. */
  shippedBefore?: string | undefined;
  /** The order; `-` is downward. `id` by default, `shipDate` with a filter of ship dates. */
  sort?: "id" | "-id" | "shipDate" | "-shipDate" | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `inventory.list` can be asked for. */
export interface InventoryListQuery {
  /** Only entries of these statuses; may be repeated. */
  status?: readonly PetStatus[] | undefined;
  /** Only entries with at most this stock. */
  maxQuantity?: number | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `inventory.movements` can be asked for. */
export interface InventoryMovementsQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `events.list` can be asked for. */
export interface EventsListQuery {
  /** Only events of these types; may be repeated. */
  type?: readonly EventType[] | undefined;
  /** Only events after the one with this id: the last that you have dealt with. */
  after?: string | undefined;
  /**
   * Where to start: a time (RFC 3339), or `now`. Nothing from then on is left out; some that are up to a
   * minute older may come first.
   */
  since?: string | "now" | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `events.stream` can be asked for. */
export interface EventsStreamQuery {
  /** Only events of these types; may be repeated. */
  type?: readonly EventType[] | undefined;
  /** As the header `Last-Event-ID`, for those who cannot send it; the header goes before. */
  lastEventId?: string | undefined;
}

/** What `webhooks.list` can be asked for. */
export interface WebhooksListQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `webhooks.deliveries.list` can be asked for. */
export interface WebhooksDeliveriesListQuery {
  /** Only deliveries in this state. */
  state?: DeliveryState | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `account.usage` can be asked for. */
export interface AccountUsageQuery {
  /** The first UTC day; 29 days before `to` by default. */
  from?: string | undefined;
  /** The last UTC day; today by default. */
  to?: string | undefined;
}

/** What `account.keys.list` can be asked for. */
export interface AccountKeysListQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `admin.clients.list` can be asked for. */
export interface AdminClientsListQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `admin.keys.list` can be asked for. */
export interface AdminKeysListQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `admin.bans.list` can be asked for. */
export interface AdminBansListQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `admin.webhooks.list` can be asked for. */
export interface AdminWebhooksListQuery {
  /** Only webhooks of this client. */
  clientId?: number | bigint | undefined;
  /** Only webhooks that are enabled, or that are not. */
  enabled?: boolean | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `admin.webhooks.deliveries.list` can be asked for. */
export interface AdminWebhooksDeliveriesListQuery {
  /** Only deliveries in this state. */
  state?: DeliveryState | undefined;
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** What `admin.usage` can be asked for. */
export interface AdminUsageQuery {
  /** Only this client. */
  clientId?: number | bigint | undefined;
  /** The first UTC day; 29 days before `to` by default. */
  from?: string | undefined;
  /** The last UTC day; today by default. */
  to?: string | undefined;
}

/** What `admin.audit` can be asked for. */
export interface AdminAuditQuery {
  /** Records on a page. */
  limit?: number | undefined;
  /** Where the page starts: from the `Link` header of the page before. */
  cursor?: string | undefined;
}

/** The operations under `pets`. */
export interface PetsResource {
  /**
   * List pets.
   * With a `name` filter the pets come in the order of their names; otherwise in the order of `sort`.
   * GET /pets, for keys of the role customer or above.
   */
  list(query?: PetsListQuery, options?: CallOptions): ListCall<Pet>;
  /**
   * Create a pet.
   * A new pet is one animal: its stock is 1 (0 if it is created `sold`). Created `pending`, it is held.
   * POST /pets, for keys of the role staff or above.
   */
  create(body: NewPet, options?: WriteOptions): Call<Pet>;
  /**
   * Create many pets.
   * 1 to 1,000 pets, all or none of them.
   * POST /pets/batch, for keys of the role staff or above.
   * It is experimental and may change.
   */
  createMany(body: readonly NewPet[], options?: WriteOptions): Call<Pet[]>;
  /**
   * Get a pet (deprecated).
   * Use `GET /store/pets/{petId}`, which also gives the category and the stock.
   * GET /pets/{petId}, for keys of the role customer or above.
   * @deprecated Use `store.pet`.
   */
  get(petId: number | bigint, options?: CallOptions): Call<Pet>;
  /**
   * Replace a pet.
   * Without `status` the pet keeps its own. `If-Match` takes the ETag of either representation of the pet.
   * PUT /pets/{petId}, for keys of the role staff or above.
   */
  replace(petId: number | bigint, body: PetReplacement, options?: ChangeOptions): Call<Pet>;
  /**
   * Change a pet.
   * A JSON merge patch. `If-Match` takes the ETag of either representation of the pet.
   * PATCH /pets/{petId}, for keys of the role staff or above.
   */
  update(petId: number | bigint, body: PetUpdate, options?: ChangeOptions): Call<Pet>;
  /**
   * Remove a pet.
   * Completed orders keep the pet's id, and its movements stay in the ledger.
   * DELETE /pets/{petId}, for keys of the role staff or above.
   */
  remove(petId: number | bigint, options?: ChangeOptions): Call<undefined>;
}

/** The operations under `categories`. */
export interface CategoriesResource {
  /**
   * List categories.
   * With a `name` filter the categories come in the order of their names; otherwise of their ids.
   * GET /categories, for keys of the role customer or above.
   */
  list(query?: CategoriesListQuery, options?: CallOptions): ListCall<Category>;
  /**
   * Create a category.
   * POST /categories, for keys of the role staff or above.
   */
  create(body: NewCategory, options?: WriteOptions): Call<Category>;
  /**
   * Get a category.
   * GET /categories/{categoryId}, for keys of the role customer or above.
   */
  get(categoryId: number | bigint, options?: CallOptions): Call<Category>;
  /**
   * Replace a category.
   * Without `description` the category has none afterwards.
   * PUT /categories/{categoryId}, for keys of the role staff or above.
   */
  replace(categoryId: number | bigint, body: CategoryReplacement, options?: ChangeOptions): Call<Category>;
  /**
   * Change a category.
   * A JSON merge patch; `description: null` clears the description.
   * PATCH /categories/{categoryId}, for keys of the role staff or above.
   */
  update(categoryId: number | bigint, body: CategoryUpdate, options?: ChangeOptions): Call<Category>;
  /**
   * Remove a category.
   * DELETE /categories/{categoryId}, for keys of the role staff or above.
   */
  remove(categoryId: number | bigint, options?: ChangeOptions): Call<undefined>;
}

/** The operations under `store`. */
export interface StoreResource {
  /**
   * Get a pet with its category and stock.
   * GET /store/pets/{petId}, for keys of the role customer or above.
   */
  pet(petId: number | bigint, options?: CallOptions): Call<StorePet>;
}

/** The operations under `orders`. */
export interface OrdersResource {
  /**
   * List orders.
   * A customer sees the orders of its own client, staff see all. With `shippedAfter` or `shippedBefore` they
   * come in the order of their ship dates, otherwise of their ids.
   * GET /store/orders, for keys of the role customer or above.
   */
  list(query?: OrdersListQuery, options?: CallOptions): ListCall<Order>;
  /**
   * Place an order.
   * Takes the units from stock at once. Without `petId` the order is a draft and holds nothing. With
   * `complete: true` it is a sale over the counter.
   * POST /store/orders, for keys of the role customer or above.
   */
  place(body?: NewOrder, options?: WriteOptions): Call<Order>;
  /**
   * Get an order.
   * GET /store/orders/{orderId}, for keys of the role customer or above.
   */
  get(orderId: number | bigint, options?: CallOptions): Call<Order>;
  /**
   * Change or complete an order.
   * A JSON merge patch. More units are taken from stock, fewer go back; another pet exchanges both; `petId:
   * null` makes a draft; `complete: true` completes, and sets `shipDate` to now unless one is given.
   * PATCH /store/orders/{orderId}, for keys of the role customer or above.
   */
  update(orderId: number | bigint, body: OrderUpdate, options?: ChangeOptions): Call<Order>;
  /**
   * Cancel an order.
   * The units go back to stock and the record is gone.
   * DELETE /store/orders/{orderId}, for keys of the role customer or above.
   */
  cancel(orderId: number | bigint, options?: ChangeOptions): Call<undefined>;
}

/** The operations under `inventory`. */
export interface InventoryResource {
  /**
   * List stock.
   * With `maxQuantity`, which is for stock that runs low, the entries come lowest first; otherwise in the
   * order of their pets' ids.
   * GET /store/inventory, for keys of the role customer or above.
   */
  list(query?: InventoryListQuery, options?: CallOptions): ListCall<InventoryItem>;
  /**
   * Get the stock of a pet.
   * GET /store/inventory/{petId}, for keys of the role customer or above.
   */
  get(petId: number | bigint, options?: CallOptions): Call<InventoryItem>;
  /**
   * Set the stock of a pet.
   * Stock is what can be ordered now; units in open orders are not part of it. 0 makes the pet `sold`, or
   * `pending` while orders are open; stock that rises from 0 makes it `available`.
   * PUT /store/inventory/{petId}, for keys of the role staff or above.
   */
  set(petId: number | bigint, body: InventoryUpdate, options?: ChangeOptions): Call<InventoryItem>;
  /**
   * List the movements of a pet's stock.
   * The ledger, newest first; it outlives the pet. The changes of a pet add up to its stock.
   * GET /store/inventory/{petId}/movements, for keys of the role staff or above.
   * It is beta and may change.
   */
  movements(petId: number | bigint, query?: InventoryMovementsQuery, options?: CallOptions): ListCall<Movement>;
}

/** The operations under `events`. */
export interface EventsResource {
  /**
   * List events.
   * What happened in the store, oldest first. Customers see the catalogue's events and those of their own
   * client, staff all. The link `monitor` is always there: it leads to what happens after this page.
   * GET /events, for keys of the role customer or above.
   * It is beta and may change.
   */
  list(query?: EventsListQuery, options?: CallOptions): ListCall<StoreEvent>;
  /**
   * Stream events.
   * Server-sent events: `id` is the event's, `event` its type, `data` the event as `GET /events` gives it.
   * Without a last id it starts now. It costs one request, however long it lasts, and ends when its key may
   * no longer ask or the server stops: connect again with the last id, as browsers do by themselves.
   * GET /events/stream, for keys of the role customer or above.
   * It is beta and may change.
   */
  stream(query?: EventsStreamQuery, options?: StreamOptions): EventStream<StoreEvent>;
}

/** The operations under `webhooks.deliveries`. */
export interface WebhooksDeliveriesResource {
  /**
   * List the deliveries of a webhook.
   * Newest first, for as long as they are kept.
   * GET /webhooks/{webhookId}/deliveries, for keys of the role customer or above.
   * It is beta and may change.
   */
  list(webhookId: number | bigint, query?: WebhooksDeliveriesListQuery, options?: CallOptions): ListCall<Delivery>;
  /**
   * Get a delivery.
   * GET /webhooks/{webhookId}/deliveries/{deliveryId}, for keys of the role customer or above.
   * It is beta and may change.
   */
  get(webhookId: number | bigint, deliveryId: number | bigint, options?: CallOptions): Call<Delivery>;
  /**
   * Send a delivery again.
   * As a new delivery with the same event and the same `webhook-id`; the old one stays as it is.
   * POST /webhooks/{webhookId}/deliveries/{deliveryId}/resend, for keys of the role customer or above.
   * It is beta and may change.
   */
  resend(webhookId: number | bigint, deliveryId: number | bigint, options?: WriteOptions): Call<Delivery>;
}

/** The operations under `webhooks`. */
export interface WebhooksResource {
  /**
   * List the client's webhooks.
   * Webhooks of a role above the asking key's are not shown.
   * GET /webhooks, for keys of the role customer or above.
   * It is beta and may change.
   */
  list(query?: WebhooksListQuery, options?: CallOptions): ListCall<Webhook>;
  /**
   * Make a webhook.
   * Events from now on are sent to the address, signed with the secret that this answer shows once, and a
   * repetition with the same `Idempotency-Key` not again. A webhook sees what the key that makes it may see.
   * A client has at most 20.
   * POST /webhooks, for keys of the role customer or above.
   * It is beta and may change.
   */
  create(body: NewWebhook, options?: WriteOptions): Call<CreatedWebhook>;
  /**
   * Get a webhook.
   * GET /webhooks/{webhookId}, for keys of the role customer or above.
   * It is beta and may change.
   */
  get(webhookId: number | bigint, options?: CallOptions): Call<Webhook>;
  /**
   * Change, disable or enable a webhook.
   * A JSON merge patch. The webhook then acts for the key that asks. What waits when it is disabled is sent
   * when it is enabled; what happens in between is not, but a replay sends it.
   * PATCH /webhooks/{webhookId}, for keys of the role customer or above.
   * It is beta and may change.
   */
  update(webhookId: number | bigint, body: WebhookUpdate, options?: ChangeOptions): Call<Webhook>;
  /**
   * Remove a webhook.
   * Nothing more is sent to it, and its deliveries are gone: not shown at once, and deleted within minutes.
   * DELETE /webhooks/{webhookId}, for keys of the role customer or above.
   * It is beta and may change.
   */
  remove(webhookId: number | bigint, options?: ChangeOptions): Call<undefined>;
  /**
   * Replace the secret of a webhook.
   * The answer shows the new secret once, and a repetition with the same `Idempotency-Key` not again. For the
   * overlap deliveries carry a signature of each of the two. Of old secrets only the last is kept: a second
   * rotation within the overlap ends the first secret at once. If the answer is lost, so is the secret: then
   * make another webhook, and remove this one when the receiver knows the new secret.
   * POST /webhooks/{webhookId}/rotation, for keys of the role customer or above.
   * It is beta and may change.
   */
  rotate(webhookId: number | bigint, body?: SecretRotation, options?: WriteOptions): Call<CreatedWebhook>;
  /**
   * Send a test event.
   * Sends an event of the type `webhook.ping` at once, and only once. The delivery that it answers has the
   * outcome within 15 seconds: get it until it is not `pending`.
   * POST /webhooks/{webhookId}/ping, for keys of the role customer or above.
   * It is beta and may change.
   */
  ping(webhookId: number | bigint, options?: WriteOptions): Call<Delivery>;
  /**
   * Send past events again.
   * Everything since the time that the webhook may see, delivered before or not, with the same ids; some that
   * are up to a minute older may be among it. One that is under way goes on with the earlier of both times.
   * Events that are no longer kept are not sent.
   * POST /webhooks/{webhookId}/replay, for keys of the role customer or above.
   * It is beta and may change.
   */
  replay(webhookId: number | bigint, body: NewReplay, options?: WriteOptions): Call<Webhook>;
  /** `webhooks.deliveries.list`, `webhooks.deliveries.get`, `webhooks.deliveries.resend` */
  readonly deliveries: WebhooksDeliveriesResource;
}

/** The operations under `account.keys`. */
export interface AccountKeysResource {
  /**
   * List the client's keys.
   * Keys of a role above the asking key's are not shown.
   * GET /account/keys, for keys of the role customer or above.
   */
  list(query?: AccountKeysListQuery, options?: CallOptions): ListCall<Key>;
  /**
   * Make a key.
   * Of a role at most the asking key's. The new key starts with the most strikes and the highest ban level
   * that a key of the client has. Not while a key of the client is banned. The answer shows the key this
   * once: a repetition with the same `Idempotency-Key` gives its record without the key. If the answer is
   * lost, revoke the new key and make another.
   * POST /account/keys, for keys of the role customer or above.
   */
  create(body?: NewKey, options?: WriteOptions): Call<CreatedKey>;
  /**
   * Get one of the client's keys.
   * GET /account/keys/{keyId}, for keys of the role customer or above.
   */
  get(keyId: number | bigint, options?: CallOptions): Call<Key>;
  /**
   * Revoke a key.
   * It stops working within a second.
   * DELETE /account/keys/{keyId}, for keys of the role customer or above.
   */
  revoke(keyId: number | bigint, options?: WriteOptions): Call<undefined>;
  /**
   * Replace a key.
   * A new key with the same role, name, strikes, ban and ban level; the old one works for the overlap. Not
   * while a key of the client is banned. The answer shows the key this once: a repetition with the same
   * `Idempotency-Key` gives its record without the key. If the answer is lost, revoke the new key and make
   * another. A key that rotates itself without an overlap cannot ask again.
   * POST /account/keys/{keyId}/rotation, for keys of the role customer or above.
   */
  rotate(keyId: number | bigint, body?: Rotation, options?: WriteOptions): Call<CreatedKey>;
}

/** The operations under `account`. */
export interface AccountResource {
  /**
   * Who am I.
   * The client, its plan, and the key that asks.
   * GET /account, for keys of the role customer or above.
   */
  get(options?: CallOptions): Call<Account>;
  /**
   * Requests of the client by day, operation and status.
   * Counted within a second. At most 92 days at once.
   * GET /account/usage, for keys of the role customer or above.
   */
  usage(query?: AccountUsageQuery, options?: CallOptions): Call<Usage>;
  /**
   * How the limits stand.
   * Costs nothing (60 a minute for each key), and works while the client is limited or the key banned.
   * GET /account/limits, for keys of the role customer or above.
   */
  limits(options?: CallOptions): Call<Limits>;
  /** `account.keys.list`, `account.keys.create`, `account.keys.get`, `account.keys.revoke`, `account.keys.rotate` */
  readonly keys: AccountKeysResource;
}

/** The operations under `admin.clients`. */
export interface AdminClientsResource {
  /**
   * List clients.
   * GET /admin/clients, for keys of the role admin.
   */
  list(query?: AdminClientsListQuery, options?: CallOptions): ListCall<Client>;
  /**
   * Create a client.
   * Enterprise needs both of its numbers; the other plans have their own.
   * POST /admin/clients, for keys of the role admin.
   */
  create(body: NewClient, options?: WriteOptions): Call<Client>;
  /**
   * Get a client.
   * GET /admin/clients/{clientId}, for keys of the role admin.
   */
  get(clientId: number | bigint, options?: CallOptions): Call<Client>;
  /**
   * Change a client's plan, name or suspension.
   * Acts within a second. A change of plan keeps what was counted.
   * PATCH /admin/clients/{clientId}, for keys of the role admin.
   */
  update(clientId: number | bigint, body: ClientUpdate, options?: ChangeOptions): Call<Client>;
  /**
   * Remove a client.
   * Its keys are revoked; its completed orders stay.
   * DELETE /admin/clients/{clientId}, for keys of the role admin.
   */
  remove(clientId: number | bigint, options?: ChangeOptions): Call<undefined>;
}

/** The operations under `admin.keys`. */
export interface AdminKeysResource {
  /**
   * List a client's keys.
   * GET /admin/clients/{clientId}/keys, for keys of the role admin.
   */
  list(clientId: number | bigint, query?: AdminKeysListQuery, options?: CallOptions): ListCall<Key>;
  /**
   * Make a key for a client.
   * The answer shows the key this once: a repetition with the same `Idempotency-Key` gives its record without
   * the key. If the answer is lost, revoke the new key and make another.
   * POST /admin/clients/{clientId}/keys, for keys of the role admin.
   */
  create(clientId: number | bigint, body?: NewKey, options?: WriteOptions): Call<CreatedKey>;
  /**
   * Get a key.
   * GET /admin/keys/{keyId}, for keys of the role admin.
   */
  get(keyId: number | bigint, options?: CallOptions): Call<Key>;
  /**
   * Revoke a key.
   * It stops working within a second, on every instance.
   * DELETE /admin/keys/{keyId}, for keys of the role admin.
   */
  revoke(keyId: number | bigint, options?: WriteOptions): Call<undefined>;
  /**
   * Replace a key.
   * A new key with the same role, name, strikes, ban and ban level; the old one works for the overlap. The
   * answer shows the key this once: a repetition with the same `Idempotency-Key` gives its record without the
   * key. If the answer is lost, revoke the new key and make another.
   * POST /admin/keys/{keyId}/rotation, for keys of the role admin.
   */
  rotate(keyId: number | bigint, body?: Rotation, options?: WriteOptions): Call<CreatedKey>;
}

/** The operations under `admin.bans`. */
export interface AdminBansResource {
  /**
   * List bans in force.
   * Those that end soonest come first.
   * GET /admin/bans, for keys of the role admin.
   */
  list(query?: AdminBansListQuery, options?: CallOptions): ListCall<Ban>;
  /**
   * Ban a key.
   * Takes the place of a ban in force.
   * PUT /admin/keys/{keyId}/ban, for keys of the role admin.
   */
  impose(keyId: number | bigint, body: NewBan, options?: WriteOptions): Call<Ban>;
  /**
   * Lift a key's ban.
   * At once; its strikes are cleared.
   * DELETE /admin/keys/{keyId}/ban, for keys of the role admin.
   */
  lift(keyId: number | bigint, options?: WriteOptions): Call<undefined>;
}

/** The operations under `admin.webhooks.deliveries`. */
export interface AdminWebhooksDeliveriesResource {
  /**
   * List the deliveries of a webhook of any client.
   * Newest first, for as long as they are kept, with what was sent.
   * GET /admin/webhooks/{webhookId}/deliveries, for keys of the role admin.
   * It is beta and may change.
   */
  list(webhookId: number | bigint, query?: AdminWebhooksDeliveriesListQuery, options?: CallOptions): ListCall<Delivery>;
}

/** The operations under `admin.webhooks`. */
export interface AdminWebhooksResource {
  /**
   * List the webhooks of all clients.
   * GET /admin/webhooks, for keys of the role admin.
   * It is beta and may change.
   */
  list(query?: AdminWebhooksListQuery, options?: CallOptions): ListCall<AdminWebhook>;
  /**
   * Get a webhook of any client.
   * GET /admin/webhooks/{webhookId}, for keys of the role admin.
   * It is beta and may change.
   */
  get(webhookId: number | bigint, options?: CallOptions): Call<AdminWebhook>;
  /**
   * Disable or enable a webhook of any client.
   * What an operator has disabled the client can neither enable, change nor remove, and it can point no other
   * webhook to the same host; those that lead there already go on. The client is told by the event
   * `webhook.disabled`. Whatever disabled it, `true` enables it. It goes on acting for the client's key.
   * PATCH /admin/webhooks/{webhookId}, for keys of the role admin.
   * It is beta and may change.
   */
  update(webhookId: number | bigint, body: AdminWebhookUpdate, options?: ChangeOptions): Call<AdminWebhook>;
  /** `admin.webhooks.deliveries.list` */
  readonly deliveries: AdminWebhooksDeliveriesResource;
}

/** The operations under `admin`. */
export interface AdminResource {
  /** `admin.clients.list`, `admin.clients.create`, `admin.clients.get`, `admin.clients.update`, `admin.clients.remove` */
  readonly clients: AdminClientsResource;
  /** `admin.keys.list`, `admin.keys.create`, `admin.keys.get`, `admin.keys.revoke`, `admin.keys.rotate` */
  readonly keys: AdminKeysResource;
  /** `admin.bans.list`, `admin.bans.impose`, `admin.bans.lift` */
  readonly bans: AdminBansResource;
  /** `admin.webhooks.list`, `admin.webhooks.get`, `admin.webhooks.update`, `admin.webhooks.deliveries` */
  readonly webhooks: AdminWebhooksResource;
  /**
   * Requests by day, operation and status.
   * Of one client, or of all. At most 92 days at once.
   * GET /admin/usage, for keys of the role admin.
   */
  usage(query?: AdminUsageQuery, options?: CallOptions): Call<AdminUsage>;
  /**
   * What was done to clients, keys, bans and webhooks.
   * Newest first.
   * GET /admin/audit, for keys of the role admin.
   */
  audit(query?: AdminAuditQuery, options?: CallOptions): ListCall<AuditEntry>;
}

/** The whole API. */
export interface Resources {
  /** `pets.list`, `pets.create`, `pets.createMany`, `pets.get`, `pets.replace`, `pets.update`, `pets.remove` */
  readonly pets: PetsResource;
  /** `categories.list`, `categories.create`, `categories.get`, `categories.replace`, `categories.update`, `categories.remove` */
  readonly categories: CategoriesResource;
  /** `store.pet` */
  readonly store: StoreResource;
  /** `orders.list`, `orders.place`, `orders.get`, `orders.update`, `orders.cancel` */
  readonly orders: OrdersResource;
  /** `inventory.list`, `inventory.get`, `inventory.set`, `inventory.movements` */
  readonly inventory: InventoryResource;
  /** `events.list`, `events.stream` */
  readonly events: EventsResource;
  /** `webhooks.list`, `webhooks.create`, `webhooks.get`, `webhooks.update`, `webhooks.remove`, `webhooks.rotate`, `webhooks.ping`, `webhooks.replay`, `webhooks.deliveries` */
  readonly webhooks: WebhooksResource;
  /** `account.get`, `account.usage`, `account.limits`, `account.keys` */
  readonly account: AccountResource;
  /** `admin.clients`, `admin.keys`, `admin.bans`, `admin.webhooks`, `admin.usage`, `admin.audit` */
  readonly admin: AdminResource;
}

/** What `error.code` can be. */
export type ErrorCode =
  /** 400: What came is not one unmistakable HTTP/1.1 request; the connection is closed. */
  | "malformed_request"
  /** 400: The body is not one JSON value in UTF-8, repeats a key, is nested deeper than 32 levels, or has more than 20,000 values. */
  | "invalid_json"
  /** 400: A path, query or header parameter is unknown, repeated or outside its range. */
  | "invalid_parameter"
  /** 400: `API-Version` names a version that this server does not speak. */
  | "unsupported_version"
  /** 401: The request carries no API key. */
  | "missing_api_key"
  /** 401: The key is mistyped, unknown, sent twice, or sent in the URL. */
  | "invalid_api_key"
  /** 401: The key's expiry date has passed. */
  | "expired_api_key"
  /** 401: The key was revoked. */
  | "revoked_api_key"
  /** 403: The key's role does not allow the operation. */
  | "forbidden"
  /** 403: The key is banned for a time, after too many requests that followed a 429, or by an admin. */
  | "key_banned"
  /** 403: A key can make keys of its own role or below only. */
  | "role_too_high"
  /** 403: The client that owns the key is suspended. */
  | "client_suspended"
  /** 404: No operation has this path. */
  | "not_found"
  /** 404: No pet has this id. */
  | "pet_not_found"
  /** 404: No category has this id. */
  | "category_not_found"
  /** 404: No order of this client has this id. */
  | "order_not_found"
  /** 404: No client has this id. */
  | "client_not_found"
  /** 404: No key that the caller may see has this id. */
  | "key_not_found"
  /** 404: The key is not banned. */
  | "ban_not_found"
  /** 404: No webhook that the caller may see has this id. */
  | "webhook_not_found"
  /** 404: The webhook has no delivery with this id, or it is no longer kept. */
  | "delivery_not_found"
  /** 405: The path exists, but not with this method. */
  | "method_not_allowed"
  /** 406: `Accept` excludes what the operation answers with: `application/json`, of a stream `text/event-stream`. */
  | "not_acceptable"
  /** 408: The request, or its body, did not arrive within 10 seconds. */
  | "request_timeout"
  /** 409: The order asks for more units than are in stock. */
  | "insufficient_stock"
  /** 409: The pet is `pending` or `sold`, so nobody can order it. */
  | "pet_not_available"
  /** 409: The pet cannot go from its present status to the one asked for. */
  | "invalid_status_transition"
  /** 409: A completed order cannot be changed or cancelled. */
  | "order_complete"
  /** 409: An order without a pet cannot be completed. */
  | "order_is_draft"
  /** 409: Pets belong to the category. */
  | "category_in_use"
  /** 409: Open orders hold units of the pet. */
  | "pet_has_open_orders"
  /** 409: The client has open orders or drafts; the message names the first of them. */
  | "client_has_open_orders"
  /** 409: The operator's own client cannot be removed, suspended, renamed or moved to another plan, and no other can have its name. */
  | "operator_client"
  /** 409: The client has 100 keys that work. */
  | "too_many_keys"
  /** 409: The client has as many streams of events as it may have at once. */
  | "too_many_streams"
  /** 409: The client has 20 webhooks. */
  | "too_many_webhooks"
  /** 409: Nothing is sent to the webhook: it is disabled. */
  | "webhook_disabled"
  /** 409: The operator has disabled the webhook, or another one of the client that leads to the same host. */
  | "webhook_disabled_by_operator"
  /** 409: A request with the same `Idempotency-Key` is still running. */
  | "idempotency_in_progress"
  /** 410: The operation's sunset date has passed. */
  | "operation_sunset"
  /** 410: The events behind this position are no longer kept. */
  | "events_expired"
  /** 412: The record changed since the ETag in `If-Match` was given. */
  | "precondition_failed"
  /** 413: The body is larger than the operation takes (64 KiB; a batch 8 MiB). */
  | "body_too_large"
  /** 414: The URL is longer than 8 KiB. */
  | "uri_too_long"
  /** 415: The body is not declared as JSON, or is compressed. */
  | "unsupported_media_type"
  /** 422: The body is JSON, but not of the operation's shape. */
  | "invalid_body"
  /** 422: `categoryId` names no category. */
  | "unknown_category"
  /** 422: `petId` names no pet. */
  | "unknown_pet"
  /** 422: Nothing can be sent to the address of the webhook: it is not https, not public, or has a user name, a password or a fragment. */
  | "invalid_webhook_url"
  /** 422: Enterprise needs both of its numbers; the other plans take none. */
  | "invalid_plan"
  /** 422: The `Idempotency-Key` was used for another request within 24 hours: method, address, body (byte by byte) and the role of the API key must be the same. */
  | "idempotency_key_reused"
  /** 429: The requests of this minute are spent. */
  | "rate_limit_exceeded"
  /** 429: The requests of this UTC day are spent. */
  | "daily_quota_exceeded"
  /** 431: The headers are over 16 KiB; the connection is closed. */
  | "headers_too_large"
  /** 500: A fault of the server; the log has it under the request id. */
  | "internal_error"
  /** 503: The server has more work than it can finish in time; nothing was done. */
  | "overloaded"
  /** 503: The data store did not answer; a write's outcome may be unknown. */
  | "unavailable";

/** The data of each type of event. */
export interface EventData {
  "pet.created": Pet;
  "pet.updated": Pet;
  "pet.status_changed": PetStatusChange;
  "pet.deleted": Pet;
  "category.created": Category;
  "category.updated": Category;
  "category.deleted": Category;
  "inventory.changed": StockChange;
  "inventory.depleted": InventoryItem;
  "order.placed": Order;
  "order.updated": Order;
  "order.completed": Order;
  "order.cancelled": Order;
  "quota.warning": QuotaWarning;
  "key.strike_warning": StrikeWarning;
  "key.banned": KeyBan;
  "key.unbanned": KeyUnban;
  "webhook.disabled": WebhookDisabled;
}

/** Every operation: method, path, and what the client goes by. */
export const routes = {
  pets: {
    list: "GET /pets input list",
    create: "POST /pets input",
    createMany: "POST /pets/batch input",
    get: "GET /pets/{petId} successor=store.pet",
    replace: "PUT /pets/{petId} input",
    update: "PATCH /pets/{petId} input",
    remove: "DELETE /pets/{petId}",
  },
  categories: {
    list: "GET /categories input list",
    create: "POST /categories input",
    get: "GET /categories/{categoryId}",
    replace: "PUT /categories/{categoryId} input",
    update: "PATCH /categories/{categoryId} input",
    remove: "DELETE /categories/{categoryId}",
  },
  store: {
    pet: "GET /store/pets/{petId}",
  },
  orders: {
    list: "GET /store/orders input list",
    place: "POST /store/orders input",
    get: "GET /store/orders/{orderId}",
    update: "PATCH /store/orders/{orderId} input",
    cancel: "DELETE /store/orders/{orderId}",
  },
  inventory: {
    list: "GET /store/inventory input list",
    get: "GET /store/inventory/{petId}",
    set: "PUT /store/inventory/{petId} input",
    movements: "GET /store/inventory/{petId}/movements input list",
  },
  events: {
    list: "GET /events input list",
    stream: "GET /events/stream input stream",
  },
  webhooks: {
    list: "GET /webhooks input list",
    create: "POST /webhooks input",
    get: "GET /webhooks/{webhookId}",
    update: "PATCH /webhooks/{webhookId} input",
    remove: "DELETE /webhooks/{webhookId}",
    rotate: "POST /webhooks/{webhookId}/rotation input",
    ping: "POST /webhooks/{webhookId}/ping",
    replay: "POST /webhooks/{webhookId}/replay input",
    deliveries: {
      list: "GET /webhooks/{webhookId}/deliveries input list",
      get: "GET /webhooks/{webhookId}/deliveries/{deliveryId}",
      resend: "POST /webhooks/{webhookId}/deliveries/{deliveryId}/resend",
    },
  },
  account: {
    get: "GET /account",
    usage: "GET /account/usage input",
    limits: "GET /account/limits uncounted",
    keys: {
      list: "GET /account/keys input list",
      create: "POST /account/keys input",
      get: "GET /account/keys/{keyId}",
      revoke: "DELETE /account/keys/{keyId}",
      rotate: "POST /account/keys/{keyId}/rotation input",
    },
  },
  admin: {
    clients: {
      list: "GET /admin/clients input list",
      create: "POST /admin/clients input",
      get: "GET /admin/clients/{clientId}",
      update: "PATCH /admin/clients/{clientId} input",
      remove: "DELETE /admin/clients/{clientId}",
    },
    keys: {
      list: "GET /admin/clients/{clientId}/keys input list",
      create: "POST /admin/clients/{clientId}/keys input",
      get: "GET /admin/keys/{keyId}",
      revoke: "DELETE /admin/keys/{keyId}",
      rotate: "POST /admin/keys/{keyId}/rotation input",
    },
    bans: {
      list: "GET /admin/bans input list",
      impose: "PUT /admin/keys/{keyId}/ban input",
      lift: "DELETE /admin/keys/{keyId}/ban",
    },
    webhooks: {
      list: "GET /admin/webhooks input list",
      get: "GET /admin/webhooks/{webhookId}",
      update: "PATCH /admin/webhooks/{webhookId} input",
      deliveries: {
        list: "GET /admin/webhooks/{webhookId}/deliveries input list",
      },
    },
    usage: "GET /admin/usage input",
    audit: "GET /admin/audit input list",
  },
} as const;
