import type { EventType } from "../../../client/src/index.ts";

/** Every type of event and what it is about: one that is missing does not compile. */
const kindOf: Readonly<Record<EventType, string>> = {
  "order.placed": "orders",
  "order.updated": "orders",
  "order.completed": "orders",
  "order.cancelled": "orders",
  "pet.created": "pets",
  "pet.updated": "pets",
  "pet.status_changed": "pets",
  "pet.deleted": "pets",
  "category.created": "categories",
  "category.updated": "categories",
  "category.deleted": "categories",
  "inventory.changed": "stock",
  "inventory.depleted": "stock",
  "quota.warning": "keys and quotas",
  "key.strike_warning": "keys and quotas",
  "key.banned": "keys and quotas",
  "key.unbanned": "keys and quotas",
  "webhook.disabled": "webhooks",
};

/** The types of events by what they are about. */
export const kinds: ReadonlyMap<string, readonly EventType[]> = Map.groupBy(
  Object.keys(kindOf) as EventType[],
  (type) => kindOf[type],
);
