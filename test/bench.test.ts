import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aboutRun } from "../bench/about.ts";
import { ahead } from "../bench/ahead.ts";
import { judged } from "../bench/aims.ts";
import { type Figure, figureOf, type Table, type Taken, times } from "../bench/figures.ts";
import { type Options, readOptions } from "../bench/options.ts";
import { drawn } from "../bench/plots.ts";
import { notesIn, report } from "../bench/report.ts";
import { resident } from "../bench/resident.ts";
import { begunRun, resumedRun } from "../bench/sittings.ts";
import { type Disturbance, patience } from "../bench/undisturbed.ts";

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
    "| GET by id at least 2.5 times Fastify | 2.00 (2.00 / 1.00); a bare Bun.serve has 3.00 | **missed** |",
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

test("an answer is judged beside a floor that runs code for it, and what Bun answers by itself is told of", () => {
  const figures = [
    figureOf("petstore", [60]),
    figureOf("bare Bun.serve", [80]),
    figureOf("Bun.serve, static route", [120]),
  ];
  expect(aimAbout("GET by id at least 0.60", [tableOf("get", figures)])).toMatchObject({
    measured: "0.75 (60.0 / 80.0; of a static route 0.50)",
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

describe("what was measured while others disturbed the machine", () => {
  const calm = { stolen: 0, slowed: 0 };
  const storm = { stolen: 0, slowed: 0.9 };
  /** A machine whose time passes only while somebody sleeps, and on which each look and each measurement finds what it is told to. */
  const machineWith = (found: (now: number) => Disturbance) => {
    let now = 0;
    return {
      watch: async () => async () => found(now),
      now: () => now,
      sleep: async (milliseconds: number) => {
        now += milliseconds;
      },
    };
  };
  /** Each time gives the next number, and finds the next disturbance; what counts in the end, and how often it was measured. */
  const measuredAmid = async (disturbances: readonly Disturbance[], patienceSeconds = 60) => {
    let measured = 0;
    let told = 0;
    const machine = machineWith(() => {
      if (measured === told) return calm;
      told = measured;
      return disturbances[measured - 1] ?? calm;
    });
    const {
      measured: counted,
      slowed,
      isRepeated,
    } = await patience(patienceSeconds, machine)()(async () => ++measured);
    expect(isRepeated).toBe(measured > 1);
    return { counted, measured, slowed };
  };

  test("is measured again, be it that time was taken away or that a core was slowed down", async () => {
    expect(await measuredAmid([])).toEqual({ counted: 1, measured: 1, slowed: 0 });
    expect(await measuredAmid([{ stolen: 0.02, slowed: 0.1 }])).toEqual({
      counted: 1,
      measured: 1,
      slowed: 0.1,
    });
    expect(await measuredAmid([{ ...calm, stolen: 0.04 }])).toEqual({ counted: 2, measured: 2, slowed: 0 });
    expect(await measuredAmid([{ ...calm, slowed: 0.2 }])).toEqual({ counted: 2, measured: 2, slowed: 0 });
  });

  test("counts where it was disturbed least, if it always was, and says how much", async () => {
    const slowed = [0.9, 0.4, 0.3, 0.5, 0.8, 0.2].map((share) => ({ ...calm, slowed: share }));
    expect(await measuredAmid(slowed)).toEqual({ counted: 3, measured: 5, slowed: 0.3 });
  });

  test("counts as it is when there is no patience", async () => {
    expect(await measuredAmid([storm], 0)).toEqual({ counted: 1, measured: 1, slowed: 0.9 });
  });

  test("waits for calm first", async () => {
    const machine = machineWith((now) => (now < 30_000 ? storm : calm));
    const { measured: at, slowed } = await patience(60, machine)()(async () => machine.now());
    expect(at).toBeGreaterThanOrEqual(30_000);
    expect(slowed).toBe(0);
  });

  test("waits for as long as there is patience, and the next table has what the last one left", async () => {
    let isStormy = true;
    const machine = machineWith(() => (isStormy ? storm : calm));
    const forTable = patience(60, machine);
    const waitedSeconds = async () => {
      const began = machine.now();
      const { measured: at } = await forTable()(async () => machine.now());
      return Math.round((at - began) / 1000);
    };
    expect(await waitedSeconds()).toBe(60);
    expect(await waitedSeconds()).toBe(60);
    isStormy = false;
    expect(await waitedSeconds()).toBe(0);
    isStormy = true;
    expect(await waitedSeconds()).toBe(120);
  });
});

describe("a run of several sittings", () => {
  const about = [
    ["commit", "abc"],
    ["pace", "5 rounds"],
  ] as const;
  const asked = { command: "npm run bench -- --seconds 1", patienceSeconds: 60 };
  const folder = join(tmpdir(), `petstore-runs-${crypto.randomUUID()}`);
  const fileOf = () => join(folder, `${crypto.randomUUID()}.json`);
  afterAll(() => rmSync(folder, { recursive: true }));
  /** A scenario's only table, whose figures say when it was taken; one of them was disturbed. */
  const takenAt = (time: number, slowedShare: number, missing: Taken["missing"] = []): Taken => ({
    tables: [
      {
        name: "get",
        title: "GET of a pet",
        unit: "requests/s",
        wantsMore: true,
        against: "petstore",
        figures: [
          { ...figureOf("petstore", [time]), slowedShare: 0, repeatedRounds: 1 },
          { ...figureOf("fastify", [time]), slowedShare, repeatedRounds: 0 },
          figureOf("express", [time]),
        ],
      },
    ],
    missing,
    seconds: 60,
  });
  const timeOf = (taken: Taken | undefined) => taken?.tables[0]?.figures[0]?.middle;

  test("goes on with what the last one took, and counts the sittings", async () => {
    const file = fileOf();
    await begunRun(about, asked, file).take("get", takenAt(1, 0.1));
    await (await resumedRun(about, asked, file)).take("list", takenAt(2, 0.1));
    const last = await resumedRun(about, asked, file);
    expect(last.sittings()).toHaveLength(3);
    expect([timeOf(last.takenOf("get")), timeOf(last.takenOf("list"))]).toEqual([1, 2]);
    expect(last.takenOf("post")).toBeUndefined();
    expect(timeOf(begunRun(about, asked, file).takenOf("get"))).toBeUndefined();
  });

  test("says how each was asked for, how long all of them took, and how many rounds were measured again", async () => {
    const file = fileOf();
    const again = { command: "npm run bench -- --resume", patienceSeconds: 240 };
    await begunRun(about, asked, file).take("get", takenAt(1, 0.9));
    const last = await resumedRun(about, again, file);
    await last.take("get", takenAt(2, 0));
    expect(aboutRun(about, last.sittings(), [last.takenOf("get") as Taken])).toEqual([
      ["commit", "abc"],
      ["pace", "5 rounds, patience of 60, then 240 s for each table"],
      ["command", "`npm run bench -- --seconds 1`, then `npm run bench -- --resume`"],
      ["measured again", "1 of 2 rounds"],
      ["took", "60 s, of 2 min in 2 sittings"],
    ]);
    const whole = begunRun(about, asked);
    expect(aboutRun(about, whole.sittings(), [takenAt(1, 0)]).at(-1)).toEqual(["took", "60 s"]);
  });

  test("has what was disturbed less, or lacks less, whatever the figures are", async () => {
    const file = fileOf();
    const failed = [{ what: "hono", reason: "It gave no answer." }];
    const sittings: [Taken, number][] = [
      [takenAt(1, 0.2, failed), 1],
      [takenAt(2, 0.9), 2],
      [takenAt(3, 0.1, failed), 2],
      [takenAt(4, 0.4), 4],
      [takenAt(5, 0.5), 4],
    ];
    await begunRun(about, asked, file).take("get", takenAt(0, 0.3, failed));
    for (const [taken, counts] of sittings) {
      await (await resumedRun(about, asked, file)).take("get", taken);
      expect(timeOf((await resumedRun(about, asked, file)).takenOf("get"))).toBe(counts);
    }
    // The next one is counted with those that were of no use.
    expect((await resumedRun(about, asked, file)).sittings()).toHaveLength(sittings.length + 2);
  });

  test("wants what is not there, failed or was disturbed, the most disturbed first, and nothing else", async () => {
    const run = begunRun(about, asked);
    await run.take("get", takenAt(1, 0.15));
    await run.take("list", takenAt(1, 0.16));
    await run.take("post", takenAt(1, 0, [{ what: "post", reason: "It hung." }]));
    await run.take("mixed", takenAt(1, 0.9));
    const scenarios = ["get", "list", "filter", "post", "mixed"].map((name) => ({ name }));
    expect(run.wanted(scenarios).map(({ name }) => name)).toEqual(["filter", "post", "mixed", "list"]);
    expect(begunRun(about, asked).wanted(scenarios)).toEqual(scenarios);
  });

  test("is of one commit at one pace, and has a beginning", async () => {
    const file = fileOf();
    await expect(resumedRun(about, asked, file)).rejects.toThrow(
      "There is no run to go on with: begin one without --resume.",
    );
    await begunRun(about, asked, file).take("get", takenAt(1, 0));
    const other = [["commit", "def"], about[1]] as const;
    await expect(resumedRun(other, asked, file)).rejects.toThrow(
      "The run to go on with had another commit (abc, now def): begin one without --resume.",
    );
  });

  test("is a whole one", () => {
    const { exitCode, err } = bench("--resume", "--only", "get");
    expect(exitCode).toBe(1);
    expect(err).toContain("--resume goes on with a whole run: leave out --quick and --only.");
  });
});

test("a yardstick tells that a core was looked at, and ends with whoever asks it", async () => {
  const program = join(import.meta.dir, "../bench/yardstick.ts");
  const child = Bun.spawn([process.execPath, "--no-install", program], { stdin: "pipe", stdout: "pipe" });
  const answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const seen = async () => {
    child.stdin.write("\n");
    await child.stdin.flush();
    return JSON.parse((await answers.read()).value ?? "") as { looks: number; slow: number };
  };
  let { looks, slow } = await seen();
  while (looks === 0) ({ looks, slow } = await seen());
  expect(slow).toBeNumber();
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("a store is in memory to its last page as long as it is held", async () => {
  const path = join(tmpdir(), `petstore-held-${process.pid}.db`);
  await Bun.write(path, new Uint8Array(1024 * 1024));
  try {
    using _ = resident(path);
    const mapping = readFileSync("/proc/self/smaps", "utf8").split(path)[1] ?? "";
    expect(/Rss: +(\d+) kB/.exec(mapping)?.[1]).toBe("1024");
  } finally {
    rmSync(path);
  }
});
