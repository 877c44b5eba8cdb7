// A PostgreSQL server that stops, stands still or has no time: nobody waits for it in vain, and all goes on by itself.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { type Command, perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPool } from "../../src/store/postgres/pool.ts";
import { openWire } from "../../src/store/postgres/wire.ts";
import { eventually } from "../cli/command.ts";
import { aPostgres, type PostgresServer } from "../servers/postgres.ts";
import { outcome, READ_MS, WRITE_MS } from "./outcome.ts";

const rules = rulesOf(readConfig({}));
const AT_ONCE_MS = 250;
const RECOVERY_MS = 3000;
const GOODBYE_MS = 2000;

let server: PostgresServer;
let url: string;
let engine: Engine;
beforeAll(async () => {
  server = await aPostgres({ fsync: true });
  url = await server.newStore();
  engine = openPostgresEngine({ url, rules, connections: 4, perform, onFault: () => {} });
});
afterAll(async () => {
  await engine.close();
  await server[Symbol.asyncDispose]();
});

const read = () => Promise.resolve(engine.reads.category(1));
const write = (name: string) =>
  engine.perform({
    operation: "categories.create",
    caller: { clientId: 1, keyId: 1, role: "staff" },
    input: { body: { name } },
    now: 1,
  } satisfies Command);

async function isWellAgain(): Promise<void> {
  expect(await eventually(() => engine.isReady(), RECOVERY_MS)).toBe(true);
  expect((await outcome(read)).code).toBe("done");
  expect((await outcome(() => write("after"))).code).toBe("done");
}

test("while the server is stopped everything is refused at once, and all is well within three seconds of its start", async () => {
  await isWellAgain();
  await server.stop();
  for (let time = 0; time < 5; time++) {
    const asked = await Promise.all([outcome(read), outcome(() => write("x")), outcome(read)]);
    expect(asked.map(({ code }) => code)).toEqual(Array(3).fill("unavailable"));
    for (const { ms } of asked) expect(ms).toBeLessThan(AT_ONCE_MS);
  }
  expect(await engine.isReady()).toBe(false);
  await server.start();
  await isWellAgain();
});

test("all who ask in one turn are told that the server is away, and whoever asks after its return is answered", async () => {
  await isWellAgain();
  const page = { sort: "id", descending: false, limit: 2 } as const;
  const turn = () =>
    Promise.all(
      [
        ...[1, 1, 2].map((id) => () => Promise.resolve(engine.reads.petWithCategory(id))),
        ...[page, page].map((query) => () => Promise.resolve(engine.reads.pets(query))),
      ].map((each) => outcome(each)),
    );
  await server.stop();
  expect((await turn()).map(({ code }) => code)).toEqual(Array(5).fill("unavailable"));
  await server.start();
  await isWellAgain();
  expect((await turn()).map(({ code }) => code)).toEqual(Array(5).fill("done"));
});

test("while the server stands still the first are refused by their deadlines and the rest at once", async () => {
  await isWellAgain();
  await Promise.all([read(), read(), read(), read()]);
  server.stall();
  try {
    const many = Array.from({ length: 20 }, (_, n) => [outcome(read), outcome(() => write(`stalled ${n}`))]);
    const first = await Promise.all(many.map(([asked]) => asked as ReturnType<typeof outcome>));
    const written = await Promise.all(many.map(([, asked]) => asked as ReturnType<typeof outcome>));
    for (const { code, ms } of first)
      expect([code === "unavailable" || code === "overloaded", ms < READ_MS]).toEqual([true, true]);
    for (const { code, ms } of written)
      expect([code === "unavailable" || code === "overloaded", ms < WRITE_MS]).toEqual([true, true]);
    expect(await engine.isReady()).toBe(false);
    for (let time = 0; time < 3; time++) {
      const later = await Promise.all([outcome(read), outcome(() => write("late"))]);
      for (const { code, ms } of later) expect([code, ms < AT_ONCE_MS]).toEqual(["unavailable", true]);
      await Bun.sleep(500);
    }
  } finally {
    server.resume();
  }
  await isWellAgain();
});

