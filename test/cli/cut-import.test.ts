// An import that fails after its first line, as its operator sees it: everything is as it was.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aPlace, exported, type Place } from "../move/places.ts";
import { eventually, PETSTORE, petstore } from "./command.ts";

interface Cut extends Place {
  /** An export that ends in the middle, and the whole of it. */
  readonly file: string;
  readonly whole: string;
}

async function aCutExport(): Promise<Cut> {
  const place = await aPlace("sqlite");
  await petstore(["demo"], { env: { DATABASE_URL: place.url } });
  const whole = await exported(place.url);
  const file = join(place.folder, "cut.ndjson");
  writeFileSync(file, whole.slice(0, whole.length / 2));
  return { ...place, file, whole };
}

const cannot = { code: 1, stdout: "", stderr: expect.stringContaining("Nothing was imported.") };

test("an import that is cut leaves no file where there was none, nor folders that it made for it", async () => {
  await using cut = await aCutExport();
  const database = join(cut.folder, "new/and/deeper/store.db");
  expect(await petstore(["import", cut.file, "--database-url", database])).toMatchObject(cannot);
  expect(existsSync(join(cut.folder, "new"))).toBe(false);
  writeFileSync(cut.file, cut.whole);
  expect((await petstore(["import", cut.file, "--database-url", database])).code).toBe(0);
  expect(await exported(database)).toBe(cut.whole);
});

test("an import that is cut leaves nothing in a folder that was there", async () => {
  await using cut = await aCutExport();
  const database = join(cut.folder, "there/store.db");
  mkdirSync(dirname(database));
  expect(await petstore(["import", cut.file, "--database-url", database])).toMatchObject(cannot);
  expect(readdirSync(dirname(database))).toEqual([]);
});

test("an import that is cut leaves an empty store that was there as it was", async () => {
  await using cut = await aCutExport();
  await using target = await aPlace("sqlite");
  const before = await exported(target.url);
  expect(await petstore(["import", cut.file, "--database-url", target.url])).toMatchObject(cannot);
  expect(await exported(target.url)).toBe(before);
});

test("while a store is imported no other import may have its file, and it is kept", async () => {
  await using cut = await aCutExport();
  const database = join(cut.folder, "new.db");
  const env = { DATABASE_URL: database };
  const first = Bun.spawn([PETSTORE, "import", "-"], {
    env: { PATH: process.env.PATH, ...env },
    stdin: "pipe",
  });
  first.stdin.write(cut.whole.slice(0, cut.whole.length / 2));
  await first.stdin.flush();
  expect(await eventually(() => existsSync(database), 10_000)).toBe(true);
  writeFileSync(cut.file, cut.whole);
  const refused = { code: 1, stdout: "", stderr: expect.stringContaining(`runs on ${database}`) };
  expect(await petstore(["import", cut.file], { env })).toMatchObject(refused);
  first.stdin.write(cut.whole.slice(cut.whole.length / 2));
  await first.stdin.end();
  expect(await first.exited).toBe(0);
  expect(await exported(database)).toBe(cut.whole);
});
