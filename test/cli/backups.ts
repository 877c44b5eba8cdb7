// A store in a folder of its own, and the command on it, for the tests of backups and restores.
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/store/sqlite/store.ts";
import { aFolder, type Ended, type Folder, petstore } from "./command.ts";

export const DEMO = "(pets: 11, orders: 0, clients: 1, ...)";

/** A command on the store of a folder. */
export const on = (folder: Folder, ...words: string[]) =>
  petstore(words, { env: { DATABASE_URL: folder.database }, in: folder.path });

export async function aDemo(): Promise<Folder> {
  const folder = aFolder();
  expect((await on(folder, "demo")).code).toBe(0);
  return folder;
}

export async function aBackup(folder: Folder, name = "backup.db"): Promise<string> {
  expect(await on(folder, "backup", name)).toMatchObject({ code: 0, stderr: "" });
  return folder.file(name);
}

export async function addCategory(database: string, name: string): Promise<void> {
  const store = openStore(database, 1);
  await store.transact(async (writes) => void (await writes.addCategory({ name, description: null }, 1)));
  store.close();
}

/** Every file of the folder, by its content; without what each look at a database may leave beside it, and the lock. */
export function contents({ path }: Folder): Record<string, string> {
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
export async function refusal(folder: Folder, words: readonly string[], code = 1): Promise<string> {
  const before = contents(folder);
  const ended = await on(folder, ...words);
  expect(contents(folder)).toEqual(before);
  return sentenceOf(ended, code);
}

export function sentenceOf({ code, stdout, stderr }: Ended, expected: number): string {
  expect({ code, stdout, stderr }).toEqual({
    code: expected,
    stdout: "",
    stderr: expect.stringMatching(/^petstore: [^\n]+\n$/),
  });
  return stderr.slice("petstore: ".length, -1);
}

/** Overwrites the first page of a table with rubbish. */
export function spoil(path: string, table: string): void {
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

/** The store that a restore has kept aside. */
export function asideOf({ database }: Folder): string {
  const [name, ...more] = readdirSync(join(database, "..")).filter((each) =>
    /\.before-restore-\w+$/.test(each),
  );
  expect(more).toEqual([]);
  return join(database, "..", String(name));
}
