import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { carried, notCarried } from "../../src/store/move/tables.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aPlace } from "./places.ts";

interface Column {
  readonly table: string;
  readonly column: string;
  readonly kind: string;
}

const kinds: Readonly<Record<string, string>> = {
  INTEGER: "integer",
  TEXT: "text",
  BLOB: "bytes",
  bigint: "integer",
  text: "text",
  bytea: "bytes",
};

/** The columns of all tables but those that are left out, as `table.column kind`. */
function toCarry(columns: readonly Column[]): string[] {
  return columns
    .filter(({ table }) => !(table in notCarried))
    .map(({ table, column, kind }) => `${table}.${column} ${kinds[kind]}`)
    .sort();
}

const listed = carried
  .flatMap(({ name, columns }) =>
    Object.entries(columns).map(([column, kind]) => `${name}.${column} ${kind}`),
  )
  .sort();
const numbered = carried
  .filter(({ numbersRows }) => numbersRows)
  .map(({ name }) => name)
  .sort();

test("every table and column of SQLite is carried, or named as left out", async () => {
  await using place = await aPlace("sqlite");
  const database = new Database(place.url, { readonly: true });
  const columns = database
    .query(
      `select t.name as "table", c.name as column, c.type as kind from sqlite_schema t join pragma_table_info(t.name) c
       where t.type = 'table' and t.name not like 'sqlite_%'`,
    )
    .all() as Column[];
  expect(toCarry(columns)).toEqual(listed);
  const tables = database.query("select name from sqlite_schema where sql like '%autoincrement%'").all();
  expect((tables as { name: string }[]).map(({ name }) => name).sort()).toEqual(numbered);
  const keys = carried.map(({ name }) => {
    const found = database
      .query(`select name from pragma_table_info('${name}') where pk > 0 order by pk`)
      .all();
    return [name, (found as { name: string }[]).map((each) => each.name)];
  });
  expect(keys).toEqual(carried.map(({ name, key }) => [name, [...key]]));
  database.close();
});

test("every table and column of PostgreSQL is carried, or named as left out, but for what is derived from others", async () => {
  await using place = await aPlace("postgres");
  const rows = await (await sharedPostgres()).query(
    `select table_name as "table", column_name as column, data_type as kind, is_identity as numbered
     from information_schema.columns where table_schema = 'public' and is_generated = 'NEVER'`,
    new URL(place.url).pathname.slice(1),
  );
  const columns = rows as unknown as (Column & { numbered: string })[];
  expect(toCarry(columns)).toEqual(listed);
  const tables = columns.filter((each) => each.numbered === "YES").map(({ table }) => table);
  expect(tables.sort()).toEqual(numbered);
});

test("what is left out is there, is not carried as well, and has a reason", async () => {
  await using place = await aPlace("sqlite");
  const database = new Database(place.url, { readonly: true });
  const rows = database.query("select name from sqlite_schema where type = 'table'").all();
  const tables = (rows as { name: string }[]).map(({ name }) => name);
  database.close();
  for (const [name, reason] of Object.entries(notCarried)) {
    expect(tables).toContain(name);
    expect(carried.map((table) => table.name)).not.toContain(name);
    expect(reason.length).toBeGreaterThan(20);
  }
});
