// A store from before a pet's movements were a chain: of two pets by turns, of which one is gone, and one that never had any.
import { expect } from "bun:test";
import type { Reads } from "../../src/core/ports.ts";
import { ledgers } from "../../src/store/ledgers.ts";
import { migrations } from "../../src/store/migrations.ts";

export const beforeLedgers = migrations.slice(0, migrations.indexOf(ledgers));

export const oldLedgers = [
  "insert into categories (id, name, name_key, created_at) values (1, 'Dogs', 'dogs', 0)",
  `insert into pets (id, name, name_key, category_id, status, quantity, open_orders, created_at)
    values (1, 'Rex', 'rex', 1, 'available', 7, 0, 0), (3, 'Tom', 'tom', 1, 'sold', 0, 0, 0)`,
  `insert into movements (id, pet_id, change, balance, reason, at) values
    (1, 1, 5, 5, 'created', 0), (2, 2, 1, 1, 'created', 1), (3, 1, 4, 9, 'restocked', 2),
    (4, 2, -1, 0, 'removed', 3), (5, 1, -2, 7, 'restocked', 4)`,
];

/** Expects that they can be read as before. */
export async function expectOldLedgers(reads: Reads): Promise<void> {
  const balances = async (petId: number) =>
    (await reads.movements({ petId, limit: 10 })).map(({ id, balance }) => [id, balance]);
  expect(await balances(1)).toEqual([
    [5, 7],
    [3, 9],
    [1, 5],
  ]);
  expect(await balances(2)).toEqual([
    [4, 0],
    [2, 1],
  ]);
  expect(await balances(3)).toEqual([]);
  const after = await reads.movements({ petId: 1, limit: 1, after: { key: 3, id: 3 } });
  expect(after.map(({ id }) => id)).toEqual([1]);
  expect(await reads.movements({ petId: 2, limit: 1, after: { key: 3, id: 3 } })).toEqual([]);
}
