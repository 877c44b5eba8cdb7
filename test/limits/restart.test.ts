import { expect, test } from "bun:test";
import { aFolder, eventually, type Folder, petstore, type Served, serving } from "../cli/command.ts";
import { aStore, type Reply } from "../harness.ts";
import {
  ask,
  askTimes,
  getBanned,
  limitsOf,
  MINUTE,
  oneAMinute,
  PAST_GRACE,
  spendMinute,
  todayLasts,
} from "./spending.ts";

const KEPT_AFTER_MS = 1100;

test("a stop and a start lose no count: no second day's quota, no second minute", async () => {
  await using store = await aStore();
  const person = await store.newPerson("customer", { quota: { perMinute: 7, perDay: 10 } });
  expect(await askTimes(person, 5)).toEqual({ 200: 5 });
  await store.restart();
  expect(await limitsOf(person)).toMatchObject({ minute: { remaining: 2 }, day: { remaining: 5 } });
  expect(await askTimes(person, 3)).toEqual({ 200: 2, 429: 1 });
  await store.restart();
  store.clock.now += MINUTE;
  expect(await askTimes(person, 4)).toEqual({ 200: 3, 429: 1 });
  await store.restart();
  store.clock.now += MINUTE;
  expect((await ask(person)).body.code).toBe("daily_quota_exceeded");
});

test("ten restarts in a row change nothing of what was counted", async () => {
  await using store = await aStore();
  const person = await store.newPerson("customer", { quota: { perMinute: 1000, perDay: 1000 } });
  for (let restart = 1; restart <= 10; restart++) {
    await askTimes(person, 3);
    await store.restart();
    expect((await limitsOf(person)).day.remaining).toBe(1000 - 3 * restart);
  }
});

test("a stop and a start keep strikes, the grace that has begun, bans and their levels", async () => {
  await using store = await aStore();
  const struck = await oneAMinute(store);
  await spendMinute(store, struck);
  await askTimes(struck, 19);
  const banned = await oneAMinute(store);
  await getBanned(store, banned);
  const refused = await oneAMinute(store);
  await askTimes(refused, 2);
  const end = (await limitsOf(banned)).bannedUntil;

  await store.restart();
  expect((await limitsOf(struck)).strikes.count).toBe(19);
  expect(await limitsOf(banned)).toMatchObject({ bannedUntil: end, banLevel: 1, strikes: { count: 0 } });
  expect((await ask(banned)).status).toBe(403);
  expect(await askTimes(struck, 2)).toEqual({ 429: 1, 403: 1 });
  // Its first 429 was before the stop.
  store.clock.now += PAST_GRACE;
  await ask(refused);
  expect((await limitsOf(refused)).strikes.count).toBe(1);

  await store.restart();
  expect((await ask(struck)).status).toBe(403);
  store.clock.now = Date.parse(end);
  expect((await ask(banned)).status).toBe(200);
});

test("a ban that was earned just before the stop is kept", async () => {
  await using store = await aStore();
  const person = await oneAMinute(store);
  await getBanned(store, person);
  await store.restart();
  expect((await ask(person)).status).toBe(403);
  expect(await limitsOf(person)).toMatchObject({ banLevel: 1, strikes: { count: 0 } });
});

interface Key {
  readonly id: number;
  readonly key: string;
}

async function aKey(folder: Folder, ...quota: string[]): Promise<Key> {
  const env = { DATABASE_URL: folder.database };
  await petstore(["migrate"], { env });
  const client = await petstore(["clients", "create", "--name", "Shop", ...quota, "--json"], { env });
  const { id } = JSON.parse(client.stdout) as { id: number };
  return JSON.parse((await petstore(["keys", "create", "--client", String(id), "--json"], { env })).stdout);
}

async function get({ url }: Served, path: string, key: string): Promise<Pick<Reply, "status" | "body">> {
  const response = await fetch(url + path, { headers: { "x-api-key": key } });
  return { status: response.status, body: await response.json() };
}

async function used(server: Served, { key }: Key): Promise<number> {
  const { body } = await get(server, "/account/limits", key);
  return body.day.limit - body.day.remaining;
}

test("a kill loses at most the last second of the counts, and a stop nothing", async () => {
  await todayLasts(30);
  using folder = aFolder();
  const key = await aKey(folder, "--plan", "free");
  const env = { LOG_LEVEL: "silent" };
  const spend = async (server: Served, times: number) => {
    for (let time = 0; time < times; time++) expect((await get(server, "/pets", key.key)).status).toBe(200);
  };
  {
    await using server = await serving({ database: folder.database, env });
    await spend(server, 20);
    await Bun.sleep(KEPT_AFTER_MS);
    await spend(server, 10);
    await server.end("SIGKILL");
  }
  let counted = 0;
  {
    await using server = await serving({ database: folder.database, env });
    counted = await used(server, key);
    expect(counted).toBeGreaterThanOrEqual(20);
    expect(counted).toBeLessThanOrEqual(30);
    await spend(server, 5);
    expect(await server.end("SIGTERM")).toBe(0);
  }
  await using server = await serving({ database: folder.database, env });
  expect(await used(server, key)).toBe(counted + 5);
});

test("a kill loses no ban that admins can see", async () => {
  using folder = aFolder();
  const key = await aKey(folder, "--plan", "enterprise", "--per-minute", "1", "--per-day", "1000");
  const env = { LOG_LEVEL: "silent", BAN_GRACE_SECONDS: "0", BAN_STRIKES: "3" };
  const made = await petstore(["keys", "create", "--role", "admin", "--json"], {
    env: { DATABASE_URL: folder.database },
  });
  const admin: Key = JSON.parse(made.stdout);
  {
    await using server = await serving({ database: folder.database, env });
    const statuses = [];
    for (let time = 0; time < 12; time++) {
      statuses.push((await get(server, "/pets", key.key)).status);
      await Bun.sleep(2);
    }
    expect(statuses).toEqual([200, 429, 429, 429, 429, ...new Array(7).fill(403)]);
    const isSeen = async () => (await get(server, "/admin/bans", admin.key)).body.length === 1;
    expect(await eventually(isSeen, 1000)).toBe(true);
    await server.end("SIGKILL");
  }
  await using server = await serving({ database: folder.database, env });
  expect((await get(server, "/pets", key.key)).status).toBe(403);
  expect((await get(server, "/account/limits", key.key)).body.bannedUntil).toBeString();
});
