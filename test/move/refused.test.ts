import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { migrations } from "../../src/store/migrations.ts";
import { furnished } from "./furnished.ts";
import { aPlace, engines, exported, imported, type Place, refusal } from "./places.ts";

/** An export of a store with everything in it. */
let file: string;
let lines: readonly string[];
beforeAll(async () => {
  await using shop = await furnished();
  file = await exported(shop.store.config.databaseUrl);
  lines = file.trimEnd().split("\n");
}, 60_000);

/** The file with its lines changed by somebody who knows how to make the last line fit. */
function resigned(change: (lines: string[]) => void): string {
  const changed = lines.slice(0, -1);
  change(changed);
  const text = `${changed.join("\n")}\n`;
  const rows: Record<string, number> = {};
  let table = "";
  for (const line of changed.slice(1)) {
    const value = JSON.parse(line);
    if (Array.isArray(value)) rows[table] = (rows[table] ?? 0) + 1;
    else {
      table = value.table;
      rows[table] = 0;
    }
  }
  const sha256 = createHash("sha256").update(text).digest("hex");
  return `${text}${JSON.stringify({ rows, sha256 })}\n`;
}

const beginningOf = (table: string) => lines.findIndex((line) => line.startsWith(`{"table":"${table}"`));

/** Replaces the line so far after the one that begins the table. */
function edited(table: string, after: number, edit: (value: never) => unknown): string {
  return resigned((all) => {
    const at = beginningOf(table) + after;
    all[at] = JSON.stringify(edit(JSON.parse(all[at] as string) as never));
  });
}

const header = (change: object) =>
  resigned((all) => {
    all[0] = JSON.stringify({ ...JSON.parse(all[0] as string), ...change });
  });

type Row = unknown[];

const changes: [string, () => string | Uint8Array, string | RegExp][] = [
  ["nothing at all", () => "", "line 1: the file ends here, and is not whole"],
  ["another program's JSON", () => '{"pets":[]}\n', "line 1: this is not an export of Petstore"],
  ["a list", () => "[1,2]\n", "line 1: this is not an export of Petstore"],
  [
    "bytes that are not text",
    () => Bun.gzipSync(Buffer.from(file)),
    /^line 1: (this is not JSON|the file ends)/,
  ],
  [
    "a file without its last line",
    () => `${lines.slice(0, -1).join("\n")}\n`,
    /^line \d+: the file ends here/,
  ],
  [
    "a file that ends in the middle of a line",
    () => file.slice(0, file.length / 2),
    /^line \d+: the file ends in the middle of this line, and is not whole. Nothing was imported.$/,
  ],
  ["a line after the last", () => `${file}[1]\n`, /^line \d+: nothing may follow/],
  ["two files in one", () => file + file, /^line \d+: nothing may follow/],
  ["line ends of another system", () => file.replaceAll("\n", "\r\n"), /^line \d+: the checksum is not/],
  ["a line less", () => `${lines.toSpliced(-4, 1).join("\n")}\n`, /^line \d+: the checksum/],
  [
    "a newer format",
    () => header({ version: 2 }),
    "line 1: the file has version 2 of the format, this program reads 1",
  ],
  [
    "a newer migration",
    () => header({ migration: migrations.length + 1 }),
    `line 1: the file was made with migration ${migrations.length + 1}, this program knows only ${migrations.length}. Import it with the version`,
  ],
  [
    "an older migration",
    () => header({ migration: migrations.length - 1 }),
    `this program needs ${migrations.length}. Run 'petstore migrate' with this version on the store it came from, and export it again`,
  ],
  [
    "tables in another order",
    () =>
      resigned((all) => {
        const categories = all.splice(1, beginningOf("pets") - 1);
        all.splice(
          all.findIndex((line) => line.startsWith('{"table":"clients"')),
          0,
          ...categories,
        );
      }),
    'line 2: here the table categories must begin, not "pets"',
  ],
  [
    "an unknown table",
    () => edited("pets", 0, (line: object) => ({ ...line, table: "toys" })),
    /^line \d+: here the table pets must begin, not "toys"/,
  ],
  [
    "an unknown column",
    () =>
      edited("pets", 0, (line: { columns: string[] }) => ({ ...line, columns: [...line.columns, "legs"] })),
    /^line \d+: the table pets has no column "legs"/,
  ],
  [
    "a column less",
    () => edited("pets", 0, (line: { columns: string[] }) => ({ ...line, columns: line.columns.slice(1) })),
    /^line \d+: the columns of the table pets must be id, name/,
  ],
  [
    "a table without its last id",
    () =>
      edited("pets", 0, ({ table, columns }: { table: string; columns: string[] }) => ({ table, columns })),
    /^line \d+: lastId of the table pets must be a whole number/,
  ],
  [
    "a row above the last id",
    () => edited("pets", 0, (line: object) => ({ ...line, lastId: 3 })),
    /^line \d+: pets 4 has a number above the table's last, 3/,
  ],
  [
    "a row with a value too few",
    () => edited("pets", 1, (row: Row) => row.slice(1)),
    /^line \d+: a row of the table pets has 12 values, not 11/,
  ],
  [
    "a number that is text",
    () => edited("pets", 1, (row: Row) => row.with(5, "5")),
    /^line \d+: quantity of the table pets must be a whole number below 2\^53/,
  ],
  [
    "text that is a number",
    () => edited("pets", 1, (row: Row) => row.with(1, 5)),
    /^line \d+: name of the table pets must be text/,
  ],
  [
    "half a character",
    () => edited("pets", 1, (row: Row) => row.with(1, "\ud83d")),
    /^line \d+: name of the table pets must be text/,
  ],
  [
    "text with NUL",
    () => edited("pets", 1, (row: Row) => row.with(1, "a\0b")),
    /^line \d+: name of the table pets must be text/,
  ],
  [
    "bytes that are not base64",
    () => edited("tallies", 1, (row: Row) => row.with(2, "###")),
    /^line \d+: windows of the table tallies must be bytes in base64/,
  ],
  [
    "a value where there must be one",
    () => edited("pets", 1, (row: Row) => row.with(1, null)),
    /^lines? \d+( to \d+)?: the store does not take a row of pets: .*null/i,
  ],
  [
    "a pet of no category",
    () => edited("pets", 1, (row: Row) => row.with(3, 999)),
    /^lines? \d+( to \d+)?: the store does not take a row of pets: .*foreign key/i,
  ],
  [
    "a status that there is not",
    () => edited("pets", 1, (row: Row) => row.with(4, "lost")),
    /^lines? \d+( to \d+)?: the store does not take a row of pets: .*check/i,
  ],
  [
    "the same id twice",
    () => edited("pets", 2, (row: Row) => row.with(0, 1)),
    /^lines? \d+( to \d+)?: the store does not take a row of pets: .*unique/i,
  ],
  [
    "stock that its ledger does not explain",
    () => edited("pets", 1, (row: Row) => row.with(5, 77)),
    "The store of this file is not whole: ledger equals stock: pet 1 has 77 in stock",
  ],
];

