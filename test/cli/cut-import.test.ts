// An import that fails after its first line, as its operator sees it: everything is as it was.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { holdStore, openStore, unmakingStore } from "../../src/store/open.ts";
import { aPlace, exported, NOW, type Place } from "../move/places.ts";
import { petstore } from "./command.ts";

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

test("a file that a server has taken up by the time an import fails is left to it", async () => {
  await using place = await aPlace("sqlite");
  const database = join(place.folder, "new.db");
  const unmake = await unmakingStore(database);
  await (await openStore(database, NOW)).close();
  using _server = await holdStore(database);
  unmake();
  expect(existsSync(database)).toBe(true);
});
