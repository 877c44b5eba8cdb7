// The one file that `npm run build` makes, as an operator has it: copied to a machine with nothing beside it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { runtimeSettings } from "../../src/cli/runtime-settings.ts";
import { pages } from "../../src/http/pages.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aValkey } from "../servers/valkey.ts";
import { root } from "../sources.ts";
import { adminKey, aFolder, type Folder, PETSTORE, petstore, run, type Served, serving } from "./command.ts";

/** A value of the builder's environment, in a variable that a package asks for by its name. */
const BUILDERS_SECRET = "horse-battery-of-the-builder";
/** No program is found, and nobody has a home. */
const nothing = { PATH: "/nowhere", HOME: "/nowhere" };

const place = aFolder();
const executable = place.file("petstore");
const build = (file: string) =>
  run([process.execPath, "--no-install", "build/executable.ts", file], {
    in: root,
    env: { DEBUG: BUILDERS_SECRET },
  });
let built: Awaited<ReturnType<typeof build>>;
beforeAll(async () => {
  built = await build(executable);
});
afterAll(() => place[Symbol.dispose]());

type Env = Readonly<Record<string, string>>;

/** The executable with these words, in a folder. */
const ran = (folder: Folder, words: readonly string[], env: Env = {}) =>
  run([executable, ...words], { in: folder.path, env: { ...nothing, ...env } });

const started = (folder: Folder, database = folder.database, env: Env = {}) =>
  serving({
    command: [executable, "serve", "--demo"],
    database,
    in: folder.path,
    env: { ...nothing, LOG_LEVEL: "warn", ...env },
  });

async function ordered({ url }: Served, key: string): Promise<{ id: number }> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const body = JSON.stringify({ petId: 1, quantity: 2 });
  const response = await fetch(`${url}/store/orders`, { method: "POST", headers, body });
  expect(response.status).toBe(201);
  return (await response.json()) as { id: number };
}

test("a build says what it made, is the same when it is made again, and has nothing of its builder in it", async () => {
  expect(built).toMatchObject({ code: 0, stderr: "" });
  expect(built.stdout).toMatch(/^\S+\/petstore is built: Petstore 1\.0\.0, \d+\.\d MB\.\n$/);
  using again = aFolder();
  await build(again.file("petstore"));
  const bytes = readFileSync(executable);
  expect(bytes.equals(readFileSync(again.file("petstore")))).toBe(true);
  for (const trace of [BUILDERS_SECRET, root]) expect([trace, bytes.includes(trace)]).toEqual([trace, false]);
  expect([...new Bun.Glob("*").scanSync({ cwd: again.path, onlyFiles: false })]).toEqual(["petstore"]);
});

test.each([
  [["--version"]],
  [["--help"]],
  [["help", "keys", "create"]],
  [["serve", "--help"]],
  [[]],
  [[""]],
  [["two words"]],
  [["-e", "1"]],
  [["--smol"]],
  [["clients", "create", "--name", ""]],
  [["serve", "--port", "eighty", "--host", "a b"]],
  [["doctor"]],
])("%j ends as it does from source, whoever else would understand the words", async (words) => {
  using folder = aFolder();
  expect(await ran(folder, words)).toEqual(await petstore(words, { in: folder.path }));
});

test.each([
  ["from source", PETSTORE],
  ["as one file", executable],
])("%s, files of the folder that it is started in change nothing", async (_, program) => {
  using folder = aFolder();
  writeFileSync(folder.file(".env"), "PET_GET_SUNSET_AT=never\n");
  writeFileSync(folder.file("bunfig.toml"), 'preload = ["./planted.ts"]\n');
  writeFileSync(folder.file("planted.ts"), 'console.log("planted");\n');
  const { code, stdout, stderr } = await run([program, "openapi"], { in: folder.path });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(readFileSync(`${root}/openapi.json`, "utf8"));
});

