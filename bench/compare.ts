import { load, type Measured, median } from "./load.ts";

export interface Contender {
  readonly name: string;
  readonly url: string;
  readonly script: string;
}

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Interleaved rounds, so that what else the machine does hits all alike; the first is what the others are held against. */
export async function compared(
  { rounds, seconds, connections }: Pace,
  contenders: readonly Contender[],
): Promise<void> {
  const measured = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]));
  for (const { url, script } of contenders) await load({ url, script, connections, seconds: 1 });
  for (let round = 0; round < rounds; round++) {
    for (const { name, url, script } of contenders) {
      measured.get(name)?.push(await load({ url, script, connections, seconds }));
    }
  }
  let first: number | undefined;
  for (const [name, runs] of measured) {
    const rate = median(runs.map(({ requestsPerSecond }) => requestsPerSecond));
    const p99 = median(runs.map(({ p99Milliseconds }) => p99Milliseconds));
    const refused = runs.reduce((sum, run) => sum + run.refused, 0);
    first ??= rate.middle;
    const columns = [
      name.padEnd(42),
      `${String(Math.round(rate.middle)).padStart(7)}/s`,
      `x${(rate.middle / first).toFixed(2)}`,
      `p99 ${p99.middle.toFixed(1)} ms`,
      `spread ${(rate.spread * 100).toFixed(0)} %`,
      refused > 0 ? `refused ${refused}` : "",
    ];
    console.log(columns.join("  ").trimEnd());
  }
  console.log();
}
