// An import that fails after its first line, or is not at its end, as its operator sees it: nothing is lost.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aPlace, exported, type Place } from "../move/places.ts";
import { eventually, PETSTORE, petstore, serving } from "./command.ts";

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

interface UnderWay {
  readonly database: string;
  /** Sends the rest of the export. */
  finish(): Promise<number>;
  kill(): Promise<number>;
}

/** An import into a new file that has read half of its export. */
async function halfImported(cut: Cut, database = join(cut.folder, "new.db")): Promise<UnderWay> {
  const half = cut.whole.length / 2;
  const child = Bun.spawn([PETSTORE, "import", "-"], {
    env: { PATH: process.env.PATH, DATABASE_URL: database },
    stdin: "pipe",
  });
  child.stdin.write(cut.whole.slice(0, half));
  await child.stdin.flush();
  expect(await eventually(() => Bun.file(database).size > 0, 10_000)).toBe(true);
  return {
    database,
    async finish() {
      child.stdin.write(cut.whole.slice(half));
      await child.stdin.end();
      return child.exited;
    },
    kill() {
      child.kill("SIGKILL");
      return child.exited;
    },
  };
}

test("while a store is imported no other import may have its file, and it is kept", async () => {
  await using cut = await aCutExport();
  const { database, finish } = await halfImported(cut);
  writeFileSync(cut.file, cut.whole);
  const refused = { code: 1, stdout: "", stderr: expect.stringContaining(`runs on ${database}`) };
  expect(await petstore(["import", cut.file, "--database-url", database])).toMatchObject(refused);
  expect(await finish()).toBe(0);
  expect(await exported(database)).toBe(cut.whole);
});

test("while a store is imported a server and every command say so, and change nothing", async () => {
  await using cut = await aCutExport();
  const { database, finish } = await halfImported(cut);
  const stderr = `petstore: An import is filling ${database}. Wait until it has ended, and run this again; nothing was changed.\n`;
  for (const command of [
    "serve --port 0",
    "migrate",
    "demo",
    "clients create --name Shop",
    "clients list",
    "keys create",
    "export -",
    "backup copy.db",
    `restore ${cut.url}`,
    "doctor",
  ]) {
    const asked = { env: { DATABASE_URL: database }, in: cut.folder };
    const ended = await petstore(command.split(" "), asked);
    expect({ command, ...ended }).toEqual({ command, code: 1, stdout: "", stderr });
  }
  expect(existsSync(join(cut.folder, "copy.db"))).toBe(false);
  expect(await finish()).toBe(0);
  expect(await exported(database)).toBe(cut.whole);
});

test("a link that is there before its file leads an import, and who asks for one, to the same place", async () => {
  await using cut = await aCutExport();
  const place = join(cut.folder, "place");
  const link = join(cut.folder, "link.db");
  symlinkSync("place/store.db", link);
  expect(await petstore(["import", cut.file, "--database-url", link])).toMatchObject(cannot);
  expect(existsSync(place)).toBe(false);
  const { finish } = await halfImported(cut, link);
  for (const database of [link, join(place, "store.db")]) {
    const stderr = expect.stringContaining(`An import is filling ${database}`);
    expect(await petstore(["doctor", "--database-url", database])).toMatchObject({ code: 1, stderr });
  }
  expect(await finish()).toBe(0);
  expect(await exported(link)).toBe(cut.whole);
  expect(statSync(link).mode & 0o777).toBe(0o600);
  expect(statSync(place).mode & 0o777).toBe(0o700);
});

test("an import that was killed keeps nobody from its file", async () => {
  await using cut = await aCutExport();
  const { database, kill } = await halfImported(cut);
  await kill();
  const env = { DATABASE_URL: database };
  expect(await petstore(["migrate"], { env })).toMatchObject({ code: 0 });
  await using _server = await serving({ database });
});
