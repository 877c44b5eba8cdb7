// A backup and its way back, as the operator does it: with the command, and refused where it must be.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  closeSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { migrations } from "../../src/store/migrations.ts";
import { connect } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { diagnosed, exported, records } from "../move/places.ts";
import { aFolder, type Ended, type Folder, PETSTORE, petstore, run, serving } from "./command.ts";

const SLOW_MS = 30_000;
const DEMO = "(pets: 11, orders: 0, clients: 1, ...)";

/** A command on the store of a folder. */
const on = (folder: Folder, ...words: string[]) =>
  petstore(words, { env: { DATABASE_URL: folder.database }, in: folder.path });

async function aDemo(): Promise<Folder> {
  const folder = aFolder();
  expect((await on(folder, "demo")).code).toBe(0);
  return folder;
}

async function aBackup(folder: Folder, name = "backup.db"): Promise<string> {
  expect(await on(folder, "backup", name)).toMatchObject({ code: 0, stderr: "" });
  return folder.file(name);
}

async function addCategory(database: string, name: string): Promise<void> {
  const store = openStore(database, 1);
  await store.transact(async (writes) => void (await writes.addCategory({ name, description: null }, 1)));
  store.close();
}

/** Every file of the folder, by its content; without what each look at a database may leave beside it, and the lock. */
function contents({ path }: Folder): Record<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join(path, name)).isFile());
  const lasting = files.filter(
    (name) => !/-(shm|lock)$/.test(name) && !(name.endsWith("-wal") && statSync(join(path, name)).size === 0),
  );
  return Object.fromEntries(
    lasting
      .sort()
      .map((name) => [
        name,
        new Bun.CryptoHasher("sha256").update(readFileSync(join(path, name))).digest("hex"),
      ]),
  );
}

/** The one sentence that a command refuses with; nothing in the folder may have changed. */
async function refusal(folder: Folder, words: readonly string[], code = 1): Promise<string> {
  const before = contents(folder);
  const ended = await on(folder, ...words);
  expect(contents(folder)).toEqual(before);
  return sentenceOf(ended, code);
}

function sentenceOf({ code, stdout, stderr }: Ended, expected: number): string {
  expect({ code, stdout, stderr }).toEqual({
    code: expected,
    stdout: "",
    stderr: expect.stringMatching(/^petstore: [^\n]+\n$/),
  });
  return stderr.slice("petstore: ".length, -1);
}

/** Overwrites the first page of a table with rubbish. */
function spoil(path: string, table: string): void {
  const database = new Database(path);
  const pageBytes = Number(database.query("pragma page_size").values()[0]?.[0]);
  const page = Number(
    database.query("select rootpage from sqlite_schema where name = ?").values(table)[0]?.[0],
  );
  database.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(pageBytes, "rubbish "), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
}

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

/** The store that a restore has kept aside. */
function asideOf({ database }: Folder): string {
  const [name, ...more] = readdirSync(join(database, "..")).filter((each) =>
    /\.before-restore-\w+$/.test(each),
  );
  expect(more).toEqual([]);
  return join(database, "..", String(name));
}

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
    rubbish: (path: string) => writeFileSync(path, "rubbish ".repeat(1000)),
  })) {
    using folder = await aDemo();
    const file = await aBackup(folder);
    harm(folder.database);
    if (what === "rubbish") writeFileSync(`${folder.database}-wal`, "the log of what was there");
    const { code, stderr } = await on(folder, "restore", file, "--force");
    expect([what, code, stderr]).toEqual([what, 0, ""]);
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