test("a crash of the server loses nothing that was acknowledged", async () => {
  await isWellAgain();
  const done: string[] = [];
  const writing = Array.from({ length: 4 }, async (_, lane) => {
    for (let n = 0; n < 200; n++) {
      const name = `${lane}/${n}`;
      if ((await outcome(() => write(name))).code === "done") done.push(name);
    }
  });
  await Bun.sleep(50);
  await server.restart("immediate");
  await Promise.all(writing);
  await isWellAgain();
  const database = new URL(url).pathname.slice(1);
  const names = (await server.query("select name from categories", database)).map(({ name }) => name);
  expect(done.filter((name) => !names.includes(name))).toEqual([]);
  expect(done.length).toBeGreaterThan(0);
});

test("no more than so many wait for a connection, and none for longer than it may", async () => {
  const settings = { url, connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
  const pool = openPool(settings, 2, { waitMs: 100, queued: 3, probeMs: 50 });
  const deadline = Date.now() + 10_000;
  const wires = await Promise.all([pool.lease(deadline, "read"), pool.lease(deadline, "read")]);
  const waiting = Array.from({ length: 3 }, () => outcome(() => pool.lease(deadline, "read")));
  const tooMany = await outcome(() => pool.lease(deadline, "read"));
  expect([tooMany.code, tooMany.ms < 50]).toEqual(["overloaded", true]);
  pool.giveBack(wires[0]);
  const waited = await Promise.all(waiting);
  expect(waited.map(({ code }) => code)).toEqual(["done", "overloaded", "overloaded"]);
  for (const { ms } of waited) expect(ms).toBeLessThan(200);
  const database = new URL(url).pathname.slice(1);
  const count = () =>
    server.query(
      `select count(*)::int as n from pg_stat_activity where datname = '${database}' and pid <> pg_backend_pid()`,
    );
  await pool.close();
  expect(await eventually(async () => Number((await count())[0]?.n) <= 4, 2000)).toBe(true);
});

test("a connection that was lost makes room for one that waits", async () => {
  const settings = { url, connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
  const pool = openPool(settings, 1);
  const deadline = Date.now() + 10_000;
  const wire = await pool.lease(deadline, "read");
  const waiting = pool.lease(deadline, "read");
  wire.discard("for the test");
  const next = await waiting;
  expect((await next.send({ text: "select 1 as one" })).rows).toEqual([{ one: 1 }]);
  pool.giveBack(next);
  await pool.close();
});

test("a server that has no more connections to give serves all with those that it gave", async () => {
  await using small = await aPostgres({
    settings: { max_connections: 8, superuser_reserved_connections: 0 },
  });
  const address = await small.newStore();
  const crowded = openPostgresEngine({ url: address, rules, connections: 40, perform, onFault: () => {} });
  for (let round = 0; round < 5; round++) {
    const asked = Array.from({ length: 100 }, () =>
      outcome(() => Promise.resolve(crowded.reads.category(1))),
    );
    expect(new Set((await Promise.all(asked)).map(({ code }) => code))).toEqual(new Set(["done"]));
  }
  await crowded.close();
});

test("however many wait for a connection, the server is ready and sees that keys were revoked", async () => {
  const busy = openPostgresEngine({ url, rules, connections: 1, perform, onFault: () => {} });
  await busy.reads.category(1);
  const holder = openPool({ url, connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 }, 1);
  const wire = await holder.lease(Date.now() + 5000, "write");
  await wire.send({ text: "begin" });
  await wire.send({ text: "lock table categories in access exclusive mode" });
  const waiting = Array.from({ length: 10 }, () => outcome(() => Promise.resolve(busy.reads.category(1))));
  const since = performance.now();
  expect(await busy.reads.accessRevision()).toBe(0);
  expect(await busy.isReady()).toBe(true);
  expect(performance.now() - since).toBeLessThan(AT_ONCE_MS);
  await wire.send({ text: "rollback" });
  await Promise.all(waiting);
  await busy.close();
  await holder.close();
});

test("a server that stands still at the goodbye holds nobody up", async () => {
  const settings = { url, connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
  const wire = await openWire(settings, () => {});
  await wire.send({ text: "select 1" });
  server.stall();
  try {
    const { code, ms } = await outcome(() => Promise.race([wire.close(), Bun.sleep(GOODBYE_MS)]));
    expect([code, ms < GOODBYE_MS, wire.isLost]).toEqual(["done", true, true]);
  } finally {
    server.resume();
  }
  await isWellAgain();
});
