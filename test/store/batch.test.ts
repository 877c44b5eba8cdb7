import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import type { EventType } from "../../src/contract/event-types.ts";
import { Failure, Unavailable } from "../../src/core/failure.ts";
import { perform } from "../../src/core/perform.ts";
import type { Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { commitTogether, type Outcome, unwrap } from "../../src/store/sqlite/batch.ts";
import { type Connection, connect } from "../../src/store/sqlite/connection.ts";
import { type EmbeddedStore, openStore } from "../../src/store/sqlite/store.ts";
import { sqliteWrites } from "../../src/store/sqlite/writes.ts";
import { RowsStatement, sql, statement } from "../../src/store/statement.ts";
import { aFolder, type Folder } from "../cli/command.ts";

let folder: Folder;
let store: EmbeddedStore;
let writes: Writes;
let reader: Connection;
beforeAll(() => {
  folder = aFolder();
  store = openStore(folder.database, 0);
  writes = sqliteWrites(store.db);
  reader = connect(folder.database, "read");
});
beforeEach(() => store.db.exec("delete from categories"));
afterAll(() => {
  reader.close();
  store.close();
  folder[Symbol.dispose]();
});

type Job = (into: Writes) => Promise<unknown>;

const together = (...jobs: Job[]) => commitTogether(store.db, jobs, (job) => job(writes));
const add =
  (name: string): Job =>
  async (into) =>
    (await into.addCategory({ name, description: null }, 0)).name;
const addThenThrow =
  (name: string, error: unknown): Job =>
  async (into) => {
    await add(name)(into);
    throw error;
  };
const names = () => reader.rows("select name from categories order by id").map(({ name }) => name);
const thrownBy = (outcome: Outcome<unknown> | undefined) => {
  try {
    unwrap(outcome as Outcome<unknown>);
  } catch (error) {
    return error as Error;
  }
  return undefined;
};

test("every write of a batch is there after its commit, and none before", async () => {
  const seen: unknown[] = [];
  const look: Job = async () => seen.push(...names());
  const outcomes = await together(add("Dogs"), look, add("Cats"), look);
  expect(outcomes[0]).toEqual({ done: "Dogs" });
  expect(seen).toEqual([]);
  expect(names()).toEqual(["Dogs", "Cats"]);
});

test("a write that is refused undoes itself alone", async () => {
  const refusal = new Failure("insufficient_stock", "Too few.", [{ field: "quantity", message: "is 3" }]);
  const outcomes = await together(add("Dogs"), addThenThrow("Ghosts", refusal), add("Cats"));
  expect(names()).toEqual(["Dogs", "Cats"]);
  const thrown = thrownBy(outcomes[1]) as Failure;
  expect(thrown).toBeInstanceOf(Failure);
  expect(thrown).not.toBeInstanceOf(Unavailable);
  expect({ code: thrown.code, message: thrown.message, details: thrown.details }).toEqual({
    code: "insufficient_stock",
    message: "Too few.",
    details: [{ field: "quantity", message: "is 3" }],
  });
});

test("only a write that fails half way makes the others of its batch run again", async () => {
  const runs: string[] = [];
  const noted =
    (name: string, job: Job): Job =>
    (into) => {
      runs.push(name);
      return job(into);
    };
  const refusal = new Failure("order_complete", "No.");
  const refused: Job = async () => {
    throw refusal;
  };
  await together(noted("Dogs", add("Dogs")), noted("refused", refused), noted("Cats", add("Cats")));
  expect(runs.splice(0)).toEqual(["Dogs", "refused", "Cats"]);
  await together(noted("Birds", add("Birds")), noted("half", addThenThrow("Ghosts", refusal)));
  expect(runs).toEqual(["Birds", "half", "Birds", "half"]);
  expect(names()).toEqual(["Dogs", "Cats", "Birds"]);
});

test("a write with a fault undoes itself alone and keeps its stack for the log", async () => {
  const fault = new TypeError("a fault of ours");
  const outcomes = await together(add("Dogs"), addThenThrow("Ghosts", fault), add("Cats"));
  expect(names()).toEqual(["Dogs", "Cats"]);
  const thrown = thrownBy(outcomes[1]);
  expect(thrown).not.toBeInstanceOf(Failure);
  expect(thrown?.message).toBe("a fault of ours");
  expect(thrown?.stack).toBe(fault.stack as string);
});

test("a broken constraint undoes one write and is a fault, not trouble of the database", async () => {
  const orphan: Job = async () =>
    store.db.exec("insert into pets values (1,'x','x',99,'available',1,0,1,1,0)");
  const outcomes = await together(add("Dogs"), orphan, add("Cats"));
  expect(names()).toEqual(["Dogs", "Cats"]);
  expect(thrownBy(outcomes[1])).not.toBeInstanceOf(Failure);
});

test("trouble of the database in one write fails the whole batch and keeps nothing of it", async () => {
  const outcomes = await together(
    add("Dogs"),
    addThenThrow("Ghosts", new Unavailable(new Error("the disk is gone"))),
    add("Cats"),
  );
  expect(names()).toEqual([]);
  for (const outcome of outcomes) expect(thrownBy(outcome)).toBeInstanceOf(Unavailable);
  expect(outcomes).toHaveLength(3);
  expect(await together(add("Birds"))).toEqual([{ done: "Birds" }]);
});

test("a batch whose commit fails fails whole, and the next one is done", async () => {
  const breaksAtCommit: Job = async () => {
    store.db.exec("pragma defer_foreign_keys = on");
    store.db.exec("insert into orders (client_id, complete, created_at) values (99, 0, 0)");
  };
  const outcomes = await together(add("Dogs"), breaksAtCommit, add("Cats"));
  expect(names()).toEqual([]);
  expect(outcomes).toHaveLength(3);
  for (const outcome of outcomes) expect(thrownBy(outcome)?.message).toMatch(/FOREIGN KEY/);
  expect(await together(add("Birds"))).toEqual([{ done: "Birds" }]);
  expect(names()).toEqual(["Birds"]);
});

test("a full database is unavailable, not a fault; with room again it goes on", async () => {
  const long = "x".repeat(2000);
  const pages = Number(store.db.value("pragma page_count"));
  store.db.exec(`pragma max_page_count = ${pages + 2}`);
  const jobs = Array.from({ length: 40 }, () => add(long));
  const outcomes = await together(add("Dogs"), ...jobs);
  for (const outcome of outcomes) expect(thrownBy(outcome)).toBeInstanceOf(Unavailable);
  expect(names()).toEqual([]);
  store.db.exec("pragma max_page_count = 1000000");
  expect((await together(add("Dogs"), ...jobs)).every((outcome) => "done" in outcome)).toBe(true);
  expect(names()).toHaveLength(41);
});

test("once SQLite itself has ended the transaction nothing more of the batch is done", async () => {
  const ending: Job = async () =>
    store.db.exec("insert or rollback into categories select * from categories");
  const outcomes = await together(add("Dogs"), ending, add("Cats"), add("Birds"));
  expect(names()).toEqual([]);
  for (const outcome of outcomes) expect(thrownBy(outcome)).toBeInstanceOf(Unavailable);
  expect(await together(add("Fish"))).toEqual([{ done: "Fish" }]);
  expect(names()).toEqual(["Fish"]);
});

test("a disk that fills up in the midst of a thousand new pets keeps none of them, and no movement", async () => {
  await together(add("Dogs"));
  const categoryId = Number(store.db.value("select id from categories"));
  const body = Array.from({ length: 1000 }, (_, n) => ({ name: `Pet ${n}`, categoryId, quantity: 1 }));
  const createMany: Job = (into) =>
    perform(
      into,
      {
        operation: "pets.createMany",
        caller: { clientId: 1, keyId: 1, role: "staff" },
        input: { body },
        now: 0,
        random: undefined,
        ifMatch: undefined,
        idempotency: undefined,
      },
      rulesOf(readConfig({})),
    );
  const rows = () =>
    ["pets", "movements", "events"].map((table) => reader.value(`select count(*) from ${table}`));
  const before = rows();
  const pages = Number(store.db.value("pragma page_count"));
  let refusals = 0;
  for (let room = 1; ; room += 3) {
    store.db.exec(`pragma max_page_count = ${pages + room}`);
    const thrown = thrownBy((await together(createMany))[0]);
    if (!thrown) break;
    refusals += 1;
    expect(thrown).toBeInstanceOf(Unavailable);
    expect(rows()).toEqual(before);
  }
  expect(refusals).toBeGreaterThan(3);
  store.db.exec("pragma max_page_count = 1000000");
  expect(rows()).toEqual([1000, 1000, 1000].map((more, at) => Number(before[at]) + more));
  store.db.exec("delete from movements; delete from pets; delete from events");
});

const told = () => reader.rows("select subject from events order by id").map(({ subject }) => subject);
const tell =
  (subject: string, type: EventType | null = "pet.deleted"): Job =>
  async (into) =>
    into.emit([{ type: type as EventType, subject, clientId: null, data: {} }], 0);

test("what the writes of a batch tell is told in their order, once, and nothing of a write that failed", async () => {
  const refusal = new Failure("order_complete", "No.");
  const tellThenThrow: Job = async (into) => {
    await tell("pets/2")(into);
    throw refusal;
  };
  const outcomes = await together(tell("pets/1"), tellThenThrow, tell("pets/3"), add("Dogs"));
  expect(thrownBy(outcomes[1])).toBeInstanceOf(Failure);
  expect(told()).toEqual(["pets/1", "pets/3"]);
  const trouble: Job = async () => {
    throw new Unavailable("gone");
  };
  await together(tell("pets/4"), trouble);
  await together(tell("pets/5"));
  expect(told()).toEqual(["pets/1", "pets/3", "pets/5"]);
  store.db.exec("delete from events");
});

test("an event that cannot be kept undoes its own write alone", async () => {
  const addThenTellNothing: Job = async (into) => {
    await add("Ghosts")(into);
    await tell("pets/2", null)(into);
  };
  const outcomes = await together(tell("pets/1"), add("Dogs"), addThenTellNothing, tell("pets/3"));
  expect(thrownBy(outcomes[2])?.message).toMatch(/NOT NULL/);
  expect(names()).toEqual(["Dogs"]);
  expect(told()).toEqual(["pets/1", "pets/3"]);
  store.db.exec("delete from events");
});

test("of large writes few events wait in memory, and all are told", async () => {
  const tellMany: Job = async (into) => {
    for (let each = 0; each < 1500; each++) await tell(`pets/${each}`)(into);
    return store.db.appended.count();
  };
  const [waiting] = await together(tellMany, tell("pets/last"));
  expect(unwrap(waiting as Outcome<unknown>)).toBeLessThan(1000);
  expect(told()).toEqual([...Array.from({ length: 1500 }, (_, each) => `pets/${each}`), "pets/last"]);
  store.db.exec("delete from events");
});

test("a write that asks for the last event counts those of its own batch", async () => {
  const last: Job = async (into) => into.lastEvent();
  const [before, , after] = await together(last, tell("pets/1"), last);
  expect(unwrap(after as Outcome<unknown>)).toBe(Number(unwrap(before as Outcome<unknown>)) + 1);
  store.db.exec("delete from events");
});

test("rows wait until a statement names their table, and only those of tables that statements are read for", async () => {
  const { db } = store;
  const left =
    (ask: () => unknown): Job =>
    async (into) => {
      await tell("pets/1")(into);
      ask();
      return db.appended.count();
    };
  const id = 0;
  const waiting = await together(
    left(() => db.get(sql`select id from events where id = :id`, { id })),
    left(() => db.all(statement("select id from events where id > ?", "list"), [id])),
    left(() => db.run(sql`update events set at = at where id = :id`, { id })),
    left(() => db.get(sql`select id from pets where id = :id`, { id })),
  );
  expect(waiting.map(unwrap)).toEqual([0, 0, 0, 1]);
  const categories = new RowsStatement<{ name: string }>(
    ["name"],
    (values) => `insert into categories ${values}`,
  );
  const [unknown] = await together(async () => db.append?.(categories, [{ name: "Dogs" }]));
  expect(thrownBy(unknown)?.message).toContain("no table that is known");
  db.exec("delete from events");
});

test("what outcomes carry to another thread can be cloned", async () => {
  const jobs = [
    add("Dogs"),
    addThenThrow("x", new Failure("order_complete", "No.")),
    addThenThrow("y", "not even an Error"),
  ];
  const outcomes = await together(...jobs);
  expect(structuredClone(outcomes)).toEqual(outcomes);
  expect(thrownBy(outcomes[2])?.message).toBe("not even an Error");
});
