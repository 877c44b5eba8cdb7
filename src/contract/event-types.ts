/** Where all events come from, as CloudEvents wants it told. */
export const EVENT_SOURCE = "/petstore";

/** Events of the catalogue, which everybody sees. */
export const catalogueEvents = [
  "pet.created",
  "pet.updated",
  "pet.status_changed",
  "pet.deleted",
  "category.created",
  "category.updated",
  "category.deleted",
  "inventory.changed",
  "inventory.depleted",
] as const;

/** Events of one client: its own keys see them, and staff. */
export const clientEvents = [
  "order.placed",
  "order.updated",
  "order.completed",
  "order.cancelled",
  "quota.warning",
  "key.strike_warning",
  "key.banned",
  "key.unbanned",
  "webhook.disabled",
] as const;

export const eventTypes = [...catalogueEvents, ...clientEvents] as const;
export type EventType = (typeof eventTypes)[number];
