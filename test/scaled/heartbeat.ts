// A machine that stands still is no fault of the store: what a beat missed meanwhile is not held against a server.
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BEAT_MS = 20;
/** A beat that comes later than this was held up. */
const LATE_MS = 60;
/** Rarer than the other, because each is work for the disk. */
const DISK_BEAT_MS = 100;
const DISK_LATE_MS = 200;

export interface Heartbeat extends AsyncDisposable {
  /** For how long, between two moments of `performance.now()`, this process did not get to run. */
  missedMs(from: number, to: number): number;
  /** The same, or for how long the disk took nothing: a database that is there again can do as little meanwhile. */
  missedWithDiskMs(from: number, to: number): number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

export async function heartbeat(): Promise<Heartbeat> {
  const [missed, missedByDisk]: [Gap[], Gap[]] = [[], []];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > LATE_MS) missed.push({ from: last, to: now });
    last = now;
  }, BEAT_MS);

  const folder = mkdtempSync(join(tmpdir(), "petstore-heartbeat-"));
  const file = await open(join(folder, "beat"), "w");
  let isOver = false;
  const onDisk = async () => {
    while (!isOver) {
      const from = performance.now();
      await file.write("beat", 0);
      await file.sync();
      const to = performance.now();
      if (to - from > DISK_LATE_MS) missedByDisk.push({ from, to });
      await Bun.sleep(DISK_BEAT_MS);
    }
  };
  const beating = onDisk();
  const missedMs = (from: number, to: number) => within(missed, from, to);
  return {
    missedMs,
    missedWithDiskMs: (from, to) => Math.max(missedMs(from, to), within(missedByDisk, from, to)),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      isOver = true;
      await beating;
      await file.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function within(gaps: readonly Gap[], from: number, to: number): number {
  return gaps.reduce((sum, gap) => sum + Math.max(0, Math.min(gap.to, to) - Math.max(gap.from, from)), 0);
}
