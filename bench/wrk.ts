import { join } from "node:path";

export interface Load {
  readonly folder: string;
  readonly url: string;
  /** Lua that says which requests are sent. */
  readonly script: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface Measured {
  readonly requestsPerSecond: number;
  readonly p99Milliseconds: number;
  readonly answers: number;
  /** Answers with a status of 400 or above. */
  readonly refusals: number;
  /** Connections that broke, and answers that did not come. */
  readonly faults: number;
}

export const SERVER_CORE = "0";
const lastCore = navigator.hardwareConcurrency - 1;
export const LOAD_CORE = String(lastCore);
/** Where a database beside the server may run: never on the server's core, and on the load's only if there is no other. */
export const OTHER_CORES = lastCore > 1 ? `1-${lastCore - 1}` : LOAD_CORE;

let runs = 0;

/** How long a server is woken before it is measured. */
const WAKE_MS = 500;
/**
 * A connection asks nothing for so long after it was opened, and that time does not count: a Node server takes one new connection
 * in a turn, and what it answers meanwhile would make the others wait, once, by a hundred times what they wait for later.
 */
export const OPENING_MS = 200;

/** One run of wrk, pinned to the last core; what it measures is pinned to the first. */
export async function load(wanted: Load): Promise<Measured> {
  const child = await started(wanted);
  const output = await new Response(child.stdout).text();
  const line = output.split("\n").find((each) => each.startsWith("MEASURED "));
  if (!line) throw new Error(`wrk said: ${output}`);
  return JSON.parse(line.slice("MEASURED ".length)) as Measured;
}

/** A moment of the same load, unmeasured: who was idle while others had their round has to find its memory and its compiled code again. */
export async function wake(wanted: Load): Promise<void> {
  const child = await started(wanted);
  await Bun.sleep(WAKE_MS);
  child.kill();
  await child.exited;
}

async function started({ folder, url, script, connections, seconds }: Load) {
  const run = ++runs;
  const file = join(folder, `${run}.lua`);
  await Bun.write(file, `${start(run, connections)}\n${script}\n${report(connections)}`);
  const wrk = ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", file, url];
  return Bun.spawn(["taskset", "-c", LOAD_CORE, ...wrk], { stdout: "pipe", stderr: "inherit" });
}

/** wrk asks before each request how long it is to wait with it; the first ones are those of new connections. */
const start = (run: number, connections: number) => `
local run = "${run}"
math.randomseed(${run})
local opening = ${connections}
delay = function()
  if opening == 0 then return 0 end
  opening = opening - 1
  return ${OPENING_MS}
end`;

/**
 * wrk counts a late answer more than once, also for requests that it kept from being sent: one that took more than twice the usual time,
 * with what is left of it after each usual time. What is counted one usual time later is what was added; taken away, the answers are left.
 */
const report = (connections: number) => `
local function p99(summary, latency)
  local usual = math.floor(summary.duration / math.floor(summary.requests / ${connections}))
  local counted, answers = {}, 0
  for at = #latency, 1, -1 do
    local time, count = latency(at)
    counted[time] = count
    answers = answers + count - (time > usual and counted[time + usual] or 0)
    if answers > summary.requests / 100 then return time end
  end
  return 0
end

done = function(summary, latency)
  local errors = summary.errors
  local seconds = summary.duration / 1000000 - ${OPENING_MS / 1000}
  io.write(string.format(
    'MEASURED {"requestsPerSecond":%.1f,"p99Milliseconds":%.3f,"answers":%d,"refusals":%d,"faults":%d}\\n',
    summary.requests / seconds, p99(summary, latency) / 1000, summary.requests,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end`;
