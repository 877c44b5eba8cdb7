import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { writerLog } from "../../src/store/sqlite/log.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { sql } from "../../src/store/statement.ts";
import { aFolder, type Folder } from "../cli/command.ts";

const addCategory = sql`insert into categories (name, name_key, description, created_at) values (:name, :name, :text, 0)`;
const bounds = { step: 100, long: 300, ahead: 200, afterPause: 20 };

test("what was copied and may not be on the disk yet is still in the log, until the disk has it", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  store.growTo(bounds.long - bounds.step);
  expect(store.left()).toBeLessThan(bounds.step + bounds.afterPause);
  expect(rowsIn(folder, "as it was", "with the log")).toBe(store.rows());
  store.growTo(bounds.long + bounds.step);
  expect([store.flushes, store.left() > 0]).toEqual([1, true]);
  expect(rowsIn(folder, "as it was", "with the log")).toBe(store.rows());
});

test("once the disk has what was copied the rest follows, and the log begins anew", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  for (let time = 1; time <= 3; time++) {
    store.growTo(bounds.long + bounds.step / 2);
    expect(store.flushes).toBe(time);
    store.log.flushed();
    store.grow();
    expect(store.left()).toBe(0);
    expect(rowsIn(folder, "as it is", "without the log")).toBe(store.rows());
    store.grow();
    expect(store.pages()).toBeLessThan(bounds.step);
  }
});

test("what came while the disk was slow is copied and brought to it first, so that nobody waits for much", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  store.growTo(bounds.long + 1.5 * bounds.step);
  store.log.flushed();
  store.grow();
  store.grow();
  expect(store.flushes).toBe(2);
  expect(store.left()).toBeLessThan(bounds.step);
  expect(rowsIn(folder, "as it was", "with the log")).toBe(store.rows());
});

test("a disk that does not come to its end is waited for, so that the log ends", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  store.growTo(bounds.long + bounds.ahead);
  expect(store.flushes).toBe(1);
  for (let more = 0; more < 10; more++) store.grow();
  expect(store.pages()).toBeLessThan(bounds.step);
  expect(store.flushes).toBe(1);
});

test("a log that grows by more than a step while the disk is at work ends all the same", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  let longest = 0;
  for (let time = 1; time <= 8; time++) {
    while (store.flushes < time) store.grow();
    store.growTo(store.pages() + 1.5 * bounds.step);
    longest = Math.max(longest, store.pages());
    store.log.flushed();
  }
  expect(longest).toBeGreaterThan(bounds.long + bounds.step);
  expect(longest).toBeLessThan(bounds.long + bounds.ahead + 2 * bounds.step);
});

test("a batch that has changed nothing makes no copy to the log's end", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  store.growTo(bounds.step);
  store.log.grown();
  store.log.grown();
  expect(store.left()).toBeGreaterThanOrEqual(bounds.step);
  store.grow();
  expect(store.left()).toBeLessThan(bounds.afterPause);
});

test("while the disk is at work a pause copies nothing, and afterwards the rest", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  store.growTo(bounds.long + bounds.step / 2);
  expect([store.flushes, store.log.isWorthCopying()]).toEqual([1, false]);
  store.log.flushed();
  expect(store.log.isWorthCopying()).toBe(true);
});

test("when writes pause all is copied, also where the reader stands in the log", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  store.grow();
  expect(store.log.isWorthCopying()).toBe(false);
  store.growTo(bounds.afterPause);
  expect(store.log.isWorthCopying()).toBe(true);
  store.log.copyAll();
  expect([store.log.isWorthCopying(), store.left()]).toEqual([false, 0]);
  store.grow();
  store.growTo(bounds.step + bounds.afterPause);
  expect(store.left()).toBeGreaterThan(0);
  expect(store.log.isWorthCopying()).toBe(true);
  store.log.copyAll();
  expect([store.log.isWorthCopying(), store.left()]).toEqual([false, 0]);
  store.grow();
  expect(store.pages()).toBeLessThan(bounds.afterPause);
});

test("who reads an older state keeps the log, and its end is copied when that is over", () => {
  using folder = aFolder();
  using store = grownStore(folder);
  {
    using other = new Database(folder.database, { readonly: true });
    other.run("begin");
    const before = other.query("select count(*) from categories").values();
    store.growTo(bounds.long + bounds.step);
    store.log.flushed();
    store.growTo(2 * bounds.long);
    expect([store.flushes, store.left() > bounds.long]).toEqual([0, true]);
    expect(other.query("select count(*) from categories").values()).toEqual(before);
  }
  for (let more = 0; more < bounds.step; more++) {
    store.grow();
    store.log.flushed();
  }
  expect(store.pages()).toBeLessThan(bounds.long + bounds.step);
  expect(rowsIn(folder, "as it is", "with the log")).toBe(store.rows());
});

/** A store with a log of small bounds, and a copy of its file from before anything was written. */
function grownStore(folder: Folder) {
  openStore(folder.database, 0).close();
  copyFileSync(folder.database, folder.file("before.db"));
  const { db, close } = openStore(folder.database, 0);
  let flushes = 0;
  const needs = {
    flush: () => void flushes++,
    lost(error: unknown) {
      throw error;
    },
  };
  const log = writerLog(db, folder.database, needs, bounds);
  const length = () => db.rows("pragma wal_checkpoint(noop)")[0] as { log: number; checkpointed: number };
  const grow = () => {
    db.begin();
    db.run(addCategory, { name: "Dogs", text: "d".repeat(4000) });
    db.commit();
    log.grown();
  };
  return {
    log,
    grow,
    growTo(pages: number) {
      for (let more = 0; length().log < pages; more++) {
        if (more > pages) throw new Error(`The log has begun anew before it had ${pages} pages.`);
        grow();
      }
    },
    get flushes() {
      return flushes;
    },
    pages: () => length().log,
    left: () => length().log - length().checkpointed,
    rows: () => Number(db.value("select count(*) from categories")),
    [Symbol.dispose]() {
      log.close();
      close();
    },
  };
}

/** What a start finds after a loss of power, if of the file the disk has all or nothing of what was written to it. */
function rowsIn(
  folder: Folder,
  file: "as it was" | "as it is",
  log: "with the log" | "without the log",
): number {
  const found = folder.file("found.db");
  copyFileSync(file === "as it was" ? folder.file("before.db") : folder.database, found);
  if (log === "with the log") copyFileSync(`${folder.database}-wal`, `${found}-wal`);
  else expect(existsSync(`${found}-wal`)).toBe(false);
  using database = new Database(found);
  const [[rows]] = database.query("select count(*) from categories").values() as [[number]];
  expect(database.query("pragma integrity_check").values()).toEqual([["ok"]]);
  return rows;
}
