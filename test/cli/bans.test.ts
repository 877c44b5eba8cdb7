import { expect, test } from "bun:test";
import { aFolder, petstore, serving } from "./command.ts";
import { aShop } from "./shop.ts";

const { json, refusal, misuse, run, meets, soonMeets, server } = aShop({
  BAN_STRIKES: "3",
  BAN_GRACE_SECONDS: "0",
});

async function aUsedKey(): Promise<{ id: string; clientId: number; key: string }> {
  const { id: client } = await json("clients", "create", "--name", "Shop", "--plan", "business");
  const { id, clientId, key } = await json("keys", "create", "--client", String(client));
  expect((await meets(key)).status).toBe(200);
  return { id: String(id), clientId, key };
}

const banOf = async (id: string) =>
  (await json("bans", "list")).find(({ keyId }: { keyId: number }) => String(keyId) === id);

test("a ban that the operator imposes holds within a second, is listed, and can be lifted", async () => {
  const { id, clientId, key } = await aUsedKey();
  const ban = await json("bans", "impose", id, "--minutes", "60", "--reason", "leaked in a repository");
  expect(ban).toEqual({
    keyId: Number(id),
    clientId,
    cause: "admin",
    reason: "leaked in a repository",
    level: 0,
    since: expect.any(String),
    until: expect.any(String),
  });
  expect(Date.parse(ban.until) - Date.parse(ban.since)).toBe(60 * 60_000);
  expect(await soonMeets(key, ({ code }) => code === "key_banned")).toBe(true);
  expect(Number((await meets(key)).headers.get("retry-after"))).toBeGreaterThan(3500);
  expect((await meets(key, "/account/limits")).status).toBe(200);
  expect(await banOf(id)).toEqual(ban);

  expect(await json("bans", "lift", id)).toEqual({ keyId: Number(id) });
  expect(await soonMeets(key, ({ status }) => status === 200)).toBe(true);
  expect(await banOf(id)).toBeUndefined();
});

test("for people bans are sentences and a table", async () => {
  const { id } = await aUsedKey();
  const imposed = await run("bans", "impose", id, "--minutes", "5");
  expect(imposed.stdout).toMatch(new RegExp(`^Key ${id} is banned until \\d{4}-\\S+Z\\.\\n$`));
  const { stdout } = await run("bans", "list");
  expect(stdout.split("\n")[0]).toMatch(/^keyId +clientId +cause +reason +level +since +until$/);
  expect(stdout).toMatch(new RegExp(`^${id} +\\d+ +admin +- +0 `, "m"));
  expect((await run("bans", "lift", id)).stdout).toBe(`The ban of key ${id} is lifted.\n`);
});

test("for machines, what a ban does not have is not there", async () => {
  const { id } = await aUsedKey();
  const ban = await json("bans", "impose", id, "--minutes", "5");
  expect(ban).not.toHaveProperty("reason");
  expect(await banOf(id)).toEqual(ban);
});

test("a new ban takes the place of the one in force", async () => {
  const { id } = await aUsedKey();
  await json("bans", "impose", id, "--minutes", "60");
  const { until } = await json("bans", "impose", id, "--minutes", "5");
  const all = (await json("bans", "list")).filter(({ keyId }: { keyId: number }) => String(keyId) === id);
  expect(all).toHaveLength(1);
  expect(all).toMatchObject([{ until }]);
});

test("a ban that a key earned is listed, and lifted beside the running server", async () => {
  const { id: client } = await json(
    ...["clients", "create", "--name", "Hasty", "--plan", "enterprise"],
    ...["--per-minute", "1", "--per-day", "1000"],
  );
  const { id, key } = await json("keys", "create", "--client", String(client));
  const isBanned = await soonMeets(key, ({ code }) => code === "key_banned");
  expect(isBanned).toBe(true);
  expect(await banOf(String(id))).toMatchObject({ keyId: id, clientId: client, cause: "strikes", level: 1 });
  await json("bans", "lift", String(id));
  expect(await soonMeets(key, ({ code }) => code === "rate_limit_exceeded")).toBe(true);
  expect(await banOf(String(id))).toBeUndefined();
});

test.each([
  [["bans", "impose", "4711", "--minutes", "5"], "There is no key 4711. Find ids with 'petstore keys list'."],
  [["bans", "lift", "4711"], "There is no key 4711. Find ids with 'petstore keys list'."],
])("%j of a key that does not exist is refused", async (words, says) => {
  expect(await refusal(...words)).toBe(says);
});

test("lifting what is not banned, and a ban of more than a year, are refused", async () => {
  const { id } = await aUsedKey();
  expect(await refusal("bans", "lift", id)).toBe(`Key ${id} is not banned.`);
  expect(await misuse("bans", "impose", id, "--minutes", "525601")).toContain(
    "--minutes must be at most 525600",
  );
  expect(await banOf(id)).toBeUndefined();
  expect((await fetch(`${server().url}/livez`)).status).toBe(200);
});

test("an empty list of bans says so", async () => {
  using folder = aFolder();
  const asked = { env: { DATABASE_URL: folder.database } };
  await petstore(["migrate"], asked);
  expect((await petstore(["bans", "list"], asked)).stdout).toBe("No key is banned.\n");
  expect((await petstore(["bans", "list", "--json"], asked)).stdout).toBe("[]\n");
});

test("a ban and a suspension outlast a kill", async () => {
  using folder = aFolder();
  const asked = { env: { DATABASE_URL: folder.database } };
  const made = async (...words: string[]) => JSON.parse((await petstore([...words, "--json"], asked)).stdout);
  const first = await serving({ database: folder.database });
  const { id, key } = await made("keys", "create", "--role", "staff");
  const { id: client } = await made("clients", "create", "--name", "Shop");
  const other = await made("keys", "create", "--client", String(client));
  await made("bans", "impose", String(id), "--minutes", "60");
  await made("clients", "suspend", String(client));
  await first.end("SIGKILL");
  await using again = await serving({ database: folder.database });
  const codeOf = async (secret: string) => {
    const answer = await fetch(`${again.url}/pets`, { headers: { "x-api-key": secret } });
    return ((await answer.json()) as { code: string }).code;
  };
  expect([await codeOf(key), await codeOf(other.key)]).toEqual(["key_banned", "client_suspended"]);
});
