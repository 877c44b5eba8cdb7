// Databases on PostgreSQL that cannot be used as they are, and what the operator is told of them.
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";
import { aFolder, petstore, serving } from "./command.ts";

const USING = ["migrate", "serve", "keys revoke 1"];
const LOOKING = ["doctor", "keys list"];

let server: ReachedPostgres;
beforeAll(async () => {
  server = await sharedPostgres();
});

const tables = "select table_name as name from information_schema.tables where table_schema = 'public'";

/** Each of the commands fails with one line. */
async function allSay(commands: readonly string[], url: string, line: string): Promise<void> {
  for (const command of commands) {
    const env = { DATABASE_URL: url, PORT: "0" };
    const { code, stdout, stderr } = await petstore(command.split(" "), { env });
    expect({ command, code, stdout, stderr }).toEqual({
      command,
      code: 1,
      stdout: "",
      stderr: `petstore: ${line}\n`,
    });
  }
}

/** A new role without any right of its own; its name. */
async function aRole(): Promise<string> {
  const role = `role_${crypto.randomUUID().replaceAll("-", "")}`;
  await server.query(`create role ${role} login`);
  return role;
}

const as = (role: string, database: string) => server.url(database).replace("postgres@", `${role}@`);

test("a user that may not make tables is told how it may, and as the owner makes them", async () => {
  const [database, role] = [await server.newDatabase(), await aRole()];
  const url = as(role, database);
  const toldFor = (cause: string) =>
    `The user ${role} may not make or change tables in the database ${database} (${cause}). Make it the owner: ` +
    `alter database ${database} owner to ${role}. Or run 'petstore migrate' as the user that owns the tables.`;
  await allSay(USING, url, toldFor("permission denied for schema public"));
  await server.query("revoke usage on schema public from public", database);
  await allSay(USING, url, toldFor("no schema has been selected to create in"));
  expect(await server.query(tables, database)).toEqual([]);
  await server.query(`alter database ${database} owner to ${role}`);
  expect((await petstore(["migrate"], { env: { DATABASE_URL: url } })).code).toBe(0);
});

test("a user with rights to rows only serves a database that is up to date", async () => {
  const [url, role] = [await server.newStore(), await aRole()];
  const database = new URL(url).pathname.slice(1);
  await server.query(
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    database,
  );
  using folder = aFolder();
  const env = { DATABASE_URL: as(role, database) };
  await using shop = await serving({ database: env.DATABASE_URL, in: folder.path, args: ["--demo"] });
  const key = readFileSync(folder.file("data/admin.key"), "utf8").trim();
  const meets = async () => (await fetch(`${shop.url}/pets`, { headers: { "x-api-key": key } })).status;
  expect(await meets()).toBe(200);
  for (const command of ["migrate", "doctor", "keys list", "keys create --role staff", "keys revoke 2"])
    expect([command, (await petstore(command.split(" "), { env })).code]).toEqual([command, 0]);

  await server.query("delete from migrations where number > 1", database);
  const { code, stderr } = await petstore(["migrate"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: The user \w+ may not make or change tables [^\n]+\n$/);
});

test("a user without a right to the tables is told so in one sentence, and a server that loses it answers 503", async () => {
  const [url, role] = [await server.newStore(), await aRole()];
  const database = new URL(url).pathname.slice(1);
  const others = (await server.query(tables, database)).length - 1;
  await allSay(
    LOOKING,
    as(role, database),
    `The user ${role} may not read access and ${others} other tables. As the owner of the tables: grant select on all tables in schema public to ${role}`,
  );
  for (const command of USING) {
    const env = { DATABASE_URL: as(role, database), PORT: "0" };
    const { code, stderr } = await petstore(command.split(" "), { env });
    expect([command, code]).toEqual([command, 1]);
    expect(stderr).toMatch(
      /^petstore: Cannot open the database \S+ \(permission denied for table migrations\)\. Make its tables belong to this user, [^\n]+\n$/,
    );
  }
  await server.query(
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    database,
  );
  using folder = aFolder();
  await using shop = await serving({ database: as(role, database), in: folder.path });
  const key = readFileSync(folder.file("data/admin.key"), "utf8").trim();
  await server.query(`revoke all on pets from ${role}`, database);
  const response = await fetch(`${shop.url}/pets`, { headers: { "x-api-key": key } });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([503, "unavailable"]);
});

test("a user who may only read looks, and exports all of it; one who may not read all is told what to grant", async () => {
  const [url, role] = [await server.newStore(), await aRole()];
  const database = new URL(url).pathname.slice(1);
  const env = { DATABASE_URL: as(role, database) };
  expect((await petstore(["demo"], { env: { DATABASE_URL: url } })).code).toBe(0);
  await server.query(`grant select on all tables in schema public to ${role}`, database);
  for (const command of ["doctor", "keys list"])
    expect([command, (await petstore(command.split(" "), { env })).code]).toEqual([command, 0]);
  const [mine, owners] = await Promise.all(
    [env, { DATABASE_URL: url }].map((each) => petstore(["export", "-"], { env: each })),
  );
  expect(mine?.code).toBe(0);
  // All but the first line, which has the time.
  const rows = (text = "") => text.split("\n").slice(1, -2);
  expect(rows(mine?.stdout)).toEqual(rows(owners?.stdout));

  await server.query("revoke select on sequence pets_id_seq from public", database);
  const { code, stderr } = await petstore(["export", "-"], { env });
  expect([code, stderr]).toEqual([
    1,
    "petstore: The user of the database lacks a right: permission denied for sequence pets_id_seq. As the owner of the tables: grant usage, select on sequence pets_id_seq to that user\n",
  ]);
  await server.query(`revoke select on pets from ${role}`, database);
  const line = `The user ${role} may not read pets. As the owner of the tables: grant select on all tables in schema public to ${role}`;
  await allSay([...LOOKING, "export -"], env.DATABASE_URL, line);
  await server.query("revoke usage on schema public from public", database);
  const none = `The user ${role} may use no schema of the database. As its owner: grant usage on schema public to ${role}`;
  await allSay(LOOKING, env.DATABASE_URL, none);
});

test("a database that is not in UTF8 is refused, and left as it is", async () => {
  const database = await server.newDatabase("template0 encoding 'LATIN1' locale 'C'");
  await allSay(
    [...USING, ...LOOKING],
    server.url(database),
    `The database is in LATIN1, and Petstore needs UTF8. Make another: createdb -E UTF8 -T template0 -O petstore petstore`,
  );
  expect(await server.query(tables, database)).toEqual([]);
});

test("who looks at an empty database is told that it is empty, and what makes the tables", async () => {
  const database = await server.newDatabase();
  const line = "The database is empty. 'petstore migrate' or 'petstore serve' makes its tables.";
  await allSay(LOOKING, server.url(database), line);
  expect(await server.query(tables, database)).toEqual([]);
});

test.each([
  ["with other columns", "id serial, migration text, batch int"],
  ["with some of our columns", "number text, name text"],
])("another program's database is left alone though it has a table `migrations` %s", async (_, columns) => {
  const database = await server.newDatabase();
  await server.query(`create table migrations (${columns})`, database);
  const line =
    "The database has tables of another program, and none of Petstore's. Name another with DATABASE_URL.";
  await allSay([...USING, ...LOOKING], server.url(database), line);
  expect(await server.query(tables, database)).toEqual([{ name: "migrations" }]);
});
