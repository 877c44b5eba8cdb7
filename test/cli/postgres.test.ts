// The command and the server it starts, on PostgreSQL.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { aPostgres, type PostgresServer } from "../servers/postgres.ts";
import { aFolder, eventually, petstore, serving } from "./command.ts";

const SECRET = "s3cret-of-the-database";

const AWAY = "PostgreSQL cannot be reached; requests are refused until it is back.";
const BACK = "PostgreSQL is back; requests are answered again.";

let server: PostgresServer;
beforeAll(async () => {
  server = await aPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

/** The address of a new, empty database, with a password that the server does not ask for. */
async function anAddress(): Promise<string> {
  return server.url(await server.newDatabase()).replace("postgres@", `postgres:${SECRET}@`);
}

const count = async (url: string, what: string) =>
  Number(
    (await server.query(`select count(*)::int as n from ${what}`, new URL(url).pathname.slice(1)))[0]?.n,
  );

test("three servers that start at once on an empty database make one operator, one catalogue and one first key", async () => {
  const url = await anAddress();
  const folders = [aFolder(), aFolder(), aFolder()];
  const shops = await Promise.all(
    folders.map((folder) => serving({ database: url, in: folder.path, args: ["--demo"] })),
  );
  const files = folders.map((folder) => folder.file("data/admin.key")).filter((file) => existsSync(file));
  expect(files).toHaveLength(1);
  const [file = ""] = files;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const key = readFileSync(file, "utf8").trim();
  expect([await count(url, "api_keys"), await count(url, "clients")]).toEqual([1, 1]);
  const pets = await count(url, "pets");
  for (const shop of shops) {
    const response = await fetch(`${shop.url}/pets?limit=100`, { headers: { "x-api-key": key } });
    expect([response.status, ((await response.json()) as unknown[]).length]).toEqual([200, pets]);
  }
  for (const shop of shops) {
    expect(await shop.end("SIGTERM")).toBe(0);
    expect(shop.stdout() + shop.stderr()).not.toContain(SECRET);
  }
  for (const folder of folders) folder[Symbol.dispose]();
}, 60_000);

test("every command works on PostgreSQL, beside a running server", async () => {
  using folder = aFolder();
  const url = await anAddress();
  await using shop = await serving({ database: url, in: folder.path });
  const run = async (...words: string[]) => {
    const ended = await petstore([...words, "--json"], { env: { DATABASE_URL: url } });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(ended.stdout);
  };
  const meets = async (key: string) =>
    (await fetch(`${shop.url}/pets`, { headers: { "x-api-key": key } })).status;
  expect(await run("migrate")).toEqual({ applied: [] });
  expect((await run("demo")).pets).toBeGreaterThan(5);
  const client = await run("clients", "create", "--name", "Shop", "--plan", "pro");
  const key = await run("keys", "create", "--client", String(client.id), "--role", "staff");
  expect(await meets(key.key)).toBe(200);
  expect((await run("clients", "list")).map(({ name }: { name: string }) => name)).toEqual([
    "operator",
    "Shop",
  ]);
  expect(await run("keys", "list", "--client", String(client.id))).toHaveLength(1);
  await run("bans", "impose", String(key.id), "--minutes", "5");
  expect(await eventually(async () => (await meets(key.key)) === 403, 1000)).toBe(true);
  expect(await run("bans", "list")).toHaveLength(1);
  await run("bans", "lift", String(key.id));
  expect(await eventually(async () => (await meets(key.key)) === 200, 1000)).toBe(true);
  await run("keys", "revoke", String(key.id));
  expect(await eventually(async () => (await meets(key.key)) === 401, 1000)).toBe(true);
  expect(await run("plans", "list")).toHaveLength(4);
  expect((await run("doctor")).findings).toEqual([]);
}, 60_000);

test("the doctor finds damage in PostgreSQL, and says so with exit code 3", async () => {
  const url = await anAddress();
  const env = { DATABASE_URL: url };
  expect((await petstore(["demo"], { env })).code).toBe(0);
  const damage =
    "set session_replication_role = replica; update movements set balance = 77 where id = 1; delete from categories where id = 1";
  await server.query(damage, new URL(url).pathname.slice(1));
  const { code, stdout } = await petstore(["doctor"], { env });
  expect(code).toBe(3);
  expect(stdout).toMatch(/WRONG {2}balances follow the ledger: movement 1 of pet \d+ says a balance of 77/);
  expect(stdout).toMatch(
    /WRONG {2}references hold: row \d+ of pets refers to a row of categories that does not exist/,
  );
});

test("while PostgreSQL is stopped a server answers 503 with Retry-After and is not ready; then it is again by itself", async () => {
  using folder = aFolder();
  const url = await anAddress();
  await using shop = await serving({ database: url, in: folder.path });
  const key = readFileSync(folder.file("data/admin.key"), "utf8").trim();
  const ready = async () => (await fetch(`${shop.url}/readyz`)).status;
  const get = () => fetch(`${shop.url}/pets`, { headers: { "x-api-key": key } });
  expect([await ready(), (await get()).status]).toEqual([200, 200]);
  await server.stop();
  for (let time = 0; time < 5; time++) {
    const since = performance.now();
    const response = await get();
    const { code } = (await response.json()) as { code: string };
    expect([response.status, code, response.headers.has("retry-after")]).toEqual([503, "unavailable", true]);
    expect(performance.now() - since).toBeLessThan(1000);
  }
  expect(await ready()).toBe(503);
  const away =
    /"PostgreSQL cannot be reached[^\n]+"cause":"[^"]*(ECONNREFUSED|ECONNRESET|shutting down|lost)/;
  await eventually(() => away.test(shop.stdout()), 5000);
  expect(shop.stdout()).toMatch(away);
  await server.start();
  expect(await eventually(async () => (await ready()) === 200, 3000)).toBe(true);
  expect((await get()).status).toBe(200);
  expect(await shop.end("SIGTERM")).toBe(0);
  expect(shop.stdout() + shop.stderr()).not.toContain(SECRET);
}, 60_000);

test("an outage of PostgreSQL is one line when it goes and one when it is back, however many requests it costs", async () => {
  using folder = aFolder();
  const url = await anAddress();
  await using shop = await serving({ database: url, in: folder.path });
  const key = readFileSync(folder.file("data/admin.key"), "utf8").trim();
  const call = async (method: "GET" | "POST") =>
    (
      await fetch(`${shop.url}/categories`, {
        method,
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...(method === "POST" && { body: JSON.stringify({ name: crypto.randomUUID() }) }),
      })
    ).status;
  const lines = () =>
    shop
      .stdout()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect([await call("GET"), await call("POST")]).toEqual([200, 201]);
  for (let outage = 1; outage <= 2; outage++) {
    await server.stop();
    // What was connected may be refused with a cause of its own before it is known that nothing can be.
    expect(await eventually(async () => (await fetch(`${shop.url}/readyz`)).status === 503, 3000)).toBe(true);
    expect(await call("GET")).toBe(503);
    const refused = await Promise.all(
      Array.from({ length: 100 }, (_, index) => call(index % 2 === 0 ? "GET" : "POST")),
    );
    expect(new Set(refused)).toEqual(new Set([503]));
    await server.start();
    expect(
      await eventually(async () => (await call("POST")) === 201 && (await call("GET")) === 200, 5000),
    ).toBe(true);
    const isTold = () => lines().filter(({ message }) => message === BACK).length === outage;
    expect(await eventually(isTold, 5000)).toBe(true);
  }
  const told = lines().filter(({ level }) => level !== "info");
  expect(told.map(({ level, message }) => [level, message])).toEqual([
    ["error", AWAY],
    ["warn", BACK],
    ["error", AWAY],
    ["warn", BACK],
  ]);
  expect(String(told[0]?.cause)).toMatch(/ECONNREFUSED|ECONNRESET|shutting down/);
  expect(told[1]?.awaySeconds).toBeGreaterThan(0);
  const refusals = lines().filter(({ status, code }) => status === 503 && code === "unavailable");
  expect(refusals.length).toBeGreaterThanOrEqual(200);
}, 60_000);

const nowhere = `postgresql://me:${SECRET}@127.0.0.1:1/petstore`;

test.each([["migrate"], ["doctor"], ["serve"], ["clients list"], ["keys create --role admin"], ["demo"]])(
  "petstore %s says in one sentence that PostgreSQL cannot be reached, without its password",
  async (words) => {
    const { code, stdout, stderr } = await petstore(words.split(" "), { env: { DATABASE_URL: nowhere } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^petstore: Cannot open the database postgresql:\/\/me:\*\*\*@127\.0\.0\.1:1\/petstore [^\n]+\n$/,
    );
    expect(stderr).not.toContain(SECRET);
  },
);

test.each([
  [`postgres://me:${SECRET}@host`],
  [`mysql://me:${SECRET}@host/petstore`],
  [`postgres://me:${SECRET}/@host:port/petstore`],
  [`postgres://host?password=${SECRET}`],
])("a wrong address of a database is refused without its password", async (url) => {
  const { code, stderr } = await petstore(["migrate"], { env: { DATABASE_URL: url } });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^petstore: Cannot start: DATABASE_URL must be [^\n]+\n$/);
  expect(stderr).not.toContain(SECRET);
});
