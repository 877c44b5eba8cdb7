import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LOAD_CORE, SERVER_CORE } from "./wrk.ts";

/** How much of the time a machine's owner may give to others before what was measured is measured again, ... */
const STOLEN_SHARE = 0.03;
/** ... for how much of it a core may be slowed down by others, ... */
const SLOWED_SHARE = 0.15;
/** ... and how often it is tried; then the least disturbed counts. */
const ATTEMPTS = 5;

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

/** What counts, and for which share of it others slowed a core down all the same. */
export interface Calm<T> {
  readonly measured: T;
  readonly slowed: number;
}

/** Measures, and measures again where others disturbed: that is told by the machine, whatever the figure is. */
export type Undisturbed = <T>(measure: () => Promise<T>) => Promise<Calm<T>>;

/** For the rounds of one table, each with its own patience: what comes first in a storm leaves some for the others. */
export function undisturbed(patienceSeconds: number, watch: Watch = watched): Undisturbed {
  let patienceMs = patienceSeconds * 1000;
  return async <T>(measure: () => Promise<T>) => {
    let least: (Calm<T> & { readonly weight: number }) | undefined;
    for (let attempt = 1; ; attempt++) {
      const started = performance.now();
      const seen = await watch();
      const measured = await measure();
      const { stolen, slowed } = await seen();
      const weight = Math.max(stolen / STOLEN_SHARE, slowed / SLOWED_SHARE);
      if (!least || weight < least.weight) least = { weight, measured, slowed };
      if (weight <= 1 || attempt === ATTEMPTS || patienceMs <= 0) return least;
      patienceMs -= performance.now() - started;
    }
  };
}

async function watched(): Promise<() => Promise<Disturbance>> {
  const [started, stolenBefore] = [performance.now(), stolenMilliseconds()];
  await Promise.all(yardsticks().map((slowed) => slowed()));
  return async () => ({
    stolen: (stolenMilliseconds() - stolenBefore) / (performance.now() - started),
    slowed: Math.max(...(await Promise.all(yardsticks().map((slowed) => slowed())))),
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

let running: readonly Yardstick[] | undefined;

function yardsticks(): readonly Yardstick[] {
  running ??= [...new Set([SERVER_CORE, LOAD_CORE])].map(yardstick);
  return running;
}

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
