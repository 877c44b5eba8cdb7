import { expect, test } from "bun:test";
import { join } from "node:path";
import { figureOf, type Table } from "../bench/figures.ts";
import { type Options, readOptions } from "../bench/options.ts";
import { drawn } from "../bench/plots.ts";
import { notesIn, report } from "../bench/report.ts";
import { undisturbed } from "../bench/undisturbed.ts";

const root = join(import.meta.dir, "..");

function bench(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, "--no-install", "bench/run.ts", ...args],
    { cwd: root },
  );
  return { exitCode, out: stdout.toString(), err: stderr.toString() };
}

test("the bench names its scenarios without installing anything", () => {
  const { exitCode, out } = bench("--help");
  expect(exitCode).toBe(0);
  for (const name of ["get", "post", "clients", "slow-disk"]) expect(out).toContain(`  ${name} `);
});

test("a scenario that is not there is refused with those that are", () => {
  const { exitCode, err } = bench("--only", "get,gett");
  expect(exitCode).toBe(1);
  expect(err).toStartWith("bench: There is no scenario gett. There are get, list,");
});

test("the packages of the bench are exact, and its lock says what they are, not where they came from", async () => {
  const manifest = await Bun.file(join(root, "bench/package.json")).json();
  const lock = await Bun.file(join(root, "bench/package-lock.json")).json();
  const wanted: Record<string, string> = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries(wanted)) {
    expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+$/);
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
  }
  for (const [name, entry] of Object.entries<Record<string, unknown>>(lock.packages)) {
    expect([name, entry.resolved]).toEqual([name, undefined]);
    if (name !== "") expect([name, typeof entry.integrity]).toEqual([name, "string"]);
  }
});

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
    "| GET by id at least 2.5 times Fastify | 2.00 (2.00 / 1.00), a bare Bun.serve 3.00 | **missed** |",
  );
  expect(text).toContain("| 429 at least 0.75 of a bare Bun.serve | not measured |  |");
  expect(text).toContain("Why they are missed.");
  expect(text).toContain("| petstore | 2.00 | 1.00 to 3.00 | 1.00 |");
  expect(text.trimEnd()).toEndWith("About a GET.");
  expect(text).not.toContain("Not this.");
  expect(text).toContain("- *post*: wrk said: nothing");
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

test("what was measured while the processor was taken away is measured again, three times at the most", async () => {
  const hour = 3_600_000;
  const measuredWith = async (stolen: readonly number[]) => {
    let [measured, asked] = [0, 0];
    // Asked before and after each time: what was taken is told by what it has grown to.
    const total = () => stolen.slice(0, Math.ceil(asked++ / 2)).reduce((sum, each) => sum + each, 0);
    await undisturbed(async () => measured++, total);
    return measured;
  };
  expect(await measuredWith([])).toBe(1);
  expect(await measuredWith([hour])).toBe(2);
  expect(await measuredWith([hour, hour])).toBe(3);
  expect(await measuredWith(new Array(10).fill(hour))).toBe(4);
});
