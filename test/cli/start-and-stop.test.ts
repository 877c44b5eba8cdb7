// A stop that comes while a server starts. PostgreSQL holds the start up where a test wants it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { aFreePort } from "../servers/port.ts";
import { aPostgres, type PostgresServer } from "../servers/postgres.ts";
import { aFolder, eventually, PETSTORE, petstore } from "./command.ts";

const TIME_LIMIT_MS = 30_000;

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await aPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** A server that was told to start, and may not have come far. */
function starting(databaseUrl: string, folder: string) {
  const port = aFreePort();
  const child = Bun.spawn([PETSTORE, "serve"], {
    env: { PATH: process.env.PATH ?? "", HOME: "/", DATABASE_URL: databaseUrl, PORT: String(port) },
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    output: async () => (await new Response(child.stdout).text()) + (await new Response(child.stderr).text()),
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

/** Holds a lock until it is let go, and tells whether somebody waits for one. */
async function holding(databaseUrl: string, statement: string) {
  const sql = new SQL(databaseUrl, { max: 1 });
  const connection = await sql.reserve();
  await connection.unsafe(`begin; ${statement}`);
  const isWaitedFor = async () => {
    const [row] = await connection.unsafe("select count(*)::int as n from pg_locks where not granted");
    return row.n > 0;
  };
  return {
    isWaitedFor,
    async letGo() {
      await connection.unsafe("rollback");
      connection.release();
    },
    [Symbol.asyncDispose]: () => sql.close({ timeout: 0 }),
  };
}

test(
  "a server that waits to prepare its tables stops at once when it is told to, with 0",
  async () => {
    using folder = aFolder();
    const url = await postgres.newStore();
    await using lock = await holding(url, "lock table clients");
    using server = starting(url, folder.path);
    expect(await eventually(lock.isWaitedFor, 10_000)).toBe(true);
    server.child.kill("SIGTERM");
    expect(await server.child.exited).toBe(0);
    expect(await lock.isWaitedFor()).toBe(true);
    const output = await server.output();
    expect(output).toContain('"stopping"');
    expect(output).not.toContain("listening");
  },
  TIME_LIMIT_MS,
);

test(
  "a server that answers but has not yet made its first key finishes what is under way when it is told to stop",
  async () => {
    using folder = aFolder();
    const url = await postgres.newStore();
    const made = await petstore(["keys", "create", "--role", "admin", "--json"], {
      env: { DATABASE_URL: url },
    });
    await using lock = await holding(url, "lock table api_keys");
    using server = starting(url, folder.path);
    const get = (path: string, headers = {}) => fetch(server.url + path, { headers });
    const statusOf = async (path: string) => (await get(path).catch(() => null))?.status;
    expect(await eventually(async () => (await statusOf("/readyz")) === 200, 10_000)).toBe(true);
    const underWay = get("/pets", { "x-api-key": JSON.parse(made.stdout).key });
    // Once a later request is answered, the earlier one has surely begun.
    expect(await statusOf("/livez")).toBe(200);
    server.child.kill("SIGTERM");
    expect(await eventually(async () => (await statusOf("/livez")) === undefined, 3000)).toBe(true);
    await lock.letGo();
    expect((await underWay).status).toBe(200);
    expect(await server.child.exited).toBe(0);
    expect(await server.output()).toContain('"stopping"');
  },
  TIME_LIMIT_MS,
);
