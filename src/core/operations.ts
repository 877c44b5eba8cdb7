import type { PetstoreApi } from "../contract/api.ts";
import { account } from "./account.ts";
import { admin } from "./admin.ts";
import { internal } from "./behind.ts";
import { categories } from "./categories.ts";
import type { Operations, ReadContext, Result, WriteContext } from "./context.ts";
import { delivering } from "./delivering.ts";
import { events } from "./events.ts";
import { inventory } from "./inventory.ts";
import { orders } from "./orders.ts";
import { pets } from "./pets.ts";
import type { Awaitable } from "./ports.ts";
import { sessions } from "./sessions.ts";
import { store } from "./store.ts";
import { webhooks } from "./webhooks.ts";

/** Every operation of the contract; one that is missing does not compile. */
export const operations = {
  pets,
  categories,
  store,
  orders,
  inventory,
  events,
  webhooks,
  account,
  admin,
} satisfies Operations<PetstoreApi>;

/** An operation whose types were checked where it was declared. */
export type AnyOperation = (cx: ReadContext | WriteContext, input: unknown) => Awaitable<Result>;

/** The operation of this name. */
export function operation(id: string): AnyOperation {
  const found = byName.get(id);
  if (!found) throw new Error(`There is no operation ${id}.`);
  return found;
}

const byName = new Map([operations, internal, delivering, sessions].flatMap((tree) => named(tree, "")));

function named(tree: object, prefix: string): [string, AnyOperation][] {
  return Object.entries(tree).flatMap(([name, entry]) =>
    typeof entry === "function"
      ? [[prefix + name, entry as AnyOperation]]
      : named(entry, `${prefix}${name}.`),
  );
}
