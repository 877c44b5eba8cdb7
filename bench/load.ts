import { needed } from "../test/tools.ts";

export interface Load {
  readonly url: string;
  /** A wrk script: which requests are sent. */
  readonly script: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface Measured {
  readonly requestsPerSecond: number;
  readonly p99Milliseconds: number;
  /** Answers with a status of 400 or above; a run with any proves nothing. */
  readonly refused: number;
}

/** One run of wrk, pinned to the last core; what it measures is pinned to the first. */
export async function load({ url, script, connections, seconds }: Load): Promise<Measured> {
  await needed("wrk");
  const file = `${process.env.TMPDIR ?? "/tmp"}/petstore-bench-${process.pid}.lua`;
  await Bun.write(file, `${script}\n${report}`);
  const pinned = [
    "taskset",
    "-c",
    LAST_CORE,
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "-s",
    file,
    url,
  ];
  const run = Bun.spawn(pinned, { stdout: "pipe", stderr: "inherit" });
  const output = await new Response(run.stdout).text();
  const line = output.split("\n").find((each) => each.startsWith("MEASURED "));
  if (!line) throw new Error(`wrk said: ${output}`);
  return JSON.parse(line.slice("MEASURED ".length)) as Measured;
}

export const FIRST_CORE = "0";
export const LAST_CORE = String(navigator.hardwareConcurrency - 1);

const report = `
done = function(summary, latency)
  local second = summary.requests / (summary.duration / 1000000)
  local refused = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('MEASURED {"requestsPerSecond":%.1f,"p99Milliseconds":%.3f,"refused":%d}\\n', second, latency:percentile(99) / 1000, refused))
end`;

/** The middle of some numbers, and how far they lie apart in relation to it. */
export function median(values: readonly number[]): { middle: number; spread: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] as number;
  return { middle, spread: ((sorted.at(-1) as number) - (sorted[0] as number)) / middle };
}
