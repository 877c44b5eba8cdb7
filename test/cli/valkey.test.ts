import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { readConfig, WrongSettings } from "../../src/config.ts";
import { todayLasts } from "../limits/spending.ts";
import { aPostgres } from "../servers/postgres.ts";
import { aValkey } from "../servers/valkey.ts";
import { adminKey, aFolder, eventually, petstore, type Served, serving } from "./command.ts";

test("an address that is none refuses to start, and is not shown: it may hold a password", async () => {
  using folder = aFolder();
  const env = { DATABASE_URL: folder.database, VALKEY_URL: "http://user:horse@cache", VALKEY_PREFIX: "a{b}" };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(2);
  expect(stderr).toContain("VALKEY_URL must be an address such as redis://127.0.0.1:6379");
  expect(stderr).toContain("VALKEY_PREFIX must be 1 to 100 letters");
  expect(stderr).not.toContain("horse");
});

test("several nodes of a cluster are one address, with the same user and password for all", () => {
  const read = (url: string) => readConfig({ VALKEY_URL: url }).valkeyUrls;
  expect(read("valkeys://shop:a,b@one:7000,two,[2001:db8::7]:7000,[2001:db8::8]/0")).toEqual([
    "rediss://shop:a,b@one:7000/0",
    "rediss://shop:a,b@two:6379/0",
    "rediss://shop:a,b@[2001:db8::7]:7000/0",
    "rediss://shop:a,b@[2001:db8::8]:6379/0",
  ]);
  expect(read(" ")).toBeNull();
  for (const wrong of ["redis://one,redis://two", "redis://one,", "redis://", "redis://one:port", "one:6379"])
    expect(() => read(wrong)).toThrow(WrongSettings);
});

test("a server shares its limits by REDIS_URL too, by Valkey's clock, and writes no windows down", async () => {
  await todayLasts(30);
  await using valkey = await aValkey();
  using folder = aFolder();
  const env = { REDIS_URL: valkey.url.replace("redis:", "valkey:"), LOG_LEVEL: "silent" };
  const counts = async (): Promise<Record<string, string>> => {
    const client = new Redis(valkey.url);
    const [windows = ""] = await client.keys("petstore:{client:*}:windows");
    const fields = await client.hgetall(windows);
    client.disconnect();
    return fields;
  };
  let resetAt = 0;
  for (const total of ["3", "6"]) {
    await using server = await serving({ database: folder.database, in: folder.path, env });
    const key = adminKey(folder);
    for (let time = 0; time < 3; time++) {
      const { status, headers } = await fetch(`${server.url}/pets`, { headers: { "x-api-key": key } });
      expect(status).toBe(200);
      resetAt = Number(headers.get("x-ratelimit-reset"));
    }
    expect(Math.abs(resetAt - Date.now() / 1000 - 60)).toBeLessThan(60);
    expect((await counts()).dayCount).toBe(total);
    expect(await server.end("SIGTERM")).toBe(0);
  }
  const { stdout } = await petstore(["keys", "list", "--json"], { env: { DATABASE_URL: folder.database } });
  // What is written behind was written; the windows were not among it.
  expect(JSON.parse(stdout)[0].lastUsedAt).toBeString();
  using database = new Database(folder.database, { readonly: true });
  expect(database.query("select * from client_windows").all()).toEqual([]);
});

test("two servers on one store are one: exactly the plan's requests, a ban at both at once, a lift within a second", async () => {
  await todayLasts(30);
  await using valkey = await aValkey();
  await using postgres = await aPostgres();
  using folder = aFolder();
  const database = postgres.url(await postgres.newDatabase());
  const env = { VALKEY_URL: valkey.url, LOG_LEVEL: "warn", BAN_STRIKES: "5", BAN_GRACE_SECONDS: "0" };
  await using one = await serving({ database, in: folder.path, env });
  await using other = await serving({ database, in: folder.path, env });
  const made = async (...args: string[]) =>
    JSON.parse((await petstore([...args, "--json"], { env: { DATABASE_URL: database } })).stdout);
  const { id: clientId } = await made("clients", "create", "--name", "Shop", "--plan", "free");
  const { id, key } = await made("keys", "create", "--client", String(clientId));
  const statusAt = async ({ url }: Served) =>
    (await fetch(`${url}/pets`, { headers: { "x-api-key": key } })).status;

  const began = Date.now();
  const all = await Promise.all(Array.from({ length: 200 }, (_, index) => statusAt(index % 2 ? one : other)));
  expect(Date.now() - began).toBeLessThan(30_000);
  // On a machine so busy that Valkey was silent for 80 ms each may have admitted what it had left.
  const wasAway = /Valkey cannot be reached/.test(one.stdout() + other.stdout());
  const admitted = all.filter((status) => status === 200).length;
  expect([60, wasAway ? admitted : 60]).toContain(admitted);
  expect(admitted).toBeLessThanOrEqual(120);
  expect(all.every((status) => [200, 429, 403].includes(status))).toBe(true);
  const isBannedAtBoth = async () => (await statusAt(one)) === 403 && (await statusAt(other)) === 403;
  expect(await eventually(isBannedAtBoth, 5000)).toBe(true);

  const isSeen = async () => (await made("bans", "list")).length === 1;
  expect(await eventually(isSeen, 5000)).toBe(true);
  const lifted = await petstore(["bans", "lift", String(id)], { env: { DATABASE_URL: database } });
  expect(lifted).toMatchObject({ code: 0, stderr: "" });
  for (const server of [one, other])
    expect(await eventually(async () => (await statusAt(server)) !== 403, 1000)).toBe(true);
}, 60_000);
