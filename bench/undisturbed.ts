import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SERVER_CORE } from "./wrk.ts";

/** How much of the time a machine's owner may give to others before what was measured is measured again, ... */
const STOLEN_SHARE = 0.03;
/** ... for how much of it the server's core may be slowed down by others, ... */
const SLOWED_SHARE = 0.15;
/** ... and how often it is tried; then the least disturbed counts. */
const ATTEMPTS = 5;
/** A storm lasts for seconds or for minutes: before each attempt it is looked whether there is one, for so long ... */
const LOOK_MS = 200;
/** ... and at the most so often; then it is measured all the same. */
const LOOKS = 25;

const STAT = "/proc/stat";
/** What the kernel counts in. */
const TICK_MS = 10;
const STEAL_COLUMN = 8;

/** Shares of the time for which others disturbed, whatever was measured. */
export interface Disturbance {
  readonly stolen: number;
  readonly slowed: number;
}

/** Begins to look; what it gives ends that. */
export type Watch = () => Promise<() => Promise<Disturbance>>;

/** What counts, and for which share of it others slowed the server's core down all the same. */
export interface Calm<T> {
  readonly measured: T;
  readonly slowed: number;
}

/** Waits for calm, measures, and measures again where others disturbed: that is told by the machine, whatever the figure is. */
export type Undisturbed = <T>(measure: () => Promise<T>) => Promise<Calm<T>>;

/** For the rounds of one table, each with its own patience: what comes first in a storm leaves some for the others. */
export function undisturbed(
  patienceSeconds: number,
  watch: Watch = watched,
  lookMs: number = LOOK_MS,
): Undisturbed {
  let patienceMs = patienceSeconds * 1000;
  const calmOrImpatience = async () => {
    for (let look = 0; look < LOOKS && patienceMs > 0; look++) {
      const started = performance.now();
      const seen = await watch();
      await Bun.sleep(lookMs);
      if (weightOf(await seen()) <= 1) return;
      patienceMs -= performance.now() - started;
    }
  };
  return async <T>(measure: () => Promise<T>) => {
    let least: (Calm<T> & { readonly weight: number }) | undefined;
    for (let attempt = 1; ; attempt++) {
      await calmOrImpatience();
      const started = performance.now();
      const seen = await watch();
      const measured = await measure();
      const disturbance = await seen();
      const weight = weightOf(disturbance);
      if (!least || weight < least.weight) least = { weight, measured, slowed: disturbance.slowed };
      if (weight <= 1 || attempt === ATTEMPTS || patienceMs <= 0) return least;
      patienceMs -= performance.now() - started;
    }
  };
}

/** Up to 1 it is taken as calm. */
function weightOf({ stolen, slowed }: Disturbance): number {
  return Math.max(stolen / STOLEN_SHARE, slowed / SLOWED_SHARE);
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
