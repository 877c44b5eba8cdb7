import { Database } from "bun:sqlite";
import { expect, setSystemTime, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { type Command, perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { runWriter } from "../../src/store/sqlite/thread.ts";
import {
  type FromWriter,
  startWriter,
  type Writer,
  type WriterBounds,
} from "../../src/store/sqlite/writer.ts";
import { addCategory } from "../cli/backups.ts";
import { aFolder } from "../cli/command.ts";

const rules = rulesOf(readConfig({}));
const quick: WriterBounds = { queued: 50, deadlineMs: 400, stalledMs: 100, restartMs: 100 };
const untold = { onFault: () => {}, onLost: () => {} };
const thread = new URL("../../src/writer.ts", import.meta.url);
const fallible = new URL("./fallible-writer.ts", import.meta.url);
const staff = { clientId: 1, keyId: 1, role: "staff" } as const;

function category(name: string): Command {
  return { operation: "categories.create", caller: staff, input: { body: { name } }, now: 1 };
}

async function within(milliseconds: number, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + milliseconds; !isSo(); await Bun.sleep(10)) {
    if (Date.now() > end) throw new Error("It did not come to be in time.");
  }
}

/** One that this process may use. */
function aCore(): string {
  const [, first] = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return first as string;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Many pages of log in one write. */
function manyPets(writer: Writer) {
  const body = Array.from({ length: 1000 }, (_, n) => ({
    name: `Pet ${n}`,
    categoryId: 1,
    status: "available",
  }));
  return writer.perform({ operation: "pets.createMany", caller: staff, input: { body }, now: 1 });
}

/** In pages: how long the log is, and how far it is copied. */
function lengthOf(database: Database) {
  const [row] = database
    .query<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(noop)")
    .all();
  return row ?? { log: 0, checkpointed: 0 };
}

function leftInLog(database: Database): number {
  const { log, checkpointed } = lengthOf(database);
  return log - checkpointed;
}

function outcome(writer: Writer, command: Command): Promise<string> {
  return writer.perform(command).then(
    () => "done",
    (error) => error.code,
  );
}

test("a write that waits too long is answered 503, is never done, and the server is not ready meanwhile", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const writer = await startWriter(thread, { path: folder.database, rules }, untold, quick);
  using other = new Database(folder.database);
  other.run("begin immediate");
  const first = outcome(writer, category("held up in its transaction"));
  await Bun.sleep(20);
  const second = outcome(writer, category("never begun"));
  await within(2000, () => !writer.isReady());
  expect([await first, await second]).toEqual(["unavailable", "unavailable"]);
  other.run("rollback");
  await within(6000, () => writer.isReady());
  expect(await outcome(writer, category("after"))).toBe("done");
  await writer.close();
  const names = other.query("select name from categories order by id").values().flat();
  expect(names).not.toContain("never begun");
  expect(names).toContain("after");
});

test("a write is given up in time, and the server not ready, though the machine's clock was set back", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const writer = await startWriter(thread, { path: folder.database, rules }, untold, quick);
  using other = new Database(folder.database);
  other.run("begin immediate");
  const before = outcome(writer, category("before"));
  setSystemTime(Date.now() - 3_600_000);
  try {
    const after = outcome(writer, category("after"));
    expect([await before, await after]).toEqual(["unavailable", "unavailable"]);
    expect(writer.isReady()).toBe(false);
  } finally {
    setSystemTime();
    other.run("rollback");
    await writer.close();
  }
});

test("a write that is too late is not done, and does not keep those behind it that are in time", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const told = Promise.withResolvers<FromWriter>();
  const port = {
    postMessage(message: FromWriter) {
      if ("outcomes" in message) told.resolve(message);
    },
  };
  const send = runWriter(port, perform);
  send({ start: { path: folder.database, rules } });
  const now = Date.now();
  const jobs = [
    { id: 1, command: category("too late"), deadline: now - 1 },
    { id: 2, command: category("in time"), deadline: now + 60_000 },
  ];
  send({ jobs });
  const outcomes = await told.promise;
  expect(outcomes).toMatchObject({
    outcomes: [
      { id: 1, outcome: { failure: { code: "unavailable" } } },
      { id: 2, outcome: { done: {} } },
    ],
  });
  send({ close: true });
  using other = new Database(folder.database);
  expect(other.query("select name from categories").values().flat()).toEqual(["in time"]);
});

test("an id past the exact numbers reaches the writer exactly, and so do the writes beside it", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const writer = await startWriter(thread, { path: folder.database, rules }, untold);
  const petId = 2n ** 53n + 1n;
  const removal = { ...category(""), operation: "pets.remove", input: { petId } };
  const [refused, done] = await Promise.allSettled([removal, category("Dogs")].map(writer.perform));
  expect(refused).toMatchObject({
    reason: { code: "pet_not_found", message: expect.stringContaining(`${petId}`) },
  });
  expect(done).toMatchObject({ value: { body: { name: "Dogs" } } });
  await writer.close();
});

test("more writes than may wait are refused at once, also while those that were given up still wait", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const writer = await startWriter(thread, { path: folder.database, rules }, untold, quick);
  using other = new Database(folder.database);
  other.run("begin immediate");
  const waiting = Array.from({ length: quick.queued }, (_, n) => outcome(writer, category(`${n}`)));
  expect(await outcome(writer, category("one too many"))).toBe("overloaded");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["unavailable"]));
  expect(await outcome(writer, category("still one too many"))).toBe("overloaded");
  other.run("rollback");
  await writer.close();
});

