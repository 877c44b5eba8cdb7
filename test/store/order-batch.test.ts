// Orders of one batch are added together at its end: whatever else is in the batch must not notice.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import type { Caller } from "../../src/core/context.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { commitTogether, type Outcome, unwrap } from "../../src/store/sqlite/batch.ts";
import { type EmbeddedStore, openStore } from "../../src/store/sqlite/store.ts";
import { sqliteWrites } from "../../src/store/sqlite/writes.ts";
import { aFolder, type Folder } from "../cli/command.ts";

interface Asked {
  readonly operation: string;
  readonly input: unknown;
  readonly caller?: Caller;
}

const NOW = Date.UTC(2026, 10, 15);
const rules = rulesOf(readConfig({}));
const staff = { clientId: 1, keyId: 1, role: "staff" } as const;
const admin = { clientId: 0, keyId: 0, role: "admin" } as const;
const place = (petId: number, quantity = 1): Asked => ({
  operation: "orders.place",
  input: { body: { petId, quantity } },
});
const buy: Asked = { operation: "orders.place", input: { body: { petId: 1, complete: true } } };
const draft: Asked = { operation: "orders.place", input: { body: {} } };
const touch = (orderId: number): Asked => ({ operation: "orders.update", input: { orderId, body: {} } });
const cancel = (orderId: number): Asked => ({ operation: "orders.cancel", input: { orderId } });
const removeClient: Asked = {
  operation: "admin.clients.remove",
  input: { clientId: 1 },
  caller: admin,
};

let folder: Folder;
let store: EmbeddedStore;
let together: (...asked: Asked[]) => Promise<string[]>;
beforeEach(async () => {
  folder = aFolder();
  store = openStore(folder.database, NOW);
  const { db } = store;
  const writes = sqliteWrites(db);
  together = async (...asked) => {
    const outcomes = await commitTogether(db, asked, ({ operation, input, caller = staff }) =>
      perform(writes, { operation, input, caller, now: NOW }, rules),
    );
    return outcomes.map(told);
  };
  db.exec("insert into categories (name, name_key, created_at) values ('Dogs', 'dogs', 0)");
  db.exec("insert into clients (name, plan, per_minute, per_day, created_at) values ('c', 'pro', 1, 1, 0)");
  for (const quantity of [5, 1])
    await together({
      operation: "pets.create",
      input: { body: { name: "Rex", categoryId: 1, quantity } },
    });
  await together({ operation: "inventory.set", input: { petId: 1, body: { quantity: 5 } } });
  await together({ operation: "inventory.set", input: { petId: 2, body: { quantity: 1 } } });
});
afterEach(async () => {
  expect((await store.diagnose()).findings).toEqual([]);
  store.close();
  folder[Symbol.dispose]();
});

/** The id of an order, or why it was refused. */
function told(outcome: Outcome<unknown>): string {
  try {
    const { body } = unwrap(outcome) as { body?: { id?: number } };
    return String(body?.id ?? "done");
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const kept = () => store.db.rows("select id from orders order by id").map(({ id }) => Number(id));

test("orders and drafts of one batch have numbers of their own, upward, and the next batch goes on", async () => {
  expect(await together(place(1), place(1), draft, place(2), draft)).toEqual(["1", "2", "3", "4", "5"]);
  expect(await together(draft, place(1))).toEqual(["6", "7"]);
  expect(kept()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test("an order can be changed and cancelled in the batch that places it", async () => {
  expect(await together(place(1), touch(1), cancel(1), touch(1), place(1))).toEqual([
    "1",
    "1",
    "done",
    "order_not_found",
    "2",
  ]);
  expect(kept()).toEqual([2]);
});

test("an order that is refused in a batch leaves the others their numbers and the store whole", async () => {
  expect(await together(place(1), place(2), place(2), place(9), place(1))).toEqual([
    "1",
    "2",
    "pet_not_available",
    "unknown_pet",
    "3",
  ]);
  expect(kept()).toEqual([1, 2, 3]);
});

test("a client with an open order of the same batch is not removed; one that was removed orders nothing", async () => {
  const [placed, removal] = await together(place(1), removeClient);
  expect([placed, removal]).toEqual(["1", "client_has_open_orders"]);
  expect(await together(cancel(1), buy, removeClient, place(1), draft)).toEqual([
    "done",
    "2",
    "done",
    "revoked_api_key",
    "revoked_api_key",
  ]);
  expect(kept()).toEqual([2]);
});
