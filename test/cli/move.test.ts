// Moving a store, as its operator does it: with the command, beside a running server, and killed in the middle.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../src/store/migrations.ts";
import { headerLine, rowLine, tableLine } from "../../src/store/move/format.ts";
import { carried } from "../../src/store/move/tables.ts";
import { aPlace, diagnosed, type EngineName, engines, exported, ORIGIN, type Place } from "../move/places.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { eventually, PETSTORE, petstore, run, serving } from "./command.ts";

const otherThan = (engine: EngineName) => (engine === "sqlite" ? "postgres" : "sqlite");
const at = ({ url }: Place) => ({ env: { DATABASE_URL: url } });

/** All but the first line's time, and the checksum that it is part of. */
const withoutTime = (text: string) =>
  text.replace(/"exportedAt":"[^"]+"/, "").replace(/"sha256":"[0-9a-f]{64}"/, "");

describe.each([...engines])("from %s", (engine) => {
  test("a store goes to the other engine through a file, and back through a pipe", async () => {
    await using source = await aPlace(engine);
    await using target = await aPlace(otherThan(engine));
    await using back = await aPlace(engine);
    expect((await petstore(["demo"], at(source))).code).toBe(0);
    const file = join(source.folder, "store.ndjson");
    const out = await petstore(["export", file], at(source));
    expect(out).toEqual({
      code: 0,
      stdout: `Exported 58 rows (pets: 11, orders: 0, clients: 1, ...) to ${file}.\n`,
      stderr: "",
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [header = ""] = readFileSync(file, "utf8").split("\n");
    expect(JSON.parse(header)).toMatchObject({ format: "petstore-export", version: 1, petstore: "1.0.0" });

    const into = await petstore(["import", file, "--json"], at(target));
    expect({ code: into.code, stderr: into.stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(into.stdout)).toMatchObject({ file, rows: { pets: 11, categories: 4, orders: 0 } });

    const env = { DATABASE_URL: target.url, BACK: back.url };
    const pipe = `${PETSTORE} export - --json | ${PETSTORE} import - --database-url "$BACK"`;
    const piped = await run(["sh", "-c", pipe], { env });
    expect(piped.code).toBe(0);
    expect(JSON.parse(piped.stderr)).toMatchObject({ file: "-", rows: { pets: 11 } });
    expect(piped.stdout).toBe(
      "Imported 58 rows (pets: 11, orders: 0, clients: 1, ...). Nothing is wrong with them.\n",
    );
    expect(withoutTime(await exported(back.url))).toBe(withoutTime(readFileSync(file, "utf8")));
  }, 30_000);

  test("an export that is made while orders are placed is whole, and placing goes on", async () => {
    await using source = await aPlace(engine);
    await using server = await serving({
      database: source.url,
      in: source.folder,
      args: ["--demo"],
      env: { LOG_LEVEL: "silent" },
    });
    const key = readFileSync(join(source.folder, "data/admin.key"), "utf8").trim();
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const stock = { method: "PUT", headers, body: JSON.stringify({ quantity: 1_000_000 }) };
    expect((await fetch(`${server.url}/store/inventory/1`, stock)).status).toBe(200);
    let isOver = false;
    let placed = 0;
    const buying = Array.from({ length: 8 }, async (_, buyer) => {
      while (!isOver) {
        const body = JSON.stringify({ petId: 1, quantity: 1 + (placed % 3), complete: buyer % 2 === 0 });
        const { status } = await fetch(`${server.url}/store/orders`, { method: "POST", headers, body });
        if (status !== 201) throw new Error(`an order was answered ${status}`);
        placed += 1;
      }
    });
    const files: string[] = [];
    const counts: number[] = [];
    try {
      for (const name of ["one", "two", "three"]) {
        const before = placed;
        const file = join(source.folder, name);
        const { code, stdout } = await petstore(["export", file, "--json"], at(source));
        expect(code).toBe(0);
        counts.push(JSON.parse(stdout).rows.orders);
        expect(counts.at(-1)).toBeGreaterThanOrEqual(before);
        expect(placed).toBeGreaterThan(before);
        files.push(file);
      }
    } finally {
      isOver = true;
      await Promise.all(buying);
    }
    for (const [index, file] of files.entries()) {
      await using target = await aPlace(otherThan(engine));
      const { code, stderr } = await petstore(["import", file], at(target));
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const { findings, counts: found } = await diagnosed(target.url);
      expect([findings, found.orders]).toEqual([[], counts[index] as number]);
    }
  }, 60_000);
});

/** An export that goes on for as long as it is read: a million events, and no end yet. */
function* endless(): Generator<string> {
  yield headerLine(ORIGIN);
  for (const table of carried) {
    yield tableLine(table, 1_000_000);
    if (table.name !== "events") continue;
    const data = JSON.stringify({ text: "x".repeat(1000) });
    for (let id = 1; id <= 1_000_000; id += 100) {
      const some = Array.from({ length: 100 }, (_, n) => [id + n, "pet.created", "pets/1", null, data, 0]);
      yield some.map((row) => rowLine(table, row)).join("");
    }
    return;
  }
}

/** Whether rows that are not committed have reached the database's files. */
async function isHalfWritten(engine: EngineName, { url }: Place): Promise<boolean> {
  if (engine === "sqlite") return existsSync(`${url}-wal`) && statSync(`${url}-wal`).size > 4_000_000;
  const [row] = await (await sharedPostgres()).query(
    "select pg_relation_size('events')::int as bytes",
    new URL(url).pathname.slice(1),
  );
  return Number(row?.bytes) > 4_000_000;
}

test.each([...engines])(
  "%s: an import that is killed in the middle leaves the store empty",
  async (engine) => {
    await using place = await aPlace(engine);
    const before = await exported(place.url);
    const child = Bun.spawn([PETSTORE, "import", "-"], {
      env: { PATH: process.env.PATH ?? "", DATABASE_URL: place.url },
      stdio: ["pipe", "ignore", "ignore"],
    });
    let isKilled = false;
    const feeding = (async () => {
      try {
        for (const lines of endless()) {
          if (isKilled) return;
          child.stdin.write(lines);
          await child.stdin.flush();
        }
      } catch {
        // Nobody reads any more.
      }
    })();
    expect(await eventually(() => isHalfWritten(engine, place), 20_000)).toBe(true);
    expect(child.exitCode).toBeNull();
    child.kill("SIGKILL");
    isKilled = true;
    await child.exited;
    await feeding;
    expect(await exported(place.url)).toBe(before);

    // What came before it does not stand in the way of the next.
    await using source = await aPlace("sqlite");
    expect((await petstore(["demo"], at(source))).code).toBe(0);
    const file = join(source.folder, "store.ndjson");
    writeFileSync(file, await exported(source.url));
    const again = await petstore(["import", file], at(place));
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
  },
  60_000,
);

test("what cannot be done is said in one sentence, with exit code 1, and changes nothing", async () => {
  await using source = await aPlace("sqlite");
  await using target = await aPlace("sqlite");
  await petstore(["demo"], at(source));
  const file = join(source.folder, "store.ndjson");
  writeFileSync(file, "kept");
  mkdirSync(join(source.folder, "folder"));
  const broken = join(source.folder, "broken.ndjson");
  writeFileSync(broken, (await exported(source.url)).slice(0, 3000));
  const full = await exported(source.url);
  const empty = await exported(target.url);
  const cases: [string[], Place, RegExp][] = [
    [["export", file], source, /store\.ndjson is there already\. Name a new file\.$/],
    [["export", join(source.folder, "no/file")], source, /no\/file: it is not there\.$/],
    [["import", join(source.folder, "none")], target, /none: it is not there\.$/],
    [["import", join(source.folder, "folder")], target, /folder: it is a folder\.$/],
    [
      ["import", broken],
      target,
      /^line \d+: the file ends in the middle of this line.*Nothing was imported\.$/,
    ],
    [["import", file], target, /^line 1: the file ends in the middle of this line.*Nothing was imported\.$/],
    [["import", broken], source, /^The store is not empty: it has categories\./],
    [["export", "-", "--database-url", join(source.folder, "none.db")], source, /^There is no database at/],
  ];
  for (const [words, place, says] of cases) {
    const { code, stdout, stderr } = await petstore(words, at(place));
    expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: "" });
    expect(stderr).toMatch(/^petstore: [^\n]+\n$/);
    expect(stderr.slice("petstore: ".length, -1)).toMatch(says);
  }
  expect(readFileSync(file, "utf8")).toBe("kept");
  expect(await exported(source.url)).toBe(full);
  expect(await exported(target.url)).toBe(empty);
  const noFile = await petstore(["export"], at(source));
  expect({ code: noFile.code, stdout: noFile.stdout }).toEqual({ code: 2, stdout: "" });
});

test.each(["-", "a file"])(
  "what is no export, from %s, is refused by what it is, and no store is made for it",
  async (from) => {
    await using source = await aPlace("sqlite");
    await petstore(["demo"], at(source));
    const whole = await exported(source.url);
    const name = from === "-" ? "Standard input" : join(source.folder, "given");
    const newer = (change: (header: Record<string, number>) => void) => {
      const [first, ...rest] = whole.split("\n");
      const header = JSON.parse(first as string);
      change(header);
      return [JSON.stringify(header), ...rest].join("\n");
    };
    const cases: [string | Uint8Array, string][] = [
      [
        readFileSync(source.url),
        `${name} is a database, and no export. If it is a backup, 'petstore restore' takes it; nothing was changed.`,
      ],
      ["", `${name} is empty, and no export; nothing was changed.`],
      [
        Bun.gzipSync(whole),
        `${name} is compressed by gzip. Unpack it on the way: 'gunzip < FILE | petstore import -'; nothing was changed.`,
      ],
      [
        whole.slice(0, 50),
        "line 1: the file ends in the middle of this line, and is not whole. Nothing was imported.",
      ],
      ["\n", "line 1: this is not JSON in UTF-8. Nothing was imported."],
      [
        "{}\n",
        "line 1: this is not an export of Petstore; make one with 'petstore export'. Nothing was imported.",
      ],
      [
        newer((header) => (header.version = 2)),
        "line 1: the file has version 2 of the format, this program reads 1. Import it with the version of Petstore that made it. Nothing was imported.",
      ],
      [
        newer((header) => (header.migration = 1000)),
        `line 1: the file was made with migration 1000, this program knows only ${migrations.length}. Import it with the version of Petstore that made it, or a newer one. Nothing was imported.`,
      ],
    ];
    const given = join(source.folder, "given");
    const made = join(source.folder, "new/store.db");
    for (const [bytes, says] of cases) {
      writeFileSync(given, bytes);
      const words = `${PETSTORE} import --database-url ${made} ${from === "-" ? `- < ${given}` : given}`;
      const { code, stdout, stderr } = await run(["sh", "-c", words]);
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: `petstore: ${says}\n` });
      expect(existsSync(join(source.folder, "new"))).toBe(false);
    }
    const nothing = await run([PETSTORE, "import", "--database-url", made, "/dev/null"]);
    expect(nothing.stderr).toBe("petstore: /dev/null is empty, and no export; nothing was changed.\n");
    writeFileSync(given, whole);
    const { code } = await run(["sh", "-c", `${PETSTORE} import --database-url ${made} - < ${given}`]);
    expect([code, await exported(made)]).toEqual([0, whole]);
  },
  60_000,
);

