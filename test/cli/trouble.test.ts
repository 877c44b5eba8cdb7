import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { aFolder, PETSTORE, petstore, run, serving } from "./command.ts";

test("a first admin key that cannot be written is not made: one sentence, and the next start makes it", async () => {
  using folder = aFolder();
  mkdirSync(folder.file("data/admin.key"), { recursive: true });
  const env = { DATABASE_URL: folder.database, PORT: "0" };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: Cannot write the first admin key to \S+ \([^\n]+\)\. [^\n]+\n$/);
  using database = new Database(folder.database, { readonly: true });
  expect(database.query("select count(*) from api_keys").values()).toEqual([[0]]);
});

test("an address that is none is refused in one sentence", async () => {
  using folder = aFolder();
  const env = { DATABASE_URL: folder.database, PORT: "0", HOST: "nope.invalid" };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: nope\.invalid is no address of this machine\.[^\n]+\n$/);
});

const others: readonly (readonly [string, string])[] = [
  ["another program's tables", "create table notes (text)"],
  [
    "another program's migrations",
    "create table migrations (id integer primary key, migration text, batch integer)",
  ],
];

test.each(["[::1]", "127.0.0.1 ", "127.0.0.1:80", "http://127.0.0.1", "*", "a..b"])(
  "the address %j is none to listen on, and is refused with the settings",
  async (host) => {
    using folder = aFolder();
    const env = { DATABASE_URL: folder.database, PORT: "0", HOST: host };
    const { code, stderr } = await petstore(["serve"], { env });
    expect(code).toBe(2);
    expect(stderr).toBe(
      `petstore: Cannot start: HOST must be an address such as 127.0.0.1 or ::1, or a host name, and nothing else, got "${host}".\n`,
    );
  },
);

test.each(["127.0.0.1", "::1", "localhost"])("%s is listened on", async (host) => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database, env: { HOST: host } });
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});

test.each(
  others.flatMap(([what, tables]) =>
    ["doctor", "migrate", "serve", "keys list", "clients create --name Shop"].map(
      (command) => [command, what, tables] as const,
    ),
  ),
)("petstore %s leaves a file with %s as it is, byte for byte", async (command, _, tables) => {
  using folder = aFolder();
  const file = folder.file("other.db");
  {
    using other = new Database(file, { create: true });
    other.run(tables);
  }
  const before = readFileSync(file);
  const { code, stderr } = await petstore(command.split(" "), { env: { DATABASE_URL: file, PORT: "0" } });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: The database has tables of another program[^\n]+\n$/);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(folder.path)).toEqual(["other.db"]);
});

test.each([
  "doctor",
  "export store.ndjson",
  "backup backup.db",
  "keys list",
  "keys create --role admin",
  "keys rotate 5",
  "keys revoke 5",
  "clients list",
  "clients create --name Shop",
  "clients change 5 --plan pro",
  "clients suspend 5",
  "clients resume 5",
  "clients remove 5",
  "bans list",
  "bans impose 5 --minutes 5",
  "bans lift 5",
])("petstore %s works only where there is a database, and makes none", async (command) => {
  using folder = aFolder();
  writeFileSync(folder.file("empty.db"), "");
  for (const name of ["missing.db", "empty.db", "data/petstore.db"]) {
    const { code, stderr } = await petstore(command.split(" "), {
      env: { DATABASE_URL: folder.file(name) },
      in: folder.path,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^petstore: There is no database at [^\n]+\n$/);
  }
  expect(statSync(folder.file("empty.db")).size).toBe(0);
  expect(readdirSync(folder.path)).toEqual(["empty.db"]);
});

test("the doctor says of a database without tables that it is empty, and what makes them", async () => {
  using folder = aFolder();
  const file = folder.file("bare.db");
  new Database(file, { create: true }).run("pragma user_version = 1");
  const { code, stderr } = await petstore(["doctor"], { env: { DATABASE_URL: file } });
  expect([code, stderr]).toEqual([
    1,
    "petstore: The database is empty. 'petstore migrate' or 'petstore serve' makes its tables.\n",
  ]);
});

test("an export of a file that is no database says so", async () => {
  using folder = aFolder();
  writeFileSync(folder.file("letter.txt"), "Dear aunt, this is not a database.\n".repeat(50));
  const env = { DATABASE_URL: folder.file("letter.txt") };
  const { code, stdout, stderr } = await petstore(["export", "-"], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^petstore: [^\n]+ The cause: SQLiteError: file is not a database\.\n$/);
});

test("the doctor finds a file whose first page is broken, with exit code 3", async () => {
  using folder = aFolder();
  const env = { DATABASE_URL: folder.database };
  await petstore(["demo"], { env });
  const bytes = readFileSync(folder.database);
  writeFileSync(folder.database, Buffer.concat([Buffer.alloc(100, 1), bytes.subarray(100)]));
  const { code, stdout } = await petstore(["doctor", "--json"], { env });
  expect(code).toBe(3);
  expect(JSON.parse(stdout).findings[0].check).toBe("the file is whole");
});

const output = new URL("../../src/cli/output.ts", import.meta.url).pathname;
const line = 'Buffer.from(JSON.stringify({ n, text: "x".repeat(200) }) + "\\n")';

test("a log that is read slowly loses no line and cuts none; one that nobody can take stops nothing", async () => {
  using folder = aFolder();
  const script = folder.file("chatter.ts");
  writeFileSync(
    script,
    `import { standardOutput } from ${JSON.stringify(output)};
     const write = standardOutput();
     for (let n = 0; n < 3000; n++) write(${line});
     await Bun.sleep(1500);`,
  );
  const slow = await run(["sh", "-c", `"${process.execPath}" "${script}" | (sleep 0.5; cat)`]);
  const numbers = slow.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).n);
  expect(numbers).toEqual(Array.from({ length: 3000 }, (_, n) => n));
  const full = await run(["sh", "-c", `"${process.execPath}" "${script}" > /dev/full`]);
  expect([full.code, full.stderr]).toEqual([0, ""]);
});

