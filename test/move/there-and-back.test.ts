import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { openLog } from "../../src/http/log.ts";
import { start } from "../../src/main.ts";
import { carried } from "../../src/store/move/tables.ts";
import { ENGINE } from "../beside.ts";
import type { Person } from "../harness.ts";
import { type Furnished, furnished, ODD } from "./furnished.ts";
import { anEnglishPlace, aPlace, diagnosed, exported, imported, type Place } from "./places.ts";

const OTHER = ENGINE === "sqlite" ? "postgres" : "sqlite";

let shop: Furnished;
/** The first export. */
let file: string;
beforeAll(async () => {
  shop = await furnished();
  file = await exported(shop.store.config.databaseUrl);
}, 60_000);
afterAll(() => shop[Symbol.asyncDispose]());

interface Table {
  readonly table: string;
  readonly columns: readonly string[];
  readonly lastId?: number;
}

/** The tables of a file, each with its rows. */
function tablesIn(text: string): [Table, unknown[][]][] {
  const found: [Table, unknown[][]][] = [];
  for (const line of text.trimEnd().split("\n").slice(1, -1)) {
    const value = JSON.parse(line);
    if (Array.isArray(value)) found.at(-1)?.[1].push(value);
    else found.push([value, []]);
  }
  return found;
}

test("the store that is moved has something in every table, and ids that will not come again", () => {
  const tables = tablesIn(file);
  expect(tables.map(([{ table }]) => table)).toEqual(carried.map(({ name }) => name));
  for (const [{ table }, rows] of tables) expect([table, rows.length]).not.toEqual([table, 0]);
  const [{ lastId }, categories] = tables[0] as [Table, unknown[][]];
  expect(lastId).toBeGreaterThan(categories.at(-1)?.[0] as number);
  expect(file).toContain(JSON.stringify(ODD));
});

test(`${ENGINE} to ${OTHER} and back: the first export and the last are the same, byte for byte`, async () => {
  await using there = await aPlace(OTHER);
  await using back = await aPlace(ENGINE);
  await imported(there.url, file);
  const second = await exported(there.url);
  expect(second === file).toBe(true);
  await imported(back.url, second);
  expect((await exported(back.url)) === file).toBe(true);
  for (const { url } of [there, back]) expect((await diagnosed(url)).findings).toEqual([]);
}, 60_000);

test("a database that sorts text as English does gives the same file", async () => {
  await using english = await anEnglishPlace();
  await imported(english.url, file);
  expect((await exported(english.url)) === file).toBe(true);
}, 60_000);

test("no API key is in the file", () => {
  for (const { key } of [shop.store.admin, shop.store.staff, shop.store.customer, shop.struck])
    expect(file).not.toContain(key);
  expect(file).not.toContain("ps_live_");
});

describe(`a server on ${OTHER}, over what was moved`, () => {
  let place: Place;
  let running: Awaited<ReturnType<typeof start>>;
  const now = () => shop.store.clock.now;
  beforeAll(async () => {
    place = await aPlace(OTHER);
    await imported(place.url, file);
    const config = readConfig({ DATABASE_URL: place.url, PORT: "0" });
    running = await start(config, { clock: now, log: openLog("silent", false, () => {}, now) });
  }, 60_000);
  afterAll(async () => {
    await running.stop();
    await place[Symbol.asyncDispose]();
  });

  /** What a key is answered, with the headers that belong to the record. */
  const answer = async (url: string, { key }: Person, path: string) => {
    const response = await fetch(url + path, { headers: { "x-api-key": key } });
    const { headers, status } = response;
    return { status, etag: headers.get("etag"), link: headers.get("link"), body: await response.json() };
  };
  const read = (person: Person, path: string) =>
    Promise.all([answer(shop.store.url, person, path), answer(running.url, person, path)]);

  test.each([
    "/pets?limit=100",
    "/pets?limit=100&sort=-name",
    "/pets/1",
    "/store/pets/1",
    "/categories?limit=100",
    "/categories/1",
    "/store/inventory?limit=100",
    "/store/inventory/1",
    "/store/inventory/1/movements?limit=100",
    "/store/orders?limit=100",
    "/store/orders/1",
    "/account/keys",
    "/admin/clients?limit=100",
    "/admin/clients/2/keys",
    "/admin/keys/1",
    "/admin/bans?limit=100",
    "/admin/audit?limit=100",
    "/admin/webhooks?limit=100",
    "/events?limit=100",
  ])("GET %s is answered as before", async (path) => {
    const [before, after] = await read(shop.store.admin, path);
    expect(after).toEqual(before);
    expect(after.status).toBe(200);
    expect(JSON.stringify(after.body).length).toBeGreaterThan(20);
  });

  test("limits, strikes, bans and usage of a client are what they were", async () => {
    for (const path of ["/account/limits", "/pets"]) {
      const [before, after] = await read(shop.struck, path);
      expect(after).toEqual(before);
    }
    const [before, after] = await read(shop.store.admin, `/admin/usage?clientId=${shop.struck.clientId}`);
    expect(after).toEqual(before);
    expect(JSON.stringify(after.body)).toContain("4xx");
  });

  test("a repeated idempotency key gets the kept answer, and new ids continue above all that were ever given", async () => {
    const { key, body, order } = shop.answered;
    const post = async (path: string, sent: unknown, more = {}) => {
      const headers = { "x-api-key": shop.store.admin.key, "content-type": "application/json", ...more };
      const response = await fetch(running.url + path, {
        method: "POST",
        headers,
        body: JSON.stringify(sent),
      });
      return { headers: response.headers, status: response.status, body: await response.json() };
    };
    const lastIds = Object.fromEntries(tablesIn(file).map(([{ table, lastId = 0 }]) => [table, lastId]));
    const category = (await post("/categories", { name: "New" })).body as { id: number };
    expect(category.id).toBe((lastIds.categories as number) + 1);
    const pet = (await post("/pets", { name: "New", categoryId: category.id })).body as { id: number };
    expect(pet.id).toBe((lastIds.pets as number) + 1);
    const placed = (await post("/store/orders", { petId: pet.id })).body as { id: number };
    expect(placed.id).toBe((lastIds.orders as number) + 1);
    const client = (await post("/admin/clients", { name: "New", plan: "free" })).body as { id: number };
    expect(client.id).toBe((lastIds.clients as number) + 1);

    const own = { "x-api-key": shop.store.customer.key, "idempotency-key": key };
    const repeated = await post("/store/orders", body, own);
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(repeated.body).toEqual(order as typeof repeated.body);
    expect((await diagnosed(place.url)).findings).toEqual([]);
  });
});
