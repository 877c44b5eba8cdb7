import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import {
  adminKey,
  aFolder,
  eventually,
  type Folder,
  petstore,
  run,
  type Served,
  serving,
} from "../cli/command.ts";

const REQUESTS = 20;
/** How long another process writes; shorter than a start waits for it. */
const LOCKED_MS = 3000;
/** Counts are written down twice a second. */
const WRITTEN_MS = 1200;
const TIME_LIMIT_MS = 30_000;

const countsOf = (folder: Folder) => `${folder.database}-counts`;
const serve = (folder: Folder) => serving({ database: folder.database, env: { LOG_LEVEL: "warn" } });

/** Asks so often, and waits until that is written down. */
async function ask({ url }: Served, folder: Folder, path = "/pets"): Promise<void> {
  for (let n = 0; n < REQUESTS; n++)
    expect((await fetch(url + path, { headers: { "x-api-key": adminKey(folder) } })).status).toBe(200);
  await Bun.sleep(WRITTEN_MS);
}

/** How often pets were listed, as the client is told. */
async function counted({ url }: Served, folder: Folder): Promise<number> {
  const answer = await fetch(`${url}/account/usage`, { headers: { "x-api-key": adminKey(folder) } });
  const { byOperation } = (await answer.json()) as { byOperation: Record<string, number[]> };
  return (byOperation["pets.list"] ?? []).reduce((sum, requests) => sum + requests, 0);
}

/** How many requests of the day are left to the client; to ask costs none. */
async function leftOfDay({ url }: Served, folder: Folder): Promise<number> {
  const answer = await fetch(`${url}/account/limits`, { headers: { "x-api-key": adminKey(folder) } });
  return ((await answer.json()) as { day: { remaining: number } }).day.remaining;
}

test(
  "requests alone commit nothing; what was counted is there after a kill, and was told before it too",
  async () => {
    using folder = aFolder();
    await using server = await serve(folder);
    await ask(server, folder);
    using beside = new Database(folder.database, { readonly: true });
    const version = () => beside.query("pragma data_version").get();
    const before = version();
    await ask(server, folder);
    expect(version()).toEqual(before);
    expect(statSync(countsOf(folder)).mode & 0o777).toBe(0o600);
    expect(await counted(server, folder)).toBe(2 * REQUESTS);
    expect(version()).not.toEqual(before);
    await ask(server, folder);
    await server.end("SIGKILL");

    await using again = await serve(folder);
    expect(await counted(again, folder)).toBe(3 * REQUESTS);
    expect(again.stdout()).toBe("");
  },
  TIME_LIMIT_MS,
);

test(
  "what was half written when the machine failed is left out, and what is behind it is written over",
  async () => {
    using folder = aFolder();
    {
      await using server = await serve(folder);
      await ask(server, folder);
      await server.end("SIGKILL");
    }
    const whole = readFileSync(countsOf(folder));
    appendFileSync(countsOf(folder), whole.subarray(0, whole.length - 1));
    {
      await using server = await serve(folder);
      expect(await counted(server, folder)).toBe(REQUESTS);
      await ask(server, folder);
      await server.end("SIGKILL");
    }
    // The last part is cut short.
    truncateSync(countsOf(folder), statSync(countsOf(folder)).size - 1);
    {
      await using server = await serve(folder);
      expect(await counted(server, folder)).toBeGreaterThanOrEqual(REQUESTS);
      expect(server.stdout()).toBe("");
      await server.end("SIGKILL");
    }
    // The file has grown, and what was to be in it was never written.
    appendFileSync(countsOf(folder), new Uint8Array(4096));
    await using server = await serve(folder);
    expect(await counted(server, folder)).toBeGreaterThanOrEqual(REQUESTS);
    expect(server.stdout()).toBe("");
  },
  TIME_LIMIT_MS,
);

