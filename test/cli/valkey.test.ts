import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { todayLasts } from "../limits/spending.ts";
import { aValkey } from "../servers/valkey.ts";
import { adminKey, aFolder, petstore, serving } from "./command.ts";

test("an address that is none refuses to start, and is not shown: it may hold a password", async () => {
  using folder = aFolder();
  const env = { DATABASE_URL: folder.database, VALKEY_URL: "http://user:horse@cache", VALKEY_PREFIX: "a{b}" };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(2);
  expect(stderr).toContain("VALKEY_URL must be an address such as redis://127.0.0.1:6379");
  expect(stderr).toContain("VALKEY_PREFIX must be 1 to 100 letters");
  expect(stderr).not.toContain("horse");
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
