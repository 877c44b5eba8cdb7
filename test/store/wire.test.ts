// What is asked of PostgreSQL in one turn is one message: what becomes of the others when one of them fails.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Lost, openWire, type Wire } from "../../src/store/postgres/wire.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";

const settings = { connectMs: 2000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };
let server: ReachedPostgres;
let database: string;
let wire: Wire;
beforeAll(async () => {
  server = await sharedPostgres();
  database = await server.newDatabase();
  await server.query("create table notes (id bigint primary key, word text not null)", database);
  const late = "create table late_notes (id bigint unique deferrable initially deferred)";
  await server.query(late, database);
  wire = await openWire({ ...settings, url: server.url(database) }, () => {});
});
beforeEach(async () => {
  await server.query("truncate notes", database);
});
afterAll(() => wire.close());

const asked = (text: string, values: (string | number | null)[] = [], name?: string) =>
  wire.send({ text, values, name });
const note = (id: number, word: string | null, name = "note") =>
  asked("insert into notes values ($1, $2) returning id", [id, word], name);
const words = () => asked("select word from notes order by id", [], "words").then(({ rows }) => rows);
const outcomes = async (all: Promise<unknown>[]) =>
  (await Promise.allSettled(all)).map((each) => (each.status === "rejected" ? String(each.reason) : "done"));

test("answers of one turn come in the order of the questions, each with its own rows", async () => {
  const all = await Promise.all([
    asked("select $1::bigint as first", [1], "first"),
    asked("select $1::text as text, null as nothing", ["two"]),
    note(3, "three"),
    asked("select id, word from notes", [], "notes"),
    asked("update notes set word = 'four'", [], "four"),
    asked("", []),
    asked("select $1::bigint as first", [7], "first"),
  ]);
  expect(all.map(({ rows }) => rows)).toEqual([
    [{ first: 1 }],
    [{ text: "two", nothing: null }],
    [{ id: 3 }],
    [{ id: 3, word: "three" }],
    [],
    [],
    [{ first: 7 }],
  ]);
  expect(all.map(({ command }) => command)).toEqual([
    "SELECT",
    "SELECT",
    "INSERT",
    "SELECT",
    "UPDATE",
    "",
    "SELECT",
  ]);
});

test("what comes after a statement that failed is not done, and is told for what", async () => {
  const told = await outcomes([
    asked("begin", [], "begin"),
    note(1, "one"),
    note(2, null),
    note(3, "three", "never parsed"),
    asked("commit", [], "commit"),
  ]);
  const refused = expect.stringContaining('null value in column "word"');
  expect(told).toEqual(["done", "done", refused, refused, refused]);
  await wire.send({ text: "rollback" });
  expect(await words()).toEqual([]);
});

test("after a failure the same statements are asked again on the same connection", async () => {
  for (let time = 0; time < 3; time++) {
    const told = await outcomes([
      note(1, null, `fails ${time}`),
      note(2, "two", "comes after"),
      asked("select 1 as one", [], "one"),
    ]);
    expect(new Set(told).size).toBe(1);
  }
  await Promise.all([note(1, "one", "fails 0"), note(2, "two", "comes after")]);
  expect(await words()).toEqual([{ word: "one" }, { word: "two" }]);
  expect((await asked("select 1 as one", [], "one")).rows).toEqual([{ one: 1 }]);
});

test("a failure in one turn leaves those of the next alone", async () => {
  const first = outcomes([note(1, null)]);
  await new Promise(setImmediate);
  const second = outcomes([note(1, "one"), note(2, "two")]);
  expect([(await first)[0], ...(await second)]).toEqual([
    expect.stringContaining("null value"),
    "done",
    "done",
  ]);
  expect(await words()).toEqual([{ word: "one" }, { word: "two" }]);
});

test("what fails only when the turn is over was not done", async () => {
  const told = await outcomes([asked("insert into late_notes values (1), (1)", [], "late")]);
  expect(told).toEqual([expect.stringContaining("duplicate key")]);
  expect((await asked("select id from late_notes", [])).rows).toEqual([]);
});

test("texts of several statements go by themselves, in their place among the others", async () => {
  const all = [
    note(1, "one"),
    wire.send({ text: "insert into notes values (2, 'two'); insert into notes values (3, 'three')" }),
    asked("select count(*) as n from notes", [], "count"),
  ];
  expect(await outcomes(all)).toEqual(["done", "done", "done"]);
  expect((await all[2])?.rows).toEqual([{ n: 3 }]);
});

test("what cannot even be sent ends the connection, and everybody who waits is told", async () => {
  const short = await openWire({ ...settings, url: server.url(database) }, () => {});
  const slow = short.send({ text: "select pg_sleep(5)" });
  const unsendable = short.send({ text: "select $1", values: [Object.create(null)] });
  const beside = short.send({ text: "select 1", values: [] });
  for (const waiting of [slow, unsendable, beside])
    expect(await waiting.catch((error: unknown) => error)).toBeInstanceOf(Lost);
  expect(short.isLost).toBe(true);
});