describe.each(engines)("%s", (engine) => {
  let place: Place;
  beforeAll(async () => {
    place = await aPlace(engine);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  test.each(changes)("%s is refused, and nothing is kept", async (_, changed, says) => {
    const message = await refusal(place.url, changed());
    if (typeof says === "string") expect(message).toContain(says);
    else expect(message).toMatch(says);
    expect(message).toEndWith("Nothing was imported.");
  });

  test("counts that are not those of the rows are refused", async () => {
    const end = JSON.parse(lines.at(-1) as string);
    const wrong = { ...end, rows: { ...end.rows, pets: end.rows.pets + 1 } };
    const message = await refusal(
      place.url,
      `${[...lines.slice(0, -1), JSON.stringify(wrong)].join("\n")}\n`,
    );
    expect(message).toMatch(
      /^line \d+: the file says \d+ rows of pets, and has \d+\. Nothing was imported\.$/,
    );
  });

  test("a flipped bit is noticed wherever it is", async () => {
    const bytes = Buffer.from(file);
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 20)) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ (1 << (at % 7));
      expect(await refusal(place.url, flipped)).toMatch(/^line|^The store of this file/);
    }
    for (let back = 1; back <= 120; back += 24) {
      const flipped = Buffer.from(bytes);
      flipped[bytes.length - back] = (flipped[bytes.length - back] as number) ^ 1;
      expect(await refusal(place.url, flipped)).toMatch(/^line \d+: .* Nothing was imported\.$/);
    }
  }, 60_000);

  test("after all of that the store is as new, takes the file once, and not a second time", async () => {
    const counts = await imported(place.url, file);
    expect(counts.pets).toBeGreaterThan(5);
    expect((await exported(place.url)) === file).toBe(true);
    expect(await refusal(place.url, file)).toBe(
      "The store is not empty: it has categories. An import needs a new one, which no server has been started on; nothing was changed.",
    );
  });
});
