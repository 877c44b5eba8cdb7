import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SERVER_CORE } from "./wrk.ts";

/** How much of the time a machine's owner may give to others before what was measured is measured again, ... */
const STOLEN_SHARE = 0.03;
/** ... for how much of it the server's core may be slowed down by others, ... */
export const SLOWED_SHARE = 0.15;
/** ... and how often it is tried; then the least disturbed counts. */
const ATTEMPTS = 5;
/** A storm lasts for seconds or for minutes: before each attempt it is looked whether there is one, for so long at a time. */
const LOOK_MS = 200;

const STAT = "/proc/stat";
/** What the kernel counts in. */
const TICK_MS = 10;
const STEAL_COLUMN = 8;

/** Shares of the time for which others disturbed, whatever was measured. */
export interface Disturbance {
  readonly stolen: number;
  readonly slowed: number;
}

/** The machine that is measured on, and its time. */
export interface Surroundings {
  /** Begins to look; what it gives ends that. */
  watch(): Promise<() => Promise<Disturbance>>;
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

const machine: Surroundings = { watch: watched, now: () => performance.now(), sleep: Bun.sleep };

/** What counts, and for which share of it others slowed the server's core down all the same. */
export interface Calm<T> {
  readonly measured: T;
  readonly slowed: number;
  /** Whether it was measured more than once. */
  readonly isRepeated: boolean;
}

interface Weighed<T> extends Omit<Calm<T>, "isRepeated"> {
  /** Up to 1 it was calm. */
  readonly weight: number;
}

/** Waits for calm, measures, and measures again where others disturbed: that is told by the machine, whatever the figure is. */
export type Undisturbed = <T>(measure: () => Promise<T>) => Promise<Calm<T>>;

/**
 * The time that may go into waiting for calm and measuring again: so much for each table, so that what comes first in a storm
 * leaves some for the others; what one table leaves is the next one's. To be asked for once by each table.
 */
export function patience(
  secondsForEach: number,
  { watch, now, sleep }: Surroundings = machine,
): () => Undisturbed {
  let leftMs = 0;
  /** Does it, and takes its time from what is left if it was disturbed. */
  const watching = async <T>(work: () => Promise<T>): Promise<Weighed<T>> => {
    const started = now();
    const seen = await watch();
    const measured = await work();
    const { stolen, slowed } = await seen();
    const weight = Math.max(stolen / STOLEN_SHARE, slowed / SLOWED_SHARE);
    if (weight > 1) leftMs -= now() - started;
    return { measured, slowed, weight };
  };
  const isStormy = async () => (await watching(() => sleep(LOOK_MS))).weight > 1;
  return () => {
    leftMs = Math.max(leftMs, 0) + secondsForEach * 1000;
    return async <T>(measure: () => Promise<T>) => {
      let least: Weighed<T> | undefined;
      for (let attempt = 1; ; attempt++) {
        while (leftMs > 0 && (await isStormy()));
        const seen = await watching(measure);
        if (!least || seen.weight < least.weight) least = seen;
        if (least.weight <= 1 || attempt === ATTEMPTS || leftMs <= 0)
          return { ...least, isRepeated: attempt > 1 };
      }
    };
  };
}

async function watched(): Promise<() => Promise<Disturbance>> {
  running ??= yardstick(SERVER_CORE);
  const slowed = running;
  const [started, stolenBefore] = [performance.now(), stolenMilliseconds()];
  await slowed();
  return async () => ({
    stolen: (stolenMilliseconds() - stolenBefore) / (performance.now() - started),
    slowed: await slowed(),
  });
}

/** Time in which a virtual machine would have run and did not, on all its cores; where no system tells, none. */
function stolenMilliseconds(): number {
  if (!existsSync(STAT)) return 0;
  const [all = ""] = readFileSync(STAT, "utf8").split("\n");
  return Number(all.split(/\s+/)[STEAL_COLUMN] ?? 0) * TICK_MS;
}

/** For which share of the time since it was last asked a core was slow. */
type Yardstick = () => Promise<number>;

let running: Yardstick | undefined;

/** It ends with us: nothing more can be read then. */
function yardstick(core: string): Yardstick {
  const program = join(import.meta.dir, "yardstick.ts");
  const child = Bun.spawn(["taskset", "-c", core, process.execPath, "--no-install", program], {
    stdin: "pipe",
    stdout: "pipe",
  });
  child.unref();
  const answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return async () => {
    child.stdin.write("\n");
    await child.stdin.flush();
    const { value } = await answers.read();
    if (!value) throw new Error(`The yardstick on core ${core} ended by itself.`);
    const { looks, slow } = JSON.parse(value) as { looks: number; slow: number };
    return looks === 0 ? 0 : slow / looks;
  };
}
