import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import type { Finding } from "../../src/store/doctor.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { aFolder, type Folder, petstore } from "../cli/command.ts";
import { addPet, aFile, aPostgresDatabase, type Healthy, healthy, NOW, type Patient } from "./patients.ts";

const engines: [string, () => Promise<Patient>][] = [
  ["sqlite", aFile],
  ["postgres", aPostgresDatabase],
];

test.each(engines)(
  "%s: the doctor finds nothing in a healthy store, and says what it looked at",
  async (_, open) => {
    await using patient = await open();
    await healthy(patient);
    const { findings, counts, checked } = await patient.diagnose();
    expect(findings).toEqual([]);
    expect(counts).toEqual({ pets: 3, categories: 1, orders: 4, movements: 8, events: 0, clients: 1 });
    expect(checked.length).toBeGreaterThanOrEqual(9);
  },
);

test.each(engines)("%s: the doctor finds nothing in an empty store", async (_, open) => {
  await using patient = await open();
  expect((await patient.diagnose()).findings).toEqual([]);
});

interface Damage {
  readonly damage: string;
  readonly sql: (healthy: Healthy) => string;
  /** The check that finds it, whichever it is if none is named, and what it says. */
  readonly check?: string;
  readonly says: (healthy: Healthy) => string | RegExp;
}

const damages: Damage[] = [
  {
    damage: "a client that was removed before its order was done",
    sql: ({ order }) => `update clients set removed_at = 1 where id = ${order.clientId}`,
    check: "removed clients have no open orders",
    says: ({ order }) => `order ${order.id} is open, but its client ${order.clientId} was removed`,
  },
  {
    damage: "stock that its movements do not explain",
    sql: ({ open }) => `update pets set quantity = 4 where id = ${open.id}`,
    check: "ledger equals stock",
    says: ({ open }) => `pet ${open.id} has 4 in stock, but its movements add up to 3`,
  },
  {
    damage: "a lost movement",
    sql: ({ held }) => `delete from movements where pet_id = ${held.id}`,
    check: "ledger equals stock",
    says: ({ held }) => `pet ${held.id} has 2 in stock, but its movements add up to 0`,
  },
  {
    damage: "a removed pet without its closing movement",
    sql: ({ removed }) => `delete from movements where pet_id = ${removed.id} and reason = 'removed'`,
    check: "removed pets leave nothing",
    says: ({ removed }) => `pet ${removed.id} is gone, but its movements add up to 1`,
  },
  {
    damage: "a movement with a wrong balance",
    sql: ({ open }) => `update movements set balance = 77 where pet_id = ${open.id} and reason = 'created'`,
    check: "balances follow the ledger",
    says: ({ open }) =>
      new RegExp(`^movement \\d+ of pet ${open.id} says a balance of 77, its ledger says 5$`),
  },
  {
    damage: "a movement that follows another than it should",
    sql: ({ open }) =>
      `update movements set previous_id = id where pet_id = ${open.id} and reason = 'ordered'`,
    check: "ledgers can be followed",
    says: ({ open }) =>
      new RegExp(`^movement (\\d+) of pet ${open.id} follows movement \\1, and should follow movement \\d+$`),
  },
  {
    damage: "a movement that follows none",
    sql: ({ open }) =>
      `update movements set previous_id = null where pet_id = ${open.id} and reason = 'ordered'`,
    check: "ledgers can be followed",
    says: ({ open }) =>
      new RegExp(`^movement \\d+ of pet ${open.id} follows none, and should follow movement \\d+$`),
  },
  {
    damage: "a pet that names no movement",
    sql: ({ held }) => `update pets set last_movement_id = null where id = ${held.id}`,
    check: "pets name their last movements",
    says: ({ held }) =>
      new RegExp(
        `^pet ${held.id} names none and before it none as its last, and has movement \\d+ and none$`,
      ),
  },
  {
    damage: "a removed pet whose ledger cannot be found",
    sql: ({ removed }) => `delete from closed_ledgers where pet_id = ${removed.id}`,
    check: "removed pets keep their ledgers",
    says: ({ removed }) =>
      new RegExp(
        `^the ledger of pet ${removed.id}, which is gone, ends with movement \\d+, but none is kept as its end$`,
      ),
  },
  {
    damage: "a pet sold with stock left",
    sql: ({ held }) => `update pets set status = 'sold' where id = ${held.id}`,
    check: "status follows stock and orders",
    says: ({ held }) => `pet ${held.id} is sold with 2 in stock and 0 open orders`,
  },
  {
    damage: "a pet available with nothing in stock",
    sql: ({ sold }) => `update pets set status = 'available' where id = ${sold.id}`,
    check: "status follows stock and orders",
    says: ({ sold }) => `pet ${sold.id} is available with 0 in stock and 0 open orders`,
  },
  {
    damage: "a pet pending for no reason",
    sql: ({ sold }) => `update pets set status = 'pending' where id = ${sold.id}`,
    check: "status follows stock and orders",
    says: ({ sold }) => `pet ${sold.id} is pending with 0 in stock and 0 open orders`,
  },
  {
    damage: "a status that there is not",
    sql: ({ held }) => `update pets set status = 'lost' where id = ${held.id}`,
    check: "status follows stock and orders",
    says: ({ held }) => `pet ${held.id} is lost with 2 in stock and 0 open orders`,
  },
  {
    damage: "stock below zero",
    sql: ({ held }) => `update pets set quantity = -1 where id = ${held.id}`,
    check: "status follows stock and orders",
    says: ({ held }) => `pet ${held.id} is pending with -1 in stock and 0 open orders`,
  },
  {
    damage: "open orders below zero",
    sql: ({ held }) => `update pets set open_orders = -1 where id = ${held.id}`,
    check: "status follows stock and orders",
    says: ({ held }) => `pet ${held.id} is pending with 2 in stock and -1 open orders`,
  },
  {
    damage: "open orders that are miscounted",
    sql: ({ open }) => `update pets set open_orders = 2 where id = ${open.id}`,
    check: "open orders are counted",
    says: ({ open }) => `pet ${open.id} counts 2 open orders, and has 1`,
  },
  {
    damage: "an order that is lost",
    sql: ({ order }) => `delete from orders where id = ${order.id}`,
    check: "open orders are counted",
    says: ({ open }) => `pet ${open.id} counts 1 open order, and has 0`,
  },
  {
    damage: "an open order of a pet that is gone",
    sql: ({ order }) => `update orders set pet_id = 999 where id = ${order.id}`,
    check: "open orders have their pet",
    says: ({ order }) => `order ${order.id} is open for pet 999, which does not exist`,
  },
  {
    damage: "a completed order without a ship date",
    sql: ({ completed }) => `update orders set ship_date = null where id = ${completed.id}`,
    check: "orders are whole",
    says: ({ completed }) => `order ${completed.id} lacks its pet, quantity or ship date`,
  },
  {
    damage: "a completed order without a pet",
    sql: ({ completed }) => `update orders set pet_id = null where id = ${completed.id}`,
    check: "orders are whole",
    says: ({ completed }) => `order ${completed.id} lacks its pet, quantity or ship date`,
  },
  {
    damage: "an order of no units",
    sql: ({ order }) => `update orders set quantity = 0 where id = ${order.id}`,
    check: "orders are whole",
    says: ({ order }) => `order ${order.id} lacks its pet, quantity or ship date`,
  },
  {
    damage: "an order without a quantity",
    sql: ({ order }) => `update orders set quantity = null where id = ${order.id}`,
    check: "orders are whole",
    says: ({ order }) => `order ${order.id} lacks its pet, quantity or ship date`,
  },
  {
    damage: "an order of another number of units than it took",
    sql: ({ order }) => `update orders set quantity = 40 where id = ${order.id}`,
    says: ({ order }) => new RegExp(`order ${order.id}\\b`),
  },
  {
    damage: "a pet of a category that is gone",
    sql: () => "delete from categories",
    check: "references hold",
    says: ({ open }) => `row ${open.id} of pets refers to a row of categories that does not exist`,
  },
  {
    damage: "a client that is gone",
    sql: () => "delete from clients",
    check: "references hold",
    says: ({ order }) => `row ${order.id} of orders refers to a row of clients that does not exist`,
  },
];