test("no driver of PostgreSQL is taken from the folder that it is started in, whatever the environment asks for", async () => {
  using folder = aFolder();
  const planted = folder.file("node_modules/pg-native/index.js");
  await Bun.write(planted, 'console.log("planted");\n');
  const env = { NODE_PG_FORCE_NATIVE: "1", DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };
  const { code, stdout, stderr } = await ran(folder, ["doctor"], env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("ECONNREFUSED");
});

test("a first start makes a store and a key, and what it answered outlives a kill", async () => {
  using folder = aFolder();
  const first = await started(folder);
  expect(first.stderr()).toContain("admin key   in ");
  expect(first.stderr()).toContain(`console     ${first.url}/console`);
  const key = adminKey(folder);
  const order = await ordered(first, key);
  await first.end("SIGKILL");
  await using second = await started(folder);
  const found = await fetch(`${second.url}/store/orders/${order.id}`, { headers: { "x-api-key": key } });
  expect([found.status, await found.json()]).toEqual([200, order]);
  expect(await second.end("SIGTERM")).toBe(0);
});

test("every page is byte for byte the one from source", async () => {
  using folder = aFolder();
  using other = aFolder();
  await using one = await started(folder);
  await using source = await serving({ database: other.database, in: other.path });
  const folderOfPages = new URL("file:///");
  const deprecation = { deprecatedAt: 0, sunsetAt: 0 };
  const paths = Object.keys(
    pages(
      async () => ({}),
      deprecation,
      async () => true,
      folderOfPages,
    ),
  );
  expect(paths).toContain("/console/console.js");
  for (const path of paths) {
    const [here, there] = await Promise.all([pageOf(one, path), pageOf(source, path)]);
    expect(here).toEqual(there);
  }
});

async function pageOf({ url }: Served, path: string) {
  const response = await fetch(url + path, { redirect: "manual" });
  const headers = Object.fromEntries(response.headers);
  const { date, "x-request-id": requestId, ...lasting } = headers;
  return { path, status: response.status, headers: lasting, body: await response.text() };
}

test("the runtime has the same settings as from source, and another if that is given", async () => {
  using folder = aFolder();
  using other = aFolder();
  const settingsOf = ({ pid }: Served) =>
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .match(/(BUN_JSC|MIMALLOC)_[^\0]*/g)
      ?.sort();
  {
    await using one = await started(folder);
    await using source = await serving({ database: other.database, in: other.path });
    expect(settingsOf(one)).toHaveLength(Object.keys(runtimeSettings).length);
    expect(settingsOf(one)).toEqual(settingsOf(source));
  }
  await using given = await started(folder, folder.database, { BUN_JSC_heapGrowthMaxIncrease: "2" });
  expect(settingsOf(given)).toHaveLength(Object.keys(runtimeSettings).length);
  expect(settingsOf(given)).toContain("BUN_JSC_heapGrowthMaxIncrease=2");
});

test("a store is backed up beside its server, proven, restored, and moved through a pipe", async () => {
  using folder = aFolder();
  using other = aFolder();
  await using server = await started(folder);
  await ordered(server, adminKey(folder));
  const env = { DATABASE_URL: folder.database };
  expect(await ran(folder, ["backup", "copy.db"], env)).toMatchObject({ code: 0, stderr: "" });
  expect(await server.end("SIGTERM")).toBe(0);
  expect(await ran(folder, ["restore", "copy.db", "--force"], env)).toMatchObject({ code: 0, stderr: "" });
  const pipe = `"${executable}" export - | DATABASE_URL="${other.database}" "${executable}" import -`;
  expect((await run(["/bin/sh", "-c", pipe], { env: { ...nothing, ...env } })).code).toBe(0);
  const { code, stdout } = await ran(other, ["doctor", "--json"], { DATABASE_URL: other.database });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { findings: [], counts: { orders: 1, pets: 11 } }]);
});

test("it sells on PostgreSQL and counts in Valkey", async () => {
  await using valkey = await aValkey();
  const postgres = await sharedPostgres();
  using folder = aFolder();
  const database = postgres.url(await postgres.newDatabase());
  await using server = await started(folder, database, { VALKEY_URL: valkey.url });
  expect(await ordered(server, adminKey(folder))).toMatchObject({ id: 1 });
  expect(await valkey.client().keys("petstore:*:windows")).toHaveLength(1);
  expect(await server.end("SIGTERM")).toBe(0);
  const { code, stdout } = await ran(folder, ["doctor", "--json"], { DATABASE_URL: database });
  expect([code, JSON.parse(stdout).counts.orders]).toEqual([0, 1]);
});