test("a writer that falls is started again, as often as it falls, and what waited is told that its outcome is unknown", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const faults: unknown[] = [];
  const writer = await startWriter(
    fallible,
    { path: folder.database, rules },
    { ...untold, onFault: (error) => void faults.push(error) },
    quick,
  );
  for (let time = 1; time <= 3; time++) {
    expect(await outcome(writer, { ...category("x"), operation: "fall" })).toBe("unavailable");
    expect(writer.isReady()).toBe(false);
    expect(await outcome(writer, category("meanwhile"))).toBe("unavailable");
    await within(3000, () => writer.isReady());
    expect(faults.length).toBe(time);
    expect(await outcome(writer, category(`after fall ${time}`))).toBe("done");
  }
  await writer.close();
});

test("a writer that has just fallen can be closed", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const writer = await startWriter(fallible, { path: folder.database, rules }, untold, quick);
  await outcome(writer, { ...category("x"), operation: "fall" });
  await writer.close();
  expect(await outcome(writer, category("too late"))).toBe("unavailable");
});

test.each([
  ["closed", (writer: Writer) => writer.close()],
  ["made to fall", (writer: Writer) => outcome(writer, { ...category("x"), operation: "fall" })],
])(
  "what a slow disk's commit brought is told to all, though the writer is %s after the first of them",
  async (_, end) => {
    using folder = aFolder();
    openStore(folder.database, 1).close();
    const writer = await startWriter(fallible, { path: folder.database, rules }, untold, quick);
    const told: string[] = [];
    const writes = Array.from({ length: 40 }, (_, n) =>
      outcome(writer, category(`Kind ${n}`)).then((became) => told.push(became)),
    );
    await writes[0];
    const ended = end(writer);
    await nextTurn();
    // What the thread says of it is there before the next turn, in which only four more would be answered.
    Bun.sleepSync(100);
    await ended;
    await nextTurn();
    expect(told).toEqual(writes.map(() => "done"));
    await writer.close();
  },
);

test("a writer whose database cannot be opened says so and does not start", async () => {
  using folder = aFolder();
  const start = startWriter(thread, { path: join(folder.path, "nowhere/petstore.db"), rules }, untold, quick);
  expect(
    await start.then(
      () => "started",
      () => "refused",
    ),
  ).toBe("refused");
});

test("the log begins anew again and again, however large the writes are, and however steadily they come", async () => {
  using folder = aFolder();
  await addCategory(folder.database, "Dogs");
  const writer = await startWriter(thread, { path: folder.database, rules }, untold);
  using other = new Database(folder.database);
  let times = 0;
  for (let n = 0, before = 0; n < 200 && times < 2; n++) {
    await manyPets(writer);
    const { log } = lengthOf(other);
    if (log < before) times++;
    before = log;
  }
  expect(times).toBe(2);
  expect(statSync(`${folder.database}-wal`).size).toBeLessThan(130 * 1024 * 1024);
  await writer.close();
});

test("each batch that is committed is told of once, with how many writes it had", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const told: { milliseconds: number; writes: number }[] = [];
  const onCommit = (milliseconds: number, writes: number) => void told.push({ milliseconds, writes });
  const bounds = { ...quick, queued: 1000, deadlineMs: 8000 };
  const writer = await startWriter(thread, { path: folder.database, rules }, { ...untold, onCommit }, bounds);
  await Promise.all(Array.from({ length: 600 }, (_, n) => writer.perform(category(`Kind ${n}`))));
  expect(told.reduce((sum, { writes }) => sum + writes, 0)).toBe(600);
  expect(told.map(({ writes }) => writes)).toEqual([256, 256, 88]);
  expect(told.every(({ milliseconds }) => milliseconds > 0 && milliseconds < 8000)).toBe(true);
  expect(writer.waiting()).toBe(0);
  await writer.close();
});

test("a log that a long read keeps from being copied is copied once that is over", async () => {
  using folder = aFolder();
  await addCategory(folder.database, "Dogs");
  const writer = await startWriter(thread, { path: folder.database, rules }, untold);
  using other = new Database(folder.database);
  {
    using reader = new Database(folder.database, { readonly: true });
    reader.run("begin");
    reader.query("select count(*) from pets").values();
    while (leftInLog(other) < 40_000) await manyPets(writer);
    const next = manyPets(writer);
    reader.run("commit");
    await next;
  }
  const fileMib = () => statSync(`${folder.database}-wal`).size / 1024 / 1024;
  // One after the other, so that no pause comes to its help.
  for (let more = 0; fileMib() > 130 && more < 60; more++) await manyPets(writer);
  expect(fileMib()).toBeLessThan(130);
  await writer.close();
  expect(other.query("select count(*) from pets").values()[0]?.[0]).toBeGreaterThan(2000);
});

test("a writer that falls while its reader stands in the log leaves nobody there", async () => {
  using folder = aFolder();
  await addCategory(folder.database, "Dogs");
  const writer = await startWriter(fallible, { path: folder.database, rules }, untold, {
    ...quick,
    deadlineMs: 8000,
  });
  using other = new Database(folder.database);
  // The last of these comes before the pause after which all is copied.
  while (leftInLog(other) < 4000) await manyPets(writer);
  const fallen = outcome(writer, { ...category("x"), operation: "fall" });
  expect(leftInLog(other)).toBeGreaterThanOrEqual(4000);
  await fallen;
  await within(3000, () => writer.isReady());
  while (leftInLog(other) < 1000) await manyPets(writer);
  await within(3000, () => leftInLog(other) === 0);
  await writer.close();
});

test("on a single core those who are answered on a slow disk go into one commit when they write again, and what is kept for that is done at the end", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const writing = [
    process.execPath,
    "--no-install",
    join(import.meta.dir, "again-and-again.ts"),
    folder.database,
  ];
  const child = Bun.spawn(["taskset", "-c", aCore(), ...writing], { stdout: "pipe", stderr: "inherit" });
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual([40, 40, 40, 1]);
});