test(
  "counts that are in the database are not counted again, though they stand beside it still",
  async () => {
    using folder = aFolder();
    const kept = folder.file("kept");
    {
      await using server = await serve(folder);
      await ask(server, folder);
      copyFileSync(countsOf(folder), kept);
      expect(await server.end("SIGTERM")).toBe(0);
    }
    expect(existsSync(countsOf(folder))).toBe(false);
    copyFileSync(kept, countsOf(folder));
    await using server = await serve(folder);
    expect(await counted(server, folder)).toBe(REQUESTS);
  },
  TIME_LIMIT_MS,
);

test(
  "on a full disk a stop leaves what is counted beside the database, and the next start takes it over",
  async () => {
    using folder = aFolder();
    const under = ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh"];
    {
      await using server = await serving({ database: folder.database, under, args: ["--demo"] });
      // Each of the database's files is larger than this already.
      expect((await run(["prlimit", `--pid=${server.pid}`, "--fsize=32768:"])).code).toBe(0);
      await ask(server, folder);
      expect(await server.end("SIGTERM")).toBe(0);
    }
    expect(statSync(countsOf(folder)).size).toBeGreaterThan(0);
    await using server = await serve(folder);
    expect(await counted(server, folder)).toBe(REQUESTS);
  },
  TIME_LIMIT_MS,
);

test(
  "a start waits for another process's write, and counts on from all that the last run counted",
  async () => {
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      using folder = aFolder();
      let left = 0;
      {
        await using server = await serve(folder);
        await ask(server, folder);
        left = await leftOfDay(server, folder);
        await server.end(signal);
      }
      using another = new Database(folder.database);
      another.run("begin immediate");
      const written = Bun.sleep(LOCKED_MS).then(() => another.run("rollback"));
      await using server = await serve(folder);
      await written;
      expect([signal, await leftOfDay(server, folder)]).toEqual([signal, left]);
      expect(await counted(server, folder)).toBe(REQUESTS);
    }
  },
  TIME_LIMIT_MS,
);

test(
  "what another store has counted does not come into one that is made anew in its place",
  async () => {
    using folder = aFolder();
    {
      await using server = await serve(folder);
      await ask(server, folder);
      await server.end("SIGKILL");
    }
    for (const part of ["", "-wal", "-shm"]) rmSync(folder.database + part);
    for (const secret of ["data/admin.key", "data/console.link"]) rmSync(folder.file(secret));
    await using server = await serve(folder);
    expect(await counted(server, folder)).toBe(0);
  },
  TIME_LIMIT_MS,
);

test(
  "while the database cannot be written whoever asks for usage waits a moment, and is told what is in it",
  async () => {
    using folder = aFolder();
    await using server = await serve(folder);
    await ask(server, folder);
    using another = new Database(folder.database);
    another.run("begin immediate");
    const askedAt = performance.now();
    const asked = ["/account/usage", "/account/keys", "/admin/usage"].map((path) =>
      fetch(server.url + path, { headers: { "x-api-key": adminKey(folder) } }),
    );
    for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
    expect(await counted(server, folder)).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(4000);
    another.run("rollback");
    expect(await eventually(async () => (await counted(server, folder)) === REQUESTS, 10_000)).toBe(true);
  },
  TIME_LIMIT_MS,
);

test(
  "what another store has counted does not come into one that is restored",
  async () => {
    using folder = aFolder();
    const env = { DATABASE_URL: folder.database };
    {
      await using server = await serve(folder);
      expect((await petstore(["backup", folder.file("backup.db")], { env })).code).toBe(0);
      await ask(server, folder);
      await server.end("SIGKILL");
    }
    expect((await petstore(["restore", "--force", folder.file("backup.db")], { env })).code).toBe(0);
    expect(existsSync(countsOf(folder))).toBe(false);
    await using server = await serve(folder);
    expect(await counted(server, folder)).toBe(0);
  },
  TIME_LIMIT_MS,
);
