// What is written behind when PostgreSQL has done it and the answer is lost: it is tried again, and done once.
import { expect, test } from "bun:test";
import { eventually } from "../cli/command.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aDoor } from "../servers/proxy.ts";
import { type Instances, instances } from "./instances.ts";

/** The client whose key sends all requests. */
const OPERATOR = 1;
/** Longer than what is written behind waits, and than a ban that could not be kept. */
const SETTLED_MS = 2000;
/** Longer than a write may take. */
const GIVEN_UP_MS = 4500;

async function aShopBehindADoor(env: Record<string, string> = {}) {
  const server = await sharedPostgres();
  const door = await aDoor(Number(new URL(server.url("postgres")).port));
  const shop = await instances(1, env, door);
  return {
    ...shop,
    door,
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await door[Symbol.asyncDispose]();
    },
  };
}

test("requests are counted once though the answer to their write was lost", async () => {
  await using shop = await aShopBehindADoor();
  expect((await shop.send("GET", "/pets")).status).toBe(200);
  await Bun.sleep(SETTLED_MS);
  shop.door.cutAfter("commit");
  for (let time = 0; time < 20; time++) expect((await shop.send("GET", "/categories")).status).toBe(200);
  const counted = async () =>
    (await shop.beside.reads.usage({ clientId: OPERATOR, fromDay: 0, toDay: 100_000 }))
      .filter(({ operation }) => operation === "categories.list")
      .reduce((sum, { requests }) => sum + requests, 0);
  expect(await eventually(async () => (await counted()) >= 20, 10_000)).toBe(true);
  await Bun.sleep(SETTLED_MS);
  expect(await counted()).toBe(20);
});

/** A key whose next request is a strike. */
async function aSpentKey(shop: Instances) {
  const body = { name: "small", plan: "enterprise", perMinute: 1, perDay: 1000 };
  const client = (await (await shop.send("POST", "/admin/clients", body)).json()) as { id: number };
  const made = await shop.send("POST", `/admin/clients/${client.id}/keys`, { role: "customer" });
  const key = (await made.json()) as { id: number; key: string };
  const status = async () => (await shop.send("GET", "/pets", undefined, { "x-api-key": key.key })).status;
  expect([await status(), await status()]).toEqual([200, 429]);
  await Bun.sleep(SETTLED_MS);
  return { key, status };
}

test("a ban whose answer was lost is there once, and stays lifted when it is lifted", async () => {
  await using shop = await aShopBehindADoor({ BAN_STRIKES: "1", BAN_GRACE_SECONDS: "0" });
  const { key, status } = await aSpentKey(shop);
  shop.door.cutAfter("commit");
  expect(await status()).toBe(429);
  expect(await eventually(async () => (await shop.beside.reads.ban(key.id, Date.now())) !== null, 5000)).toBe(
    true,
  );
  expect((await shop.send("DELETE", `/admin/keys/${key.id}/ban`)).status).toBe(204);
  await Bun.sleep(SETTLED_MS);
  expect(await shop.beside.reads.ban(key.id, Date.now())).toBeNull();
  const events = await shop.server.query("select type from events where type = 'key.banned'", shop.database);
  expect(events).toHaveLength(1);
});

test("a ban that is earned while the server drains is kept when the database is back", async () => {
  const env = { BAN_STRIKES: "2", BAN_GRACE_SECONDS: "0", SHUTDOWN_DRAIN_SECONDS: "9" };
  await using shop = await aShopBehindADoor(env);
  const { key, status } = await aSpentKey(shop);
  const stopped = shop.stop();
  // Its key is known by then.
  expect(await status()).toBe(429);
  shop.door.mute();
  expect(await status()).toBe(429);
  await Bun.sleep(GIVEN_UP_MS);
  expect(await shop.beside.reads.ban(key.id, Date.now())).toBeNull();
  shop.door.open();
  await stopped;
  expect(await shop.beside.reads.ban(key.id, Date.now())).not.toBeNull();
});
