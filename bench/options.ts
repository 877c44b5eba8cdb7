import { parseArgs } from "node:util";
import type { Pace } from "./rounds.ts";

export interface Options {
  readonly pace: Pace;
  readonly isQuick: boolean;
  /** A part, or a hurry, does not replace the figures of a whole run. */
  readonly isWhole: boolean;
  readonly only: readonly string[] | undefined;
  /** Goes on with the last whole run. */
  readonly isResumed: boolean;
  /** Where the report and the plots are written, if anywhere. */
  readonly out: string | undefined;
}

const ROUNDS = 5;
const QUICK_ROUNDS = 1;
/** Orders, of which there are fewest in a second, were dearer for six to eight seconds while our runtime compiled. */
const WARM_UP_SECONDS = 10;
const PATIENCE_SECONDS = 60;

/** What was asked for; `null` for help. A wrong option is told and ends the program. */
export function readOptions(args: readonly string[], names: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string", default: "64" },
      patience: { type: "string" },
      resume: { type: "boolean", default: false },
      out: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  const { quick: isQuick, resume: isResumed } = values;
  const only = values.only?.split(",").map((name) => name.trim());
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`There is no scenario ${unknown.join(", ")}. There are ${names.join(", ")}.`);
  const isWhole = !isQuick && !only;
  if (isResumed && !isWhole)
    throw new Error("--resume goes on with a whole run: leave out --quick and --only.");
  const pace: Pace = {
    rounds: positive("rounds", values.rounds ?? String(isQuick ? QUICK_ROUNDS : ROUNDS)),
    seconds: positive("seconds", values.seconds ?? (isQuick ? "1" : "3")),
    warmUpSeconds: isQuick ? 1 : WARM_UP_SECONDS,
    connections: positive("connections", values.connections),
    patienceSeconds: positive("patience", values.patience ?? String(isQuick ? 1 : PATIENCE_SECONDS)),
  };
  return {
    pace,
    isQuick,
    isWhole,
    only,
    isResumed,
    out: values.out ?? (isWhole ? import.meta.dir : undefined),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} must be a whole number above 0, got "${text}".`);
  return value;
}

export function help(scenarios: readonly { name: string; about: string }[]): string {
  return `Petstore beside what a user would pick instead, measured on this machine.

npm run bench -- [options]

  --quick             one short round and small growth: shows that everything works, measures nothing
  --only <names>      these scenarios, separated by commas
  --rounds <n>        interleaved rounds (${ROUNDS})
  --seconds <n>       seconds of load in a round (3; a whole run is longer by about 10 minutes for each)
  --connections <n>   connections of the load (64)
  --patience <n>      seconds for each table, or left for the next, to wait for calm and measure again (${PATIENCE_SECONDS})
  --resume            goes on with the last whole run: what it has not, and what others disturbed; the less disturbed counts
  --out <folder>      where RESULTS.md and plots/ are written (bench/ for a whole run, nowhere otherwise)
  --help              this

Scenarios:

${scenarios.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join("\n")}

Examples:

  npm run bench                                     everything, well over an hour; writes bench/RESULTS.md
  npm run bench -- --seconds 1                      the same in shorter rounds, about 65 minutes
  npm run bench -- --quick                          everything once, briefly: about 6 minutes
  npm run bench -- --seconds 1 --patience 240       on a machine whose neighbours are busy: up to two hours
  npm run bench -- --seconds 1 --resume             goes on with that: it was cut off, or a storm came
  npm run bench -- --only get,post                  two scenarios
  npm run bench -- --only clients --rounds 9        one, with more rounds
  TMPDIR=/mnt/large npm run bench -- --only pets    ten million rows need room there: it asks for 10 GiB

A scenario that fails is told of in the report, and the others go on; then the exit code is 1. What is to be
said about figures stands in bench/notes.md, and goes into the report. Nothing is left in TMPDIR.

Needs Linux with taskset; wrk, nginx, strace, PostgreSQL 15 and Redis are installed by apt as root, or asked for.
`;
}