test("what a log that is read too slowly loses is told, with the time and how many lines it was", async () => {
  using folder = aFolder();
  const script = folder.file("flood.ts");
  // Like the server it looks at process.stdout first, after which a write that finds no room does not wait.
  writeFileSync(
    script,
    `import { standardOutput } from ${JSON.stringify(output)};
     const write = standardOutput(process.stdout.isTTY ? 2 : 1);
     for (let n = 0; n < 15000; n += 3) write(Buffer.concat([n, n + 1, n + 2].map((n) => ${line})));
     for (let n = 15000; n < 15020; n++) {
       await Bun.sleep(50);
       write(${line});
     }
     await Bun.sleep(500);`,
  );
  const { stdout } = await run(["sh", "-c", `"${process.execPath}" "${script}" | cat`]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((each) => JSON.parse(each));
  const written = lines.filter(({ n }) => n !== undefined).length;
  const dropped = lines.filter(({ level }) => level === "warn");
  expect(written).toBeLessThan(15020);
  expect(dropped).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: "warn",
      message: "Lines of the log were dropped.",
      lines: 15020 - written,
    },
  ]);
});

test.each(["--help", "keys create --help", "--version", "openapi", "plans list", "keys create --role admin"])(
  "what %j cannot write it does not lose in silence",
  async (words) => {
    using folder = aFolder();
    await petstore(["migrate"], { in: folder.path });
    const { code, stderr } = await run(["sh", "-c", `"${PETSTORE}" ${words} > /dev/full`], {
      in: folder.path,
    });
    expect(stderr).toMatch(/^petstore: Cannot write the answer: ENOSPC[^\n]+\n$/);
    expect(code).toBe(1);
  },
);

test("a database that may not be opened is no damage", async () => {
  using folder = aFolder();
  const env = { DATABASE_URL: folder.database };
  await petstore(["migrate"], { env });
  mkdirSync(`${folder.database}-wal`);
  const { code, stdout, stderr } = await petstore(["doctor"], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^petstore: Cannot use the database: SQLiteError: unable to open database file\. [^\n]+\n$/,
  );
});

test.each(["doctor", "export -", "backup store.backup", "clients list"])(
  "%j says what to do about a folder that may not be written",
  async (words) => {
    using folder = aFolder();
    const env = { DATABASE_URL: folder.database };
    await petstore(["migrate"], { env });
    chmodSync(dirname(folder.database), 0o500);
    // Root is kept from nothing, unless it gives that up.
    const withoutPower = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override"] : [];
    const { code, stdout, stderr } = await run([...withoutPower, PETSTORE, ...words.split(" ")], {
      env,
      in: folder.path,
    });
    chmodSync(dirname(folder.database), 0o700);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^petstore: Cannot use the database: [^\n]+ the folder must be writable\.\n$/);
  },
);
