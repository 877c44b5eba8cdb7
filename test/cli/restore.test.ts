// The way back from a backup, as the operator does it, and refused where it must be.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { migrations } from "../../src/store/migrations.ts";
import { connect } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { exported, records } from "../move/places.ts";
import { aBackup, aDemo, addCategory, asideOf, on, refusal, sentenceOf, spoil } from "./backups.ts";
import { aFolder, serving } from "./command.ts";

const SLOW_MS = 30_000;

test("a restore is refused while a server runs, which goes on", async () => {
  using folder = await aDemo();
  await aBackup(folder);
  await addCategory(folder.database, "Lizards");
  await using server = await serving({ database: folder.database });
  symlinkSync(folder.database, folder.file("link.db"));
  for (const database of [folder.database, folder.file("link.db")]) {
    const ended = await on(folder, "restore", "backup.db", "--force", "--database-url", database);
    expect(sentenceOf(ended, 1)).toBe(`A server runs on ${database}. Stop it first; nothing was changed.`);
  }
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await exported(folder.database)).toContain("Lizards");
  expect(readdirSync(folder.file("data")).filter((name) => name.includes("restor"))).toEqual([]);
});

test(
  "a restore takes only a backup of this version or an older one, and otherwise changes nothing",
  async () => {
    using folder = await aDemo();
    await aBackup(folder);
    const refused = (file: string, ...words: string[]) => refusal(folder, ["restore", file, ...words]);
    const none = " is no backup of a Petstore store; nothing was changed.";
    expect(await refused("backup.db")).toMatch(
      /^There is a store at \S+ already; nothing was changed\. With --force /,
    );
    expect(await refused("nothing.db", "--force")).toBe("There is no file nothing.db.");
    expect(await refused("data", "--force")).toBe("data is a folder, and no backup.");
    expect(await refused("data/petstore.db", "--force")).toContain("is the store itself");
    writeFileSync(folder.file("letter"), "Dear aunt, this is no backup.\n".repeat(50));
    expect(await refused("letter", "--force")).toBe(`letter${none}`);
    writeFileSync(folder.file("empty"), "");
    expect(await refused("empty", "--force")).toBe(`empty${none}`);
    new Database(folder.file("notes.db"), { create: true }).run("create table notes (text)");
    expect(await refused("notes.db", "--force")).toBe(`notes.db${none}`);
    expect((await on(folder, "export", "store.ndjson")).code).toBe(0);
    expect(await refused("store.ndjson", "--force")).toMatch(
      /^store\.ndjson is an export\. 'petstore import' takes it/,
    );
    cpSync(folder.file("backup.db"), folder.file("newer.db"));
    new Database(folder.file("newer.db")).run("insert into migrations values (99, 'from the future', 0)");
    expect(await refused("newer.db", "--force")).toMatch(
      /^Cannot restore newer\.db: The database has migration 99, this program knows only \d+\./,
    );
    expect(await refused("backup.db", "--database-url", "postgresql://db.example/petstore")).toContain(
      "pg_restore",
    );
    expect(await refused("backup.db", "--force", "--database-url", "notes.db")).toMatch(
      /^The database has tables of another program/,
    );
    const whole = readFileSync(folder.file("backup.db"));
    for (const bytes of [100_000, whole.length - 1]) {
      writeFileSync(folder.file("short.db"), whole.subarray(0, bytes));
      expect(await refusal(folder, ["restore", "short.db", "--force"], 3)).toMatch(
        /^short\.db is damaged: it fails the check "the file is whole": .+ Nothing was changed\. Take another backup\.$/,
      );
    }
    cpSync(folder.file("backup.db"), folder.file("spoilt.db"));
    spoil(folder.file("spoilt.db"), "pets");
    expect(await refusal(folder, ["restore", "spoilt.db", "--force"], 3)).toMatch(
      /^spoilt\.db is damaged: it fails the check "the file is whole": .+ Nothing was changed\. Take another backup\.$/,
    );
  },
  SLOW_MS,
);

test(
  "a restore names a folder where one of the store's files belongs, and changes nothing",
  async () => {
    using folder = await aDemo();
    await aBackup(folder);
    for (const part of ["-wal", "-journal", "-shm", "-lock", "-counts"]) {
      const place = folder.database + part;
      mkdirSync(place);
      expect(await refusal(folder, ["restore", "backup.db", "--force"])).toBe(
        `${place} is a folder, and the database needs a file there. Name another file with DATABASE_URL, or remove the folder if nothing is in it. Nothing was changed.`,
      );
      rmdirSync(place);
    }
    expect(readdirSync(folder.file("data"))).toEqual(["petstore.db"]);
    const elsewhere = ["--database-url", folder.file("data")];
    const told = await refusal(folder, ["restore", "backup.db", "--force", ...elsewhere]);
    expect(told).toStartWith(`${folder.file("data")} is a folder, and the database needs a file there.`);
  },
  SLOW_MS,
);

