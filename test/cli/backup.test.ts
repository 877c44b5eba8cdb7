// A backup as the operator makes it: with the command, and refused where it must be.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { migrations } from "../../src/store/migrations.ts";
import { diagnosed, exported, records } from "../move/places.ts";
import { aBackup, aDemo, addCategory, contents, DEMO, on, refusal, sentenceOf, spoil } from "./backups.ts";
import { PETSTORE, run, serving } from "./command.ts";

const SLOW_MS = 30_000;

test("a backup is one file of its owner only, and a restore elsewhere makes the same store of it", async () => {
  using folder = await aDemo();
  const made = await on(folder, "backup", "backup.db");
  expect(made).toEqual({
    code: 0,
    stdout: `Backed up a store ${DEMO} to backup.db (0.3 MB). Nothing is wrong with them.\n`,
    stderr: "",
  });
  expect(statSync(folder.file("backup.db")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path).sort()).toEqual(["backup.db", "data"]);
  expect(readdirSync(folder.file("data"))).toEqual(["petstore.db"]);

  const target = folder.file("new/place/store.db");
  const put = await on(folder, "restore", "backup.db", "--database-url", target);
  expect({ code: put.code, stderr: put.stderr }).toEqual({ code: 0, stderr: "" });
  expect(put.stdout).toStartWith(
    `Restored a store ${DEMO} to ${target}. Nothing is wrong with them.\nThe last event of the backup is of `,
  );
  expect(put.stdout).not.toContain("is kept as");
  expect(await records(target)).toBe(await records(folder.database));
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(statSync(folder.file("new/place")).mode & 0o777).toBe(0o700);
  await using server = await serving({ database: target });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test("machines read what a backup and a restore did", async () => {
  using folder = await aDemo();
  const counts = { pets: 11, categories: 4, orders: 0, movements: 17, events: 22, clients: 1 };
  const made = JSON.parse((await on(folder, "backup", "backup.db", "--json")).stdout);
  const lastEventAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const { size } = statSync(folder.file("backup.db"));
  const migration = migrations.length;
  expect(made).toEqual({ file: "backup.db", bytes: size, migration, lastEventAt, isChecked: true, counts });
  const put = JSON.parse((await on(folder, "restore", "backup.db", "--force", "--json")).stdout);
  const keptAside = expect.stringContaining(`${folder.database}.before-restore-`);
  expect(put).toEqual({
    file: "backup.db",
    database: folder.database,
    migration,
    lastEventAt,
    keptAside,
    isBeyond: true,
    counts,
  });
});

test("a file that is there stays as it is, and is replaced with --force", async () => {
  using folder = await aDemo();
  const file = await aBackup(folder);
  const first = await exported(file);
  await addCategory(folder.database, "Lizards");
  expect(await refusal(folder, ["backup", "backup.db"])).toBe(
    "backup.db is there already. Name another file, or replace it with --force.",
  );
  expect((await on(folder, "backup", "backup.db", "--force")).code).toBe(0);
  expect(await exported(file)).not.toBe(first);
  expect(await exported(file)).toBe(await exported(folder.database));
});

test(
  "a backup is refused where it cannot be, and leaves everything as it was",
  async () => {
    using folder = await aDemo();
    mkdirSync(folder.file("folder"));
    symlinkSync(folder.database, folder.file("link.db"));
    linkSync(folder.database, folder.file("twin.db"));
    writeFileSync(folder.file("other.db-wal"), "the log of another database");
    writeFileSync(folder.file("letter"), "Dear aunt");
    const refused = async (...words: string[]) => refusal(folder, ["backup", ...words]);
    expect(await refused("nowhere/backup.db")).toBe(
      "Cannot write nowhere/backup.db: its folder nowhere is not there.",
    );
    expect(await refused("letter/backup.db")).toMatch(/^Cannot write letter\/backup\.db: /);
    expect(await refused("folder", "--force")).toBe("folder is a folder. Name a file in it.");
    for (const own of [
      "data/petstore.db",
      "data/petstore.db-wal",
      "data/petstore.db-lock",
      "link.db",
      "twin.db",
    ])
      expect(await refused(own, "--force")).toBe(`${own} is part of the store itself. Name another file.`);
    expect(await refused("other.db")).toMatch(
      /^other\.db-wal is there, and would be taken for a part of the backup\./,
    );
    const elsewhere = (database: string) => refused("backup.db", "--database-url", database);
    expect(await elsewhere("nothing.db")).toMatch(/^There is no database at /);
    expect(await elsewhere("letter")).toContain("file is not a database");
    using other = new Database(folder.file("notes.db"), { create: true });
    other.run("create table notes (text)");
    expect(await elsewhere("notes.db")).toMatch(/^The database has tables of another program/);
    expect(await elsewhere("postgres://db.example/petstore")).toMatch(
      /^'petstore backup' is for a database that is a file, [^\n]+ pg_dump [^\n]+ 'petstore export'/,
    );
  },
  SLOW_MS,
);

test("a backup does not go to standard output, and is not taken for an export", async () => {
  using folder = await aDemo();
  expect(await refusal(folder, ["backup", "-"])).toBe(
    "A backup goes to a file; 'petstore export -' writes to standard output.",
  );
  await aBackup(folder);
  const elsewhere = ["--database-url", folder.file("new/store.db")];
  expect(await refusal(folder, ["import", "backup.db", ...elsewhere])).toBe(
    "backup.db is a database, and no export. If it is a backup, 'petstore restore' takes it; nothing was changed.",
  );
  expect(existsSync(folder.file("new"))).toBe(false);
});

test("a store that is damaged replaces no backup, exit code 3, and is copied as it is only when that is asked for", async () => {
  using folder = await aDemo();
  await aBackup(folder);
  {
    using database = new Database(folder.database);
    database.run("update movements set balance = 9 where id = 2");
  }
  const told = await refusal(folder, ["backup", "backup.db", "--force"], 3);
  expect(told).toContain(
    'is damaged: it fails the check "balances follow the ledger": movement 2 of pet 1 says a balance of 9',
  );
  expect(told).toContain("No backup was made.");
  const { code, stdout } = await on(folder, "backup", "damaged.db", "--no-check");
  expect([code, stdout]).toEqual([
    0,
    `Backed up a store ${DEMO} to damaged.db (0.3 MB). They were not checked.\n`,
  ]);
  expect((await diagnosed(folder.file("damaged.db"))).findings).toHaveLength(1);
  expect(await refusal(folder, ["restore", "damaged.db", "--force"], 3)).toMatch(
    /^damaged\.db is damaged: it fails the check "balances follow the ledger": .+ Nothing was changed\. /,
  );
  spoil(folder.database, "movements");
  expect(await refusal(folder, ["backup", "another.db"], 3)).toContain(
    'is damaged: it fails the check "the file is whole": ',
  );
});

test("a disk without room is told, and nothing half written stays", async () => {
  using folder = await aDemo();
  const before = contents(folder);
  // A limit on the size of files is a full disk for one process; the signal that comes with it is ignored.
  const limited = (words: string) => ["sh", "-c", `trap "" XFSZ; ulimit -f 100; exec ${PETSTORE} ${words}`];
  const asked = { env: { DATABASE_URL: folder.database }, in: folder.path };
  const made = sentenceOf(await run(limited("backup full.db"), asked), 1);
  expect(made).toMatch(/^Cannot copy: (disk I\/O error|database or disk is full)\. Nothing was changed\.$/);
  expect(contents(folder)).toEqual(before);
  await aBackup(folder);
  const prepared = contents(folder);
  const put = sentenceOf(await run(limited("restore backup.db --force"), asked), 1);
  expect(put).toMatch(/^Cannot copy: (disk I\/O error|database or disk is full)\. Nothing was changed\.$/);
  expect(contents(folder)).toEqual(prepared);
});
