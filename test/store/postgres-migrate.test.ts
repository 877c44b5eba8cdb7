import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Migration, migrations } from "../../src/store/migrations.ts";
import { migrate, requireServerVersion } from "../../src/store/postgres/migrate.ts";
import { inspectPostgres, openPostgresStore } from "../../src/store/postgres/store.ts";
import { openWire, type Wire } from "../../src/store/postgres/wire.ts";
import { NewerDatabase } from "../../src/store/usable.ts";
import { petstore } from "../cli/command.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";
import { beforeLedgers, expectOldLedgers, oldLedgers } from "./old-ledgers.ts";

const names = migrations.map(({ name }) => name);
const patience = { connectMs: 5000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };

let server: ReachedPostgres;
beforeAll(async () => {
  server = await sharedPostgres();
});
const wires: Wire[] = [];
afterAll(async () => {
  for (const wire of wires) await wire.close();
});

async function connected(database: string): Promise<Wire> {
  const wire = await openWire({ url: server.url(database), ...patience }, () => {});
  wires.push(wire);
  return wire;
}

test("five that start at once on an empty database migrate it once", async () => {
  for (let round = 0; round < 4; round++) {
    const database = await server.newDatabase();
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => openPostgresStore(server.url(database), round)),
    );
    expect(opened.map(({ migrated }) => migrated).filter((each) => each.length > 0)).toEqual([names]);
    for (const store of opened) await store.close();
    const rows = await server.query("select name from migrations order by number", database);
    expect(rows.map(({ name }) => name)).toEqual(names);
  }
});

test("five processes that start at once on an empty database migrate it once", async () => {
  const database = await server.newDatabase();
  const asked = { env: { DATABASE_URL: server.url(database) } };
  const all = await Promise.all(Array.from({ length: 5 }, () => petstore(["migrate", "--json"], asked)));
  expect(all.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(Array(5).fill("0 "));
  const applied = all.map(({ stdout }) => JSON.parse(stdout).applied).filter((each) => each.length > 0);
  expect(applied).toEqual([names]);
});

test("an old database gets only what is new, and a migration that fails leaves nothing of itself", async () => {
  const database = await server.newDatabase();
  const wire = await connected(database);
  expect(await migrate(wire, 7)).toEqual(names);
  const next: Migration = {
    name: "it's new",
    statements: ({ integer }) => [`create table more (id ${integer})`],
  };
  const half: Migration = {
    name: "half",
    statements: () => ["create table half (id int)", "create nonsense"],
  };
  expect(await migrate(wire, 9, [...migrations, next])).toEqual(["it's new"]);
  await expect(migrate(wire, 9, [...migrations, next, half])).rejects.toThrow(/syntax error/);
  expect(await migrate(wire, 9, [...migrations, next])).toEqual([]);
  const applied = await wire.send({ text: "select name, applied_at from migrations order by number" });
  expect(applied.rows).toEqual([
    ...names.map((name) => ({ name, applied_at: 7 })),
    { name: "it's new", applied_at: 9 },
  ]);
  expect((await wire.send({ text: "select to_regclass('half') as half" })).rows).toEqual([{ half: null }]);
  await expect(openPostgresStore(server.url(database), 0)).rejects.toBeInstanceOf(NewerDatabase);
});

test("an old store keeps its ledgers, also of pets that are gone", async () => {
  const database = await server.newDatabase();
  const wire = await connected(database);
  await migrate(wire, 0, beforeLedgers);
  for (const text of oldLedgers) await wire.send({ text });
  const store = await openPostgresStore(server.url(database), 0);
  await expectOldLedgers(store.reads);
  expect((await store.diagnose()).findings).toEqual([]);
  await store.close();
});

test("another program's database, an older and a newer one are told in a plain sentence, and left as they are", async () => {
  const foreign = await server.newDatabase();
  await server.query("create table notes (text text)", foreign);
  const newer = await server.newDatabase();
  await (await openPostgresStore(server.url(newer), 0)).close();
  await server.query("insert into migrations values (99, 'from the future', 0)", newer);
  for (const [database, message] of [
    [foreign, "The database has tables of another program"],
    [newer, "The database has migration 99, this program knows only"],
  ] as const)
    for (const command of ["migrate", "serve", "doctor"]) {
      const { code, stdout, stderr } = await petstore([command], {
        env: { DATABASE_URL: server.url(database), PORT: "0" },
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toStartWith(`petstore: ${message}`);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
  const tables = "select table_name as name from information_schema.tables where table_schema = 'public'";
  expect(await server.query(tables, foreign)).toEqual([{ name: "notes" }]);
});

test("what an extension brings along makes a database no other program's; a table of its own beside it does", async () => {
  const database = await server.newDatabase();
  await server.query(
    `create extension pg_stat_statements;
    create table known_places (id int); alter extension pg_stat_statements add table known_places`,
    database,
  );
  const store = await openPostgresStore(server.url(database), 0);
  expect([store.migrated, (await store.diagnose()).findings]).toEqual([names, []]);
  await store.close();
  await (await inspectPostgres(server.url(database))).close();

  const foreign = await server.newDatabase();
  await server.query("create extension pg_stat_statements; create table notes (text text)", foreign);
  await expect(openPostgresStore(server.url(foreign), 0)).rejects.toThrow("tables of another program");
});

test("bytes are kept as they are", async () => {
  const wire = await connected(await server.newDatabase());
  const bytes = new Uint8Array([0, 1, 127, 128, 255]);
  const { rows } = await wire.send({ text: "select $1::bytea as bytes", values: [bytes] });
  expect(new Uint8Array((rows[0] as { bytes: Uint8Array }).bytes)).toEqual(bytes);
});

test("a server before PostgreSQL 14 is refused, and told what is needed", () => {
  expect(() => requireServerVersion(130_014)).toThrow(
    "The server is PostgreSQL 13, and Petstore needs 14 or later. Upgrade it.",
  );
  for (const version of [140_000, 150_019, 180_001]) requireServerVersion(version);
});
