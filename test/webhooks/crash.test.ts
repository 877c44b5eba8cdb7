// A server that is killed between the claim of a delivery and its outcome loses nothing.
import { expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { LEASE_MS } from "../../src/core/delivering.ts";
import { openLog } from "../../src/http/log.ts";
import { start } from "../../src/main.ts";
import { TRIES_OF_A_WEBHOOK } from "../../src/worker/shares.ts";
import { adminKey, aFolder, eventually, serving } from "../cli/command.ts";
import { aReceiver, PRIVATE } from "./receiver.ts";

const CATEGORIES = TRIES_OF_A_WEBHOOK + 7;

test("deliveries under way when a server is killed are made by the next, once their leases have ended", async () => {
  using folder = aFolder();
  const never = Promise.withResolvers<Response>();
  await using receiver = aReceiver(() => never.promise);
  let key = "";
  const send = async (url: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json() as Promise<{ id: number }>;
  };
  {
    await using server = await serving({ database: folder.database, env: PRIVATE });
    key = adminKey(folder);
    await send(server.url, "POST", "/webhooks", { url: receiver.url, types: ["category.created"] });
    for (let n = 1; n <= CATEGORIES; n++)
      await send(server.url, "POST", "/categories", { name: `Kind ${n}` });
    // As many as may be are under way and have no answer, the others wait for them.
    await receiver.nth(TRIES_OF_A_WEBHOOK);
    await server.end("SIGKILL");
  }
  const underWay = new Set(receiver.received.map(({ id }) => id));
  expect(underWay.size).toBe(TRIES_OF_A_WEBHOOK);
  receiver.answer = () => new Response();

  const config = readConfig({ DATABASE_URL: folder.database, PORT: "0", LOG_LEVEL: "silent", ...PRIVATE });
  const log = openLog("silent", false, () => {}, Date.now);
  let ahead = 0;
  const running = await start(config, { clock: () => Date.now() + ahead, log });
  try {
    // What was not under way is sent at once; what was belongs to the dead until its lease ends.
    await receiver.nth(CATEGORIES);
    const before = receiver.received.slice(TRIES_OF_A_WEBHOOK).map(({ id }) => id);
    expect(before.filter((id) => underWay.has(id))).toEqual([]);
    expect(new Set(before).size).toBe(CATEGORIES - TRIES_OF_A_WEBHOOK);
    ahead = LEASE_MS;
    await receiver.nth(CATEGORIES + TRIES_OF_A_WEBHOOK);
    const again = receiver.received.slice(CATEGORIES).map(({ id }) => id);
    expect(new Set(again)).toEqual(underWay);
  } finally {
    await running.stop();
  }
});

test("a stop waits for what is under way, and leaves what it did not begin to the next start", async () => {
  using folder = aFolder();
  const answers: (() => void)[] = [];
  await using receiver = aReceiver(
    () => new Promise((resolve) => answers.push(() => resolve(new Response()))),
  );
  const answerAll = () => {
    for (const answer of answers.splice(0)) answer();
  };
  {
    await using server = await serving({ database: folder.database, env: PRIVATE });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    const post = (path: string, body: unknown) =>
      fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    await post("/webhooks", { url: receiver.url, types: ["category.created"] });
    for (let n = 1; n <= CATEGORIES; n++) await post("/categories", { name: `Kind ${n}` });
    await receiver.nth(TRIES_OF_A_WEBHOOK);
    const ended = server.end("SIGTERM");
    setTimeout(answerAll, 300);
    expect(await ended).toBe(0);
  }
  expect(receiver.received).toHaveLength(TRIES_OF_A_WEBHOOK);
  receiver.answer = () => new Response();
  await using server = await serving({ database: folder.database, env: PRIVATE });
  await receiver.nth(CATEGORIES);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(CATEGORIES);
  const headers = { "x-api-key": adminKey(folder) };
  const delivered = async () => {
    const reply = await fetch(`${server.url}/webhooks/1/deliveries?state=delivered`, { headers });
    return ((await reply.json()) as { attempts: number }[]).map(({ attempts }) => attempts);
  };
  expect(await eventually(async () => (await delivered()).length === CATEGORIES, 3000)).toBe(true);
  expect(await delivered()).toEqual(new Array(CATEGORIES).fill(1));
  expect(receiver.received).toHaveLength(CATEGORIES);
});

test("a receiver that does not answer holds a stop up for a moment only, and is tried again", async () => {
  using folder = aFolder();
  await using receiver = aReceiver(() => new Promise(() => {}));
  {
    const env = { ...PRIVATE, SHUTDOWN_SECONDS: "60" };
    await using server = await serving({ database: folder.database, env });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    const post = (path: string, body: unknown) =>
      fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    await post("/webhooks", { url: receiver.url, types: ["category.created"] });
    await post("/categories", { name: "Dogs" });
    await receiver.nth(1);
    const since = performance.now();
    expect(await server.end("SIGTERM")).toBe(0);
    expect(performance.now() - since).toBeLessThan(8000);
  }
  receiver.answer = () => new Response();
  const config = readConfig({ DATABASE_URL: folder.database, PORT: "0", LOG_LEVEL: "silent", ...PRIVATE });
  const log = openLog("silent", false, () => {}, Date.now);
  const running = await start(config, { clock: () => Date.now() + LEASE_MS, log });
  try {
    await receiver.nth(2);
    expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
  } finally {
    await running.stop();
  }
});