test("an export that cannot be written to its end leaves no file, and a reader that goes away ends it", async () => {
  await using source = await aPlace("sqlite");
  const database = new Database(source.url);
  const data = JSON.stringify("x".repeat(1000));
  const insert = database.prepare("insert into events (type, subject, data, at) values ('a', 'b', ?, 0)");
  database.transaction(() => {
    for (let row = 0; row < 5000; row++) insert.run(data);
  })();
  database.close();
  const file = join(source.folder, "store.ndjson");
  // The shell's limit on the size of a file, in blocks of 512 bytes.
  const limited = await run(
    ["sh", "-c", `trap '' XFSZ; ulimit -f 2000; ${PETSTORE} export ${file}`],
    at(source),
  );
  expect({ code: limited.code, stdout: limited.stdout }).toEqual({ code: 1, stdout: "" });
  expect(limited.stderr).toMatch(/^petstore: Cannot write the export: EFBIG[^\n]+\n$/);
  expect(existsSync(file)).toBe(false);

  const gone = await run(["sh", "-c", `(${PETSTORE} export -; echo $? >&2) | head -1`], at(source));
  expect(gone.stdout).toStartWith('{"format":"petstore-export"');
  expect(gone.stderr).toMatch(/^petstore: Cannot write the export: EPIPE[^\n]+\n1\n$/);
});

