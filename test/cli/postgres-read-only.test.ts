// A PostgreSQL that takes no writes any more: a primary that was demoted, or one that its operator made so.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { aPostgres, type PostgresServer } from "../servers/postgres.ts";
import { aFolder, eventually, type Folder, petstore, type Served, serving } from "./command.ts";

const TIME_LIMIT_MS = 60_000;

let server: PostgresServer;
beforeAll(async () => {
  server = await aPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

/** What connections are that have no word of their own about it, those that are open already too. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  await server.query(`alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`);
  await server.query("select pg_reload_conf()");
  const isSet = async () => {
    const [row] = await server.query("show default_transaction_read_only");
    return row?.default_transaction_read_only === (isReadOnly ? "on" : "off");
  };
  expect(await eventually(isSet, 5000)).toBe(true);
}

const statusOf = async (asked: Promise<Response>) => (await asked).status;
const isReady = async ({ url }: Served) => (await statusOf(fetch(`${url}/readyz`))) === 200;

async function placed({ url }: Served, folder: Folder): Promise<{ status: number; code?: string }> {
  const response = await fetch(`${url}/categories`, {
    method: "POST",
    headers: {
      "x-api-key": readFileSync(folder.file("data/admin.key"), "utf8").trim(),
      "content-type": "application/json",
    },
    body: JSON.stringify({ name: crypto.randomUUID() }),
  });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, ...(code !== undefined && { code }) };
}

test(
  "a server that has become read only is not ready, says so once, and is in use again when it takes writes",
  async () => {
    using folder = aFolder();
    await using shop = await serving({ database: await server.newStore(), in: folder.path });
    expect(await placed(shop, folder)).toEqual({ status: 201 });
    await setReadOnly(true);
    try {
      expect(await eventually(async () => !(await isReady(shop)), 3000)).toBe(true);
      for (let n = 0; n < 3; n++)
        expect(await placed(shop, folder)).toEqual({ status: 503, code: "unavailable" });
      expect(await isReady(shop)).toBe(false);
    } finally {
      await setReadOnly(false);
    }
    expect(await eventually(() => isReady(shop), 3000)).toBe(true);
    expect(await eventually(async () => (await placed(shop, folder)).status === 201, 3000)).toBe(true);
    const away = shop.stdout().match(/"PostgreSQL cannot be reached[^\n]+/g);
    expect(away).toHaveLength(1);
    expect(away?.[0]).toContain("takes no writes");
  },
  TIME_LIMIT_MS,
);

test(
  "a write that meets a demoted server is done by the new one behind the same address",
  async () => {
    using folder = aFolder();
    const url = await server.newStore();
    await using shop = await serving({ database: url, in: folder.path });
    expect(await placed(shop, folder)).toEqual({ status: 201 });
    const database = new URL(url).pathname.slice(1);
    // What is open is demoted, and what is opened anew takes writes.
    await server.query(`alter database ${database} set default_transaction_read_only = off`);
    await setReadOnly(true);
    try {
      expect(await placed(shop, folder)).toEqual({ status: 201 });
      expect(await isReady(shop)).toBe(true);
      expect(shop.stdout()).not.toContain("cannot be reached");
    } finally {
      await setReadOnly(false);
    }
  },
  TIME_LIMIT_MS,
);

test(
  "a start on a server that is read only is refused with what to do, and looking at it is not",
  async () => {
    const url = await server.newStore();
    const database = new URL(url).pathname.slice(1);
    await server.query(`alter database ${database} set default_transaction_read_only = on`);
    const env = { DATABASE_URL: url, PORT: "0" };
    for (const command of ["serve", "migrate", "keys revoke 1"]) {
      const { code, stdout, stderr } = await petstore(command.split(" "), { env });
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: "" });
      expect(stderr).toMatch(
        /^petstore: The PostgreSQL at this address takes no writes[^\n]+DATABASE_URL[^\n]+\n$/,
      );
    }
    using folder = aFolder();
    for (const command of ["doctor", "keys list", `export ${folder.file("store.ndjson")}`])
      expect([command, (await petstore(command.split(" "), { env })).code]).toEqual([command, 0]);
  },
  TIME_LIMIT_MS,
);
