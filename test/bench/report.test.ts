import { expect, test } from "bun:test";
import { ahead } from "../../bench/ahead.ts";
import { judged } from "../../bench/aims.ts";
import { type Figure, figureOf, type Table, times } from "../../bench/figures.ts";
import { type Options, readOptions } from "../../bench/options.ts";
import { drawn } from "../../bench/plots.ts";
import { notesIn, report } from "../../bench/report.ts";

test("a report has the notes that were written by hand, and says what is missing", () => {
  const table: Table = {
    name: "get",
    title: "GET of a pet",
    unit: "requests/s",
    wantsMore: true,
    against: "petstore",
    figures: [figureOf("petstore", [2, 1, 3]), figureOf("fastify", [1]), figureOf("bare Bun.serve", [3])],
  };
  const notes = notesIn(
    "# Notes\n\n## aims\n\nWhy they are missed.\n\n## get\n\nAbout a GET.\n\n## post\n\nNot this.\n",
  );
  const missing = [{ what: "post", reason: "wrk said:\nnothing" }];
  const options = readOptions(["--rounds", "3", "--seconds", "1"], []) as Options;
  const text = report({ tables: [table], missing, about: [["commit", "abc"]], plots: [], notes }, options);
  expect(text).toContain("| commit | abc |");
  expect(text).toContain(
    "| GET by id at least 2.5 times Fastify | 2.00 (2.00 / 1.00); a bare Bun.serve is 3.00 times fastify | **missed** |",
  );
  expect(text).toContain("server and load on a core each. **1 of 19 aims hold.**");
  expect(text).toContain("Nowhere in what was measured");
  expect(text).toContain("| 429 at least 0.75 of a bare Bun.serve | not measured |  |");
  expect(text).toContain("Why they are missed.");
  expect(text).toContain("| petstore | 2.00 | 1.00 to 3.00 | 1.00 |");
  expect(text.trimEnd()).toEndWith("About a GET.");
  expect(text).not.toContain("Not this.");
  expect(text).toContain("- *post*: wrk said: nothing");
});

test("how many times one is another is the middle of what each round says by itself", () => {
  const [ours, theirs] = [figureOf("petstore", [90, 20, 30]), figureOf("fastify", [30, 5, 20])];
  expect(times(ours, theirs)).toBe(3);
  expect(times(ours, figureOf("fastify", [10]))).toBe(3);
});

const rates = { title: "GET of a pet", unit: "requests/s", wantsMore: true, against: "petstore" };
const tableOf = (name: string, figures: readonly Figure[]): Table => ({ name, ...rates, figures });
const aimAbout = (words: string, tables: readonly Table[]) =>
  judged(tables).find(({ aim }) => aim.includes(words));

test("an aim holds only by what each round says and by the medians of all rounds, and says both", () => {
  const far = (values: readonly number[]) =>
    tableOf("list-far", [figureOf("petstore", values), figureOf("petstore, page 1", [120, 140, 150])]);
  expect(aimAbout("page 10,000", [far([100, 100, 125])])).toMatchObject({
    measured: "1.20, of medians 1.40 (140 / 100)",
    holds: false,
  });
  expect(aimAbout("page 10,000", [far([100, 140, 125])])).toMatchObject({
    measured: "1.20, of medians 1.12 (140 / 125)",
    holds: true,
  });
});

test("an aim says in how many rounds it holds where they do not agree", () => {
  const verdictOf = (values: readonly number[]) => {
    const figures = [figureOf("petstore", values), figureOf("petstore, page 1", [130, 130, 130])];
    const options = readOptions(["--rounds", "3", "--seconds", "1"], []) as Options;
    const results = { missing: [], about: [], plots: [], notes: new Map() };
    const text = report({ tables: [tableOf("list-far", figures)], ...results }, options);
    return /page 10,000 within .*\| (.*) \|/.exec(text)?.[1];
  };
  expect(verdictOf([110, 120, 125])).toBe("holds");
  expect(verdictOf([110, 120, 90])).toBe("holds, in 2 of 3 rounds");
  expect(verdictOf([80, 90, 125])).toBe("**missed**, in 1 of 3 rounds");
  expect(verdictOf([80, 90, 85])).toBe("**missed**");
});

test("an answer is judged beside a floor that runs code for it, and what Bun answers by itself is told of", () => {
  const figures = [
    { ...figureOf("petstore", [60]), cpuMicroseconds: 10 },
    { ...figureOf("bare Bun.serve", [80]), cpuMicroseconds: 8 },
    { ...figureOf("Bun.serve, static route", [90]), cpuMicroseconds: 5 },
  ];
  expect(aimAbout("GET by id at least 0.60", [tableOf("get", figures)])).toMatchObject({
    measured: "0.75 (60.0 / 80.0; by processor 0.80; of a static route by processor 0.50)",
    holds: true,
  });
});

test("memory is judged late, and says what it was at first", () => {
  const weights = (name: string, theirs: number) =>
    tableOf(name, [figureOf("petstore", [50]), figureOf("fastify", [theirs])]);
  const tables = [weights("memory", 100), weights("memory-first", 60)];
  expect(aimAbout("memory after more than 20 s", tables)).toMatchObject({
    measured: "0.50 (50.0 / 100; in the first seconds 0.83)",
    holds: true,
  });
});

test("a report names where a peer is ahead, of those with the same promises where requests are answered", () => {
  const waiting = (who: string, p99Milliseconds: number) => ({ ...figureOf(who, [1]), p99Milliseconds });
  const requests = [
    waiting("petstore", 20),
    waiting("elysia, same duties", 10),
    waiting("hono, same duties", 30),
    waiting("hono", 5),
    waiting("bare Bun.serve", 1),
  ];
  const start = [figureOf("petstore", [80]), figureOf("petstore, from source", [70]), figureOf("hono", [60])];
  const memory = [
    { ...figureOf("petstore", [90]), ownMebibytes: 50 },
    { ...figureOf("fastify", [99]), ownMebibytes: 40 },
  ];
  const tables = [tableOf("get", requests), tableOf("start", start), tableOf("memory", memory)];
  expect(ahead(tables)).toEqual([
    ["GET of a pet: p99, ms", "20.0", "elysia, same duties: 10.0"],
    ["GET of a pet, requests/s", "80.0", "hono: 60.0"],
    ["GET of a pet, its own, requests/s", "50.0", "fastify: 40.0"],
  ]);
  expect(ahead([tableOf("pets", requests)])).toEqual([]);
});

test("a picture has an axis with its unit, and a logarithmic one where sizes go up by powers of ten", () => {
  const figures = [1000, 100_000, 10_000_000].map((size) => figureOf(size.toLocaleString("en"), [50_000]));
  const shape = { unit: "requests/s", wantsMore: true, against: "", figures };
  const [growth] = drawn([{ name: "pets", title: "GET with this many pets", ...shape }]);
  expect(growth?.name).toBe("growth");
  for (const label of ["requests/s", "logarithmic", "10 M", "40 k", "GET with this many pets"])
    expect(growth?.svg).toContain(label);
  expect(growth?.svg).toContain("prefers-color-scheme: dark");
  expect(growth?.svg).toContain(`<title>${growth?.title}</title>`);
});