const cases = engines.flatMap(([engine, open]) => damages.map((damage) => ({ ...damage, engine, open })));

test.each(cases)("$engine: the doctor finds $damage", async ({ open, sql, check, says }) => {
  await using patient = await open();
  const records = await healthy(patient);
  await patient.plant(sql(records));
  const { findings } = await patient.diagnose();
  const messages = findings
    .filter((finding) => !check || finding.check === check)
    .map(({ message }) => message);
  const expected = says(records);
  const isSaid = messages.some((said) =>
    expected instanceof RegExp ? expected.test(said) : said === expected,
  );
  expect({ findings, isSaid }).toEqual({ findings, isSaid: true });
});

test.each(engines)("%s: the doctor tells at most twenty findings of one kind", async (_, open) => {
  await using patient = await open();
  await patient.transact(async (store) => {
    const { id: categoryId } = await store.addCategory({ name: "Fish", description: null }, NOW);
    for (let pet = 0; pet < 50; pet++) await addPet(store, categoryId, 1);
  });
  await patient.plant("update pets set quantity = 2");
  expect((await patient.diagnose()).findings).toHaveLength(20);
});

/** Where a page of rubbish does its harm: in an index, or in the rows themselves. */
test.each([["pets_status_name"], ["orders_pet"], ["pets"], ["orders"], ["movements"]])(
  "the doctor finds a broken page of %s, and says so with exit code 3",
  async (name) => {
    using folder = aFolder();
    const store = openStore(folder.database, NOW);
    await healthy(store);
    store.close();
    spoilPage(folder, name);
    const { code, stdout, stderr } = await petstore(["doctor", "--json"], {
      env: { DATABASE_URL: folder.database },
    });
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(findings.map(({ check }) => check)).toContain("the file is whole");
  },
);

/** Overwrites the first page of a table or index with rubbish. */
function spoilPage({ database: path }: Folder, name: string): void {
  const database = new Database(path);
  database.run("pragma wal_checkpoint(truncate)");
  const pageBytes = Number(database.query("pragma page_size").values()[0]?.[0]);
  const page = Number(
    database.query("select rootpage from sqlite_schema where name = ?").values(name)[0]?.[0],
  );
  database.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(pageBytes, "rubbish "), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
}
