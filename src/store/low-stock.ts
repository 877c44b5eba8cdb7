import type { Migration } from "./migrations.ts";

/**
 * Only low stock is kept in order, so that an order of what there is plenty of changes no index of pets. Not an index over the
 * quantity that leaves rows out: PostgreSQL would still make a new entry in every index of pets for each order.
 */
export const lowStock: Migration = {
  name: "only low stock is kept in order",
  statements: ({ integer, derived, roomForChanges }) => [
    "drop index pets_stock",
    ...roomForChanges("pets"),
    // The number is LOW_STOCK of the contract's bounds.
    `alter table pets add column low_stock ${integer} ${derived("case when quantity <= 1000 then quantity end")}`,
    "create index pets_low_stock on pets (status, low_stock, id) where low_stock is not null",
  ],
};
