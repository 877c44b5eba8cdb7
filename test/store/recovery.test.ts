// However PostgreSQL comes back, nobody waits longer than it may meanwhile, and all is well at once when it is there.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPool } from "../../src/store/postgres/pool.ts";
import { eventually } from "../cli/command.ts";
import { aPostgres, type PostgresServer } from "../servers/postgres.ts";
import { aDoor, type Door } from "../servers/proxy.ts";
import { outcome, READ_MS, WRITE_MS } from "./outcome.ts";

const CONNECTIONS = 6;
/** A connect that is never answered, the pause after it and the next one, with the same room. */
const RECOVERED_MS = 2750;
const AT_ONCE_MS = 500;
const DOWN_MS = 3000;

let server: PostgresServer;
let database: string;
let door: Door;
let url: string;
let engine: Engine;
beforeAll(async () => {
  server = await aPostgres();
  const direct = new URL(await server.newStore());
  database = direct.pathname.slice(1);
  door = await aDoor(server.port);
  direct.port = String(door.port);
  url = direct.href;
  const rules = rulesOf(readConfig({}));
  engine = openPostgresEngine({ url, rules, connections: CONNECTIONS, perform, onFault: () => {} });
});
afterAll(async () => {
  await engine.close();
  await door[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  // Every connection is open and idle.
  const isWell = async () =>
    (await engine.isReady()) && (await readsAtOnce(CONNECTIONS)).every(({ code }) => code === "done");
  expect(await eventually(isWell, 2 * RECOVERED_MS)).toBe(true);
});

const read = () => Promise.resolve(engine.reads.category(1));
const write = () =>
  engine.perform({
    operation: "categories.create",
    caller: { clientId: 1, keyId: 1, role: "staff" },
    input: { body: { name: "Dogs" } },
    now: 1,
  });

const readsAtOnce = (count: number) => Promise.all(Array.from({ length: count }, () => outcome(read)));

/** Reads and writes without a pause until told to stop; all that became of them. */
function asking() {
  const [reads, writes]: { code: string; ms: number }[][] = [[], []];
  let isOver = false;
  const lane = async (outcomes: { code: string; ms: number }[] | undefined, work: () => Promise<unknown>) => {
    while (!isOver) {
      outcomes?.push(await outcome(work));
      await Bun.sleep(20);
    }
  };
  const lanes = [lane(reads, read), lane(reads, read), lane(writes, write), lane(writes, write)];
  return async () => {
    isOver = true;
    await Promise.all(lanes);
    return { reads: reads ?? [], writes: writes ?? [] };
  };
}

for (const [how, begin] of [
  ["turns everybody away", () => door.shut()],
  ["says that it is starting", () => door.start()],
  ["takes connections and never answers them", () => door.mute()],
] as const)
  test(`a server that ${how} for three seconds is in use again within the time of one connect, and nobody waited beyond a deadline`, async () => {
    const stop = asking();
    await Bun.sleep(100);
    begin();
    await Bun.sleep(DOWN_MS);
    expect(await engine.isReady()).toBe(false);
    door.open();
    const since = performance.now();
    expect(await eventually(() => engine.isReady(), RECOVERED_MS)).toBe(true);
    for (const work of [read, write]) expect((await outcome(work)).code).toBe("done");
    expect(performance.now() - since).toBeLessThan(RECOVERED_MS);
    const { reads, writes } = await stop();
    for (const [outcomes, withinMs] of [
      [reads, READ_MS],
      [writes, WRITE_MS],
    ] as const)
      for (const { code, ms } of outcomes)
        expect([/^(done|unavailable|overloaded)$/.test(code), ms < withinMs]).toEqual([true, true]);
  }, 20_000);

test("connections that went silent while new ones are answered cost the first who use them their deadline, and nobody else", async () => {
  door.mute();
  door.open();
  // The watch is answered on a new connection, so the server is not given up.
  const watch = setInterval(() => Promise.resolve(engine.reads.accessRevision()).catch(() => {}), 250);
  const [silenced] = await readsAtOnce(1);
  clearInterval(watch);
  expect(silenced?.ms).toBeLessThan(READ_MS);
  const later = await readsAtOnce(CONNECTIONS);
  for (const { code, ms } of later) expect([code, ms < AT_ONCE_MS]).toEqual(["done", true]);
});

const poolSettings = () => ({ url, connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 });

test("a connection that the server ends as it begins takes nobody's place", async () => {
  const pool = openPool(poolSettings(), 1);
  const backends = async () =>
    (await server.query(`select 1 from pg_stat_activity where datname = '${database}'`)).length;
  const before = await backends();
  door.hold();
  const first = outcome(() => pool.lease(Date.now() + 2000, "write"));
  expect(await eventually(async () => (await backends()) > before, 2000)).toBe(true);
  // It has greeted, too.
  await Bun.sleep(100);
  await server.terminateBackends(database);
  await Bun.sleep(100);
  door.release();
  expect((await first).code).toBe("unavailable");
  expect(
    await eventually(async () => {
      const { code } = await outcome(async () => pool.giveBack(await pool.lease(Date.now() + 500, "write")));
      return code === "done";
    }, RECOVERED_MS),
  ).toBe(true);
  await pool.close();
});

test("who waits for a connection is not bound to one connect: the first that is free is theirs", async () => {
  const pool = openPool(poolSettings(), 2);
  const deadline = () => Date.now() + 1500;
  const inUse = await pool.lease(deadline(), "read");
  door.mute();
  const waiting = outcome(() => pool.lease(deadline(), "read"));
  await Bun.sleep(50);
  door.open();
  pool.giveBack(inUse);
  const { code, ms } = await waiting;
  expect([code, ms < AT_ONCE_MS]).toEqual(["done", true]);
  await pool.close();
});

test("a connect that is never answered is waited for no longer than the request may", async () => {
  const pool = openPool(poolSettings(), 2);
  door.mute();
  const { code, ms } = await outcome(() => pool.lease(Date.now() + 300, "read"));
  expect([code, ms < AT_ONCE_MS]).toEqual(["unavailable", true]);
  door.open();
  await pool.close();
});

test("a connect that was refused is tried again for the one that waits, while the others are in use", async () => {
  const pool = openPool(poolSettings(), 2);
  const inUse = await pool.lease(Date.now() + 2000, "read");
  door.refuseNext();
  const { code, ms } = await outcome(() => pool.lease(Date.now() + 2000, "read"));
  expect([code, ms < AT_ONCE_MS + 250]).toEqual(["done", true]);
  pool.giveBack(inUse);
  await pool.close();
});
