import { account } from "./account.ts";
import { admin } from "./admin.ts";
import { categories } from "./categories.ts";
import { events } from "./events.ts";
import { inventory } from "./inventory.ts";
import { orders } from "./orders.ts";
import { pets } from "./pets.ts";
import { type Api, endpoints } from "./route.ts";
import { store } from "./store.ts";

/** The whole API; nothing else lists endpoints. */
export const api = {
  pets,
  categories,
  store,
  orders,
  inventory,
  events,
  account,
  admin,
} as const satisfies Api;
export type PetstoreApi = typeof api;

export const everyEndpoint = endpoints(api);

export const API_VERSION = "1.0.0";
