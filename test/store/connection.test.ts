import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Unavailable } from "../../src/core/failure.ts";
import { connect } from "../../src/store/sqlite/connection.ts";
import { connectReader } from "../../src/store/sqlite/reader.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { fragment, sql } from "../../src/store/statement.ts";
import { aFolder } from "../cli/command.ts";

const addCategory = sql`insert into categories (name, name_key, created_at) values (:name, :name, 0)`;
const renamed = fragment`update categories set name = :name where name_key = :key`;
const rename = sql`${renamed}`;
const countCategories = sql<{ count: number }>`select count(*) as count from categories`;

test("a writer syncs each commit, keeps references and leaves checkpoints to us", () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 0);
  const settings = {
    journal_mode: "wal",
    synchronous: 2,
    foreign_keys: 1,
    busy_timeout: 5000,
    trusted_schema: 0,
    wal_autocheckpoint: 0,
    journal_size_limit: 128 * 1024 * 1024,
  };
  for (const [name, wanted] of Object.entries(settings))
    expect(db.value(`pragma ${name}`), name).toBe(wanted);
  close();
});

test("changes are counted as SQLite counts them, however a statement is asked, and what only looks counts nothing", () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 0);
  const counted = () => [db.changes(), Number(db.value("select total_changes()"))];
  const [ours, its] = counted() as [number, number];
  const grown = () => counted().map((count, index) => count - (index === 0 ? ours : its));
  const [named, removed] = [sql`${renamed} returning id`, sql`delete from categories returning id`];
  for (const name of ["Dogs", "Cats", "Birds"]) db.run(addCategory, { name });
  expect(grown()).toEqual([3, 3]);
  db.run(rename, { name: "Hounds", key: "Dogs" });
  db.run(rename, { name: "Hounds", key: "nobody" });
  expect(grown()).toEqual([4, 4]);
  db.get(named, { name: "Dogs", key: "Dogs" });
  db.get(named, { name: "Dogs", key: "nobody" });
  db.get(countCategories, {});
  expect(grown()).toEqual([5, 5]);
  db.all(removed, {});
  db.all(removed, {});
  db.all(countCategories, {});
  expect(grown()).toEqual([8, 8]);
  close();
});

test("a connection that was closed leaves nothing of its log, whatever it was asked", () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 0);
  db.run(addCategory, { name: "Dogs" });
  expect(db.value("select count(*) from categories")).toBe(1);
  expect(db.rows("select name from categories")).toEqual([{ name: "Dogs" }]);
  close();
  expect(readdirSync(dirname(folder.database))).toEqual([basename(folder.database)]);
});

test("what a connection keeps in memory grows with the file, within bounds", () => {
  using folder = aFolder();
  openStore(folder.database, 0).close();
  const cacheMebibytes = (fileMebibytes: number) => {
    // Room at the end that SQLite does not use, and that takes none on the disk.
    truncateSync(folder.database, fileMebibytes * 2 ** 20);
    const db = connect(folder.database, "write");
    const kibibytes = -Number(db.value("pragma cache_size"));
    db.close();
    return kibibytes / 1024;
  };
  expect([10, 1024, 4096].map(cacheMebibytes)).toEqual([4, 16, 32]);
});

test("a reader cannot write", () => {
  using folder = aFolder();
  openStore(folder.database, 0).close();
  const db = connect(folder.database, "read");
  expect(db.value("pragma query_only")).toBe(1);
  expect(db.value("pragma foreign_keys")).toBe(1);
  expect(thrown(() => db.run(addCategory, { name: "Dogs" }))).toBeInstanceOf(Unavailable);
  expect(db.get(countCategories, {})).toEqual({ count: 0 });
  db.close();
});

test("reads of one turn see one state, those after a refresh or in the next turn what is committed by then", async () => {
  using folder = aFolder();
  const { db: writer, close } = openStore(folder.database, 0);
  const reader = connectReader(folder.database);
  const count = () => (reader.get(countCategories, {}) as { count: number }).count;
  expect(count()).toBe(0);
  writer.run(addCategory, { name: "Dogs" });
  expect(count()).toBe(0);
  reader.refresh();
  expect(count()).toBe(1);
  writer.run(addCategory, { name: "Cats" });
  expect(count()).toBe(1);
  await Bun.sleep(1);
  expect(count()).toBe(2);
  reader.close();
  close();
});

test("a reader whose transaction the database has ended, as it does in trouble, goes on with a new one", async () => {
  using folder = aFolder();
  const { db: writer, close } = openStore(folder.database, 0);
  const reader = connectReader(folder.database);
  const count = () => (reader.get(countCategories, {}) as { count: number }).count;
  expect(count()).toBe(0);
  reader.exec("rollback");
  writer.run(addCategory, { name: "Dogs" });
  reader.refresh();
  expect(count()).toBe(1);
  reader.exec("rollback");
  await Bun.sleep(1);
  expect(count()).toBe(1);
  reader.close();
  close();
});

test("a setting that the database does not keep refuses to open", () => {
  // A database in memory has no write-ahead log.
  expect(String(thrown(() => connect(":memory:", "write")))).toMatch(/keeps journal_mode at memory/);
});

test("a file that is not there or not a database is unavailable", () => {
  using folder = aFolder();
  expect(thrown(() => connect(folder.file("none.db"), "read"))).toBeInstanceOf(Unavailable);
  writeFileSync(folder.file("text.db"), "This is a letter to my aunt, and not a database. ".repeat(100));
  expect(thrown(() => openStore(folder.file("text.db"), 0))).toBeInstanceOf(Unavailable);
  writeFileSync(folder.file("file"), "");
  expect(thrown(() => openStore(folder.file("file/petstore.db"), 0))).toBeInstanceOf(Unavailable);
});

test("a writer that waits in vain for another's lock is unavailable, and goes on when it is gone", () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 0);
  db.exec("pragma busy_timeout = 20");
  using other = new Database(folder.database);
  other.run("begin immediate");
  expect(thrown(() => db.run(addCategory, { name: "Dogs" }))).toBeInstanceOf(Unavailable);
  expect(db.get(countCategories, {})).toEqual({ count: 0 });
  other.run("rollback");
  db.run(addCategory, { name: "Dogs" });
  expect(db.get(countCategories, {})).toEqual({ count: 1 });
  close();
});

test("a mistake in a statement is a fault of ours and not trouble of the database", () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 0);
  expect(thrown(() => db.exec("select nothing from nowhere"))).not.toBeInstanceOf(Unavailable);
  expect(thrown(() => db.run(addCategory, { name: null }))).not.toBeInstanceOf(Unavailable);
  close();
});

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
