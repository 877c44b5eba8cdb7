import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resident } from "../../bench/resident.ts";
import { type Disturbance, patience } from "../../bench/undisturbed.ts";

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

test("a yardstick tells that a core was looked at, and ends with whoever asks it", async () => {
  const program = join(import.meta.dir, "../../bench/yardstick.ts");
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