test("the store that was there is kept with all that its log has, and nothing of it reaches the new one", async () => {
  using folder = await aDemo();
  const file = await aBackup(folder);
  await using server = await serving({ database: folder.database });
  await server.end("SIGKILL");
  await addCategory(folder.database, "Lizards");
  const { database: live } = folder;
  // As a kill leaves it: what was committed is in the log only.
  const store = openStore(live, 1);
  await store.transact(
    async (writes) => void (await writes.addCategory({ name: "Toads", description: null }, 1)),
  );
  using killed = aFolder();
  cpSync(folder.path, killed.path, { recursive: true });
  store.close();
  expect(statSync(`${killed.database}-wal`).size).toBeGreaterThan(0);
  const old = await exported(folder.database);
  const { code, stdout } = await on(killed, "restore", file, "--force");
  expect(code).toBe(0);
  expect(stdout).toContain(`The store that was there is kept as ${asideOf(killed)}.\n`);
  expect(await records(killed.database)).toBe(await records(file));
  expect(await exported(asideOf(killed))).toBe(old);
  expect(old).toContain("Toads");
});

test("a store of a newer version, or one that is no longer a database, makes way for the backup", async () => {
  for (const [what, harm] of Object.entries({
    newer: (path: string) => {
      using database = new Database(path);
      database.run("insert into migrations values (99, 'from the future', 0)");
    },
    spoilt: (path: string) => spoil(path, "pets"),
    numberless: (path: string) => spoil(path, "sqlite_sequence"),
    rubbish: (path: string) => writeFileSync(path, "rubbish ".repeat(1000)),
  })) {
    using folder = await aDemo();
    const file = await aBackup(folder);
    harm(folder.database);
    if (what === "rubbish") writeFileSync(`${folder.database}-wal`, "the log of what was there");
    const { code, stdout, stderr } = await on(folder, "restore", file, "--force");
    expect([what, code, stderr]).toEqual([what, 0, ""]);
    const isUnread = what === "numberless" || what === "rubbish";
    expect([what, stdout.includes("their numbers are given again")]).toEqual([what, isUnread]);
    expect(await records(folder.database)).toBe(await records(file));
    const aside = asideOf(folder);
    if (what !== "rubbish") continue;
    expect(readFileSync(aside, "utf8")).toStartWith("rubbish ");
    expect(readFileSync(`${aside}-wal`, "utf8")).toBe("the log of what was there");
  }
});

test("a log without its database is no part of the store that is restored beside it", async () => {
  using folder = await aDemo();
  const file = await aBackup(folder);
  using bare = aFolder();
  const store = openStore(folder.database, 1);
  await store.transact(
    async (writes) => void (await writes.addCategory({ name: "Toads", description: null }, 1)),
  );
  mkdirSync(join(bare.database, ".."));
  cpSync(`${folder.database}-wal`, `${bare.database}-wal`);
  store.close();
  expect(await refusal(bare, ["restore", file])).toMatch(/^There is a store at /);
  expect((await on(bare, "restore", file, "--force")).code).toBe(0);
  expect(await records(bare.database)).toBe(await records(file));
  expect(readdirSync(join(bare.database, "..")).filter((name) => name.endsWith("-wal"))).toHaveLength(1);
  expect(existsSync(`${bare.database}-wal`)).toBe(false);
});

test("where the path is a link, what it leads to is replaced", async () => {
  using folder = await aDemo();
  const file = await aBackup(folder);
  await addCategory(folder.database, "Lizards");
  const link = folder.file("link.db");
  symlinkSync(folder.database, link);
  expect((await on(folder, "restore", file, "--force", "--database-url", link)).code).toBe(0);
  expect(realpathSync(link)).toBe(realpathSync(folder.database));
  expect(await records(folder.database)).toBe(await records(file));
});

test(
  "a restore does not take the place of a store that another process has open",
  async () => {
    using folder = await aDemo();
    await aBackup(folder);
    const store = openStore(folder.database, 1);
    const told = sentenceOf(await on(folder, "restore", "backup.db", "--force"), 1);
    expect(told).toMatch(/^Another process has \S+ open\. .+ nothing was changed\.$/);
    await store.transact(
      async (writes) => void (await writes.addCategory({ name: "Toads", description: null }, 1)),
    );
    store.close();
    expect(readdirSync(folder.file("data")).sort()).toEqual(["petstore.db", "petstore.db-lock"]);
    expect(await exported(folder.database)).toContain("Toads");
  },
  SLOW_MS,
);

test("an older version's store is backed up before an upgrade, and restored to be migrated by the next start", async () => {
  using folder = aFolder();
  mkdirSync(folder.file("data"));
  const old = connect(folder.database, "write");
  migrate(old, 1, migrations.slice(0, 1));
  old.exec("insert into categories (name, name_key, created_at) values ('Dogs', 'dogs', 0)");
  old.close();
  await aBackup(folder);
  expect((await on(folder, "migrate")).code).toBe(0);
  const { code, stdout } = await on(folder, "restore", "backup.db", "--force");
  expect(code).toBe(0);
  expect(stdout).toContain(
    `Its tables have migration 1 of ${migrations.length}: the next start brings them up to date.`,
  );
  const db = connect(folder.database, "read");
  expect(db.value("select max(number) from migrations")).toBe(1);
  db.close();
  await using server = await serving({ database: folder.database });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await exported(folder.database)).toContain('"Dogs"');
  expect(basename(asideOf(folder))).toStartWith("petstore.db.before-restore-");
});
