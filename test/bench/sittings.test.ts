import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aboutRun } from "../../bench/about.ts";
import { figureOf, type Taken } from "../../bench/figures.ts";
import { begunRun, resumedRun } from "../../bench/sittings.ts";

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
});
