import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { type Migration, migrations } from "../../src/store/migrations.ts";
import { connect } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { NewerDatabase } from "../../src/store/usable.ts";
import { aFolder, petstore } from "../cli/command.ts";
import { beforeLedgers, expectOldLedgers, oldLedgers } from "./old-ledgers.ts";

const names = migrations.map(({ name }) => name);

test("a new database gets every migration, an old one only what is new, and its records stay", async () => {
  using folder = aFolder();
  const { db, migrated, transact, close } = openStore(folder.database, 7);
  expect(migrated).toEqual(names);
  expect(migrate(db, 8)).toEqual([]);
  await transact(async (store) => store.addCategory({ name: "Dogs", description: null }, 0));
  const next: Migration = {
    name: "it's new",
    statements: ({ integer }) => [`create table more (id ${integer})`],
  };
  expect(migrate(db, 9, [...migrations, next])).toEqual(["it's new"]);
  expect(migrate(db, 10, [...migrations, next])).toEqual([]);
  expect(db.rows("select name, applied_at from migrations order by number")).toEqual([
    ...names.map((name) => ({ name, applied_at: 7 })),
    { name: "it's new", applied_at: 9 },
  ]);
  expect(db.value("select name from categories")).toBe("Dogs");
  close();
});

test("an old store keeps its ledgers, also of pets that are gone", async () => {
  using folder = aFolder();
  const path = folder.file("old.db");
  const db = connect(path, "write");
  migrate(db, 0, beforeLedgers);
  for (const text of oldLedgers) db.exec(text);
  db.close();
  const store = openStore(path, 0);
  await expectOldLedgers(store.reads);
  expect((await store.diagnose()).findings).toEqual([]);
  store.close();
});

test("a migration that fails leaves nothing of itself", () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 0);
  const half: Migration = {
    name: "half",
    statements: () => ["create table half (id integer)", "create nonsense"],
  };
  expect(() => migrate(db, 0, [...migrations, half])).toThrow();
  expect(db.value("select count(*) from sqlite_schema where name = 'half'")).toBe(0);
  expect(db.value("select count(*) from migrations")).toBe(names.length);
  expect(migrate(db, 0)).toEqual([]);
  close();
});

test("several processes that start at once on a new file migrate it once", async () => {
  for (let round = 0; round < 4; round++) {
    using folder = aFolder();
    const asked = { env: { DATABASE_URL: folder.database } };
    const all = await Promise.all(Array.from({ length: 4 }, () => petstore(["migrate", "--json"], asked)));
    expect(all.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(Array(4).fill("0 "));
    const applied = all.map(({ stdout }) => JSON.parse(stdout).applied).filter((each) => each.length > 0);
    expect(applied).toEqual([names]);
    const db = connect(folder.database, "read");
    expect(db.rows("select name from migrations order by number").map(({ name }) => name)).toEqual(names);
    db.close();
  }
});

test("a database of a newer version is refused in a plain sentence and left as it is", async () => {
  using folder = aFolder();
  openStore(folder.database, 0).close();
  using database = new Database(folder.database);
  database.run("insert into migrations values (99, 'from the future', 0)");
  const before = database.query("select * from migrations").all();
  expect(() => openStore(folder.database, 0)).toThrow(NewerDatabase);
  for (const command of ["migrate", "serve", "doctor"]) {
    const { code, stdout, stderr } = await petstore([command], {
      env: { DATABASE_URL: folder.database, PORT: "0" },
    });
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(
      /^petstore: The database has migration 99, this program knows only \d+\. [^\n]+\n$/,
    );
  }
  expect(database.query("select * from migrations").all()).toEqual(before);
});