/** A store whose export takes a second or so, what is in its folder, and an export of it that has begun. */
async function anExportUnderWay() {
  const source = await aPlace("sqlite");
  using database = new Database(source.url);
  database.run(`insert into events (type, subject, data, at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 200000)
    select 'a', 'b', '"x"', 0 from numbers`);
  database.run("pragma wal_checkpoint(truncate)");
  const file = join(source.folder, "store.ndjson");
  const names = () => readdirSync(source.folder).filter((each) => each.startsWith("store.ndjson"));
  const begin = async () => {
    const child = Bun.spawn([PETSTORE, "export", file], {
      env: { PATH: process.env.PATH ?? "", DATABASE_URL: source.url },
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(await eventually(() => names().length > 0 || child.exitCode !== null, 10_000)).toBe(true);
    expect(names()).toEqual([expect.stringMatching(/^store\.ndjson\.partial-\d+-[0-9a-f]{8}$/)]);
    return child;
  };
  return { source, file, names, begin, [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() };
}

test("an export that is told to stop leaves nothing, and one that is killed nothing by its name or in the way of the next", async () => {
  await using shop = await anExportUnderWay();
  const { source, file, names, begin } = shop;
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    const child = await begin();
    child.kill(signal);
    expect([signal, await child.exited, names()]).toEqual([signal, code, []]);
  }
  const killed = await begin();
  killed.kill("SIGKILL");
  await killed.exited;
  expect(names()).toEqual([expect.stringContaining(".partial-")]);
  const again = await petstore(["export", file], at(source));
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(names()).toEqual(["store.ndjson"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(withoutTime(readFileSync(file, "utf8"))).toBe(withoutTime(await exported(source.url)));
}, 60_000);

test("a file that comes by its name while an export is made is not replaced", async () => {
  await using shop = await anExportUnderWay();
  const child = await shop.begin();
  writeFileSync(shop.file, "kept");
  const said = await new Response(child.stderr).text();
  expect([await child.exited, said]).toEqual([
    1,
    `petstore: ${shop.file} is there already. Name a new file.\n`,
  ]);
  expect([shop.names(), readFileSync(shop.file, "utf8")]).toEqual([["store.ndjson"], "kept"]);
});

test("a bar shows how far it is on a terminal, and nowhere else", async () => {
  await using source = await aPlace("sqlite");
  await using target = await aPlace("postgres");
  await petstore(["demo"], at(source));
  const file = join(source.folder, "store.ndjson");
  const terminal = (words: string) => ["script", "-qec", `${PETSTORE} ${words}`, "/dev/null"];
  const shown = await run(terminal(`export ${file}`), at(source));
  expect(shown.stdout).toMatch(/\[#*-*\] \d+ % {2}\d+ rows/);
  expect(shown.stdout).toContain("Exported 58 rows");
  const taken = await run(terminal(`import ${file}`), at(target));
  expect(taken.stdout).toMatch(/\[#{30}\] 100 % {2}[\d,]+ bytes/);
  const quiet = await petstore(["export", "-"], at(target));
  expect(quiet.stdout + quiet.stderr).not.toContain("\r");
});
