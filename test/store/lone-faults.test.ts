// A row that another holds, or one connection that fails, is trouble of those who need it and of nobody else.
import { expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPool } from "../../src/store/postgres/pool.ts";
import { openWire } from "../../src/store/postgres/wire.ts";
import { instances } from "../scaled/instances.ts";
import { aPostgres } from "../servers/postgres.ts";
import { aDoor } from "../servers/proxy.ts";

const patience = { connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
/** Longer than a write may take, so that many have waited for the row in vain. */
const HELD_MS = 5000;
/** More orders at once than an instance has connections. */
const ORDERS_AT_ONCE = 12;
const EVERY_MS = 250;
const READ_MS = 1000;
/** The ten of the instance and its watch, the holder, two of the store beside it, and one that is being replaced. */
const OURS = 15;

test("while somebody holds one pet's row, orders for it are refused and everything else is answered", async () => {
  await using shop = await instances(1);
  const { send, server, database } = shop;
  const { id: categoryId } = (await (await send("POST", "/categories", { name: "Dogs" })).json()) as {
    id: number;
  };
  for (const name of ["Rex", "Fido"]) await send("POST", "/pets", { name, categoryId });
  for (const id of [1, 2]) await send("PUT", `/store/inventory/${id}`, { quantity: 1000 });
  const holder = await openWire({ url: server.url(database), ...patience }, () => {});
  await holder.send({ text: "begin" });
  await holder.send({ text: "select id from pets where id = 1 for update" });

  const orders: Promise<Response>[] = [];
  const others: Promise<{ status: number; isQuick: boolean }>[] = [];
  const read = async (path: string) => {
    const since = performance.now();
    const { status } = await send("GET", path);
    return { status, isQuick: performance.now() - since < READ_MS };
  };
  const count = async () =>
    Number(
      (
        await server.query(
          `select count(*)::int as n from pg_stat_activity where datname = '${database}' and application_name = 'petstore'`,
        )
      )[0]?.n,
    );
  let connections = 0;
  const until = Date.now() + HELD_MS;
  while (Date.now() < until) {
    for (let n = 0; n < ORDERS_AT_ONCE; n++) orders.push(send("POST", "/store/orders", { petId: 1 }));
    for (const path of ["/store/pets/2", "/pets", "/readyz"]) others.push(read(path));
    connections = Math.max(connections, await count());
    await Bun.sleep(EVERY_MS);
  }
  for (const other of await Promise.all(others)) expect(other).toEqual({ status: 200, isQuick: true });
  for (const { status } of await Promise.all(orders)) expect(status).toBe(503);
  // Who gave up waits no longer over there either.
  expect(connections).toBeLessThanOrEqual(OURS);
  await holder.send({ text: "rollback" });
  await holder.close();

  expect((await send("POST", "/store/orders", { petId: 1 })).status).toBe(201);
  expect((await shop.beside.diagnose()).findings).toEqual([]);
});

test("a connection that is refused while others are answered is missed by nobody", async () => {
  await using server = await aPostgres();
  const url = await server.newStore();
  await using door = await aDoor(server.port);
  const engine = openPostgresEngine({
    url: url.replace(`:${server.port}/`, `:${door.port}/`),
    rules: rulesOf(readConfig({})),
    connections: 10,
    perform,
    onFault: () => {},
  });
  const read = () =>
    Promise.resolve(engine.reads.category(1)).then(
      () => "done",
      (error) => String(error.cause ?? error),
    );
  const readsAtOnce = async (count: number) =>
    new Set(await Promise.all(Array.from({ length: count }, read)));
  expect(await readsAtOnce(5)).toEqual(new Set(["done"]));
  door.refuseNext();
  expect(await readsAtOnce(200)).toEqual(new Set(["done"]));
  expect(door.refused()).toBe(1);
  expect(await engine.isReady()).toBe(true);
  await engine.close();
});

test("writes leave connections to reads, and wait for each other", async () => {
  await using server = await aPostgres();
  const pool = openPool({ url: await server.newStore(), ...patience }, 4);
  const deadline = Date.now() + 10_000;
  const [first, second] = await Promise.all([pool.lease(deadline, "write"), pool.lease(deadline, "write")]);
  let isServed = false;
  const third = pool.lease(deadline, "write").finally(() => {
    isServed = true;
  });
  const reads = await Promise.all([pool.lease(deadline, "read"), pool.lease(deadline, "read")]);
  for (const wire of reads) pool.giveBack(wire);
  await Promise.resolve();
  expect(isServed).toBe(false);
  second.discard("for the test");
  const wire = await third;
  const fourth = pool.lease(deadline, "write");
  pool.giveBack(first);
  for (const each of [wire, await fourth]) pool.giveBack(each);
  await pool.close();
});

test("a pool of one connection gives it to a write", async () => {
  await using server = await aPostgres();
  const pool = openPool({ url: await server.newStore(), ...patience }, 1);
  pool.giveBack(await pool.lease(Date.now() + 5000, "write"));
  await pool.close();
});
