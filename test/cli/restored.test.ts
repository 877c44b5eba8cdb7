// What a restored store is to those who knew the one before: readers of events, who is signed in, receivers of webhooks.
import { expect, test } from "bun:test";
import { aReceiver, PRIVATE } from "../webhooks/receiver.ts";
import { adminKey, aFolder, eventually, type Folder, petstore, type Served, serving } from "./command.ts";

const SLOW_MS = 30_000;
/** Well beyond the time after which a write's events are looked for. */
const NOTHING_COMES_MS = 300;
const GIVEN_AGAIN = "- Orders since the backup are gone, and their numbers are given again: ";

/** Asks as the operator; the status and the body. */
async function ask(folder: Folder, server: Served, path: string, body?: unknown) {
  const response = await fetch(server.url + path, {
    headers: { "x-api-key": adminKey(folder), "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return { status: response.status, body: (await response.json()) as any };
}

/** Makes categories, each of which is an event. */
async function categories(folder: Folder, server: Served, ...names: string[]): Promise<void> {
  for (const name of names) expect((await ask(folder, server, "/categories", { name })).status).toBe(201);
}

/** Orders a pet that is new; the numbers of both. */
async function anOrder(folder: Folder, server: Served): Promise<{ pet: number; order: number }> {
  const added = await ask(folder, server, "/pets", { name: "Rex", categoryId: 1, status: "available" });
  const placed = await ask(folder, server, "/store/orders", { petId: added.body.id });
  expect(placed.status).toBe(201);
  return { pet: added.body.id, order: placed.body.id };
}

async function eventsAfter(folder: Folder, server: Served, position: number): Promise<number[]> {
  const { status, body } = await ask(folder, server, `/events?after=${position}&limit=100`);
  expect(status).toBe(200);
  return body.map(({ id }: { id: string }) => Number(id));
}

async function done(folder: Folder, ...words: string[]): Promise<string> {
  const ended = await petstore(words, { env: { DATABASE_URL: folder.database }, in: folder.path });
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
  return ended.stdout;
}

test(
  "no number of an event is given twice, however often a backup is restored, and who has read more than it has is told",
  async () => {
    using folder = aFolder();
    const read: number[] = [];
    let last = 0;
    {
      await using server = await serving({ database: folder.database });
      await categories(folder, server, "Dogs", "Cats");
      last = (await eventsAfter(folder, server, 0)).at(-1) as number;
      await done(folder, "backup", "backup.db");
      await categories(folder, server, "Fish", "Birds", "Mice");
      read.push(...(await eventsAfter(folder, server, last)));
      expect(await server.end("SIGTERM")).toBe(0);
    }
    for (const names of [["Newts"], ["Toads", "Frogs", "Geckos", "Snakes"]]) {
      const position = read.at(-1) as number;
      await done(folder, "restore", "backup.db", "--force");
      await using server = await serving({ database: folder.database });
      const gone = { status: 410, body: { code: "events_expired" } };
      expect(await ask(folder, server, `/events?after=${position}`)).toMatchObject(gone);
      await categories(folder, server, ...names);
      expect(await ask(folder, server, `/events?after=${position}`)).toMatchObject(gone);
      const fresh = await eventsAfter(folder, server, last);
      expect(fresh).toHaveLength(names.length);
      expect(Math.min(...fresh)).toBeGreaterThan(Math.max(...read));
      read.push(...fresh);
      expect((await eventsAfter(folder, server, 0)).slice(-names.length)).toEqual(fresh);
      expect(await server.end("SIGTERM")).toBe(0);
    }
  },
  SLOW_MS,
);

test("no record has the id of one that is gone, if the store that gave it is there to be read", async () => {
  using folder = aFolder();
  const given: { pet: number; order: number }[] = [];
  {
    await using server = await serving({ database: folder.database });
    await categories(folder, server, "Dogs");
    await done(folder, "backup", "backup.db");
    given.push(await anOrder(folder, server), await anOrder(folder, server));
    expect(await server.end("SIGTERM")).toBe(0);
  }
  const told = await done(folder, "restore", "backup.db", "--force");
  expect(told).toContain("- Orders since the backup are gone; new ones have other numbers.\n");
  {
    await using server = await serving({ database: folder.database });
    given.push(await anOrder(folder, server));
    expect(await server.end("SIGTERM")).toBe(0);
  }
  expect(given).toEqual([1, 2, 3].map((number) => ({ pet: number, order: number })));

  const lost = folder.file("lost.db");
  expect(await done(folder, "restore", "backup.db", "--database-url", lost)).toContain(GIVEN_AGAIN);
});

test(
  "a store that was made where another was lost is not taken for the one that gave its numbers",
  async () => {
    using folder = aFolder();
    {
      await using server = await serving({ database: folder.database });
      await categories(folder, server, "Dogs");
      await anOrder(folder, server);
      await done(folder, "backup", "backup.db");
      expect(await server.end("SIGTERM")).toBe(0);
    }
    const served = folder.file("new/served.db");
    {
      await using server = await serving({ database: served });
      expect(await server.end("SIGTERM")).toBe(0);
    }
    const empty = folder.file("new/empty.db");
    await done(folder, "migrate", "--database-url", empty);
    for (const database of [served, empty]) {
      const told = await done(folder, "restore", "backup.db", "--force", "--database-url", database);
      expect(told).toContain(`The store that was there is kept as ${database}.before-restore-`);
      expect(told).toContain(GIVEN_AGAIN);
    }
    const nowhere = folder.file("new/nowhere.db");
    const put = await done(folder, "restore", "backup.db", "--json", "--database-url", nowhere);
    expect(JSON.parse(put)).toMatchObject({ keptAside: null, isBeyond: false });
  },
  SLOW_MS,
);

test("nobody is signed in to the console of a restored store", async () => {
  using folder = aFolder();
  const ours = { "x-petstore-console": "1" };
  const account = async ({ url }: Served, cookie: string) =>
    (await fetch(`${url}/account`, { headers: { ...ours, cookie } })).status;
  let cookie = "";
  {
    await using server = await serving({ database: folder.database });
    const headers = { ...ours, "x-api-key": adminKey(folder) };
    const signedIn = await fetch(`${server.url}/console/session`, { method: "POST", headers });
    cookie = String(signedIn.headers.get("set-cookie")).split(";")[0] as string;
    expect(await account(server, cookie)).toBe(200);
    await done(folder, "backup", "backup.db");
    expect(await server.end("SIGTERM")).toBe(0);
  }
  const told = await done(folder, "restore", "backup.db", "--force");
  for (const words of ["Bans lifted since then", "Webhooks are as they were", "signs in to the console anew"])
    expect(told).toContain(words);
  await using server = await serving({ database: folder.database });
  expect(await account(server, cookie)).toBe(401);
});

test(
  "with WEBHOOKS=off a restored store sends nothing, and what happens meanwhile is sent by a later start",
  async () => {
    using folder = aFolder();
    await using receiver = aReceiver();
    {
      await using server = await serving({ database: folder.database, env: PRIVATE });
      const hook = { url: receiver.url, types: ["category.created"] };
      expect((await ask(folder, server, "/webhooks", hook)).status).toBe(201);
      await done(folder, "backup", "backup.db");
      expect(await server.end("SIGTERM")).toBe(0);
    }
    await done(folder, "restore", "backup.db", "--force");
    {
      await using drill = await serving({ database: folder.database, env: { ...PRIVATE, WEBHOOKS: "off" } });
      await categories(folder, drill, "Dogs");
      expect(await eventually(() => receiver.received.length > 0, NOTHING_COMES_MS)).toBe(false);
      expect(await drill.end("SIGTERM")).toBe(0);
      expect(receiver.received).toEqual([]);
    }
    await using server = await serving({ database: folder.database, env: PRIVATE });
    expect((await receiver.nth(1)).event.data.name).toBe("Dogs");
    await categories(folder, server, "Cats");
    expect((await receiver.nth(2)).event.data.name).toBe("Cats");
  },
  SLOW_MS,
);
