import type { Category, InventoryItem, Order, Pet } from "./shapes.ts";

/** What the data of each event is; an event commits with the change that it tells of. */
export interface EventData {
  "pet.created": Pet;
  "pet.updated": Pet;
  "pet.status_changed": Pet & { previousStatus: string };
  "pet.deleted": Pet;
  "category.created": Category;
  "category.updated": Category;
  "category.deleted": Category;
  "order.placed": Order;
  "order.updated": Order;
  "order.completed": Order;
  "order.cancelled": Order;
  "inventory.changed": InventoryItem & { change: number };
  "inventory.depleted": InventoryItem;
  "quota.warning": { clientId: number; limit: number; used: number; resetAt: number };
  "key.strike_warning": { keyId: number; clientId: number; strikes: number; threshold: number };
  "key.banned": { keyId: number; clientId: number; cause: string; level: number; until: string };
  "key.unbanned": { keyId: number; clientId: number };
}

export type EventType = keyof EventData;
