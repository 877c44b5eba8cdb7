// Everything that must hold, in one command: types, lint, tests, and the API's tests once more on PostgreSQL and Valkey.
// Stops at the first step that fails.
import { nginxProgram } from "./servers/nginx.ts";
import { aPostgres, SHARED_POSTGRES } from "./servers/postgres.ts";
import { valkeyProgram } from "./servers/valkey.ts";
import { needed } from "./tools.ts";

/** What speaks to a server through its API, whatever the engine behind it. */
const API_TESTS = [
  "test/{api,access}/*.test.ts",
  // The others are about what is said and refused before an operation asks the store.
  "test/contract/{conditional,creations,cursors,deprecation,idempotency,order}.test.ts",
  "test/contract/rates*.test.ts",
  "test/limits/{anonymous,bans,bursts,lifting,memory,quotas,restart,strikes,usage}.test.ts",
  "test/http/rehearsed-faults.test.ts",
  "test/metrics/*.test.ts",
  "test/traces/requests.test.ts",
  "test/console/{sessions,session-cookies}.test.ts",
  "test/durable/{idempotency,interleavings,model}.test.ts",
  "test/fuzz.test.ts",
];

/** How much of a step's last words is repeated if it names no test that failed. */
const LAST_CHARACTERS = 4000;

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const bin = (name: string) => `node_modules/.bin/${name}`;
const found = (...patterns: string[]) =>
  patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync()]).map((path) => `./${path}`);
const tests = [bin("bun"), "--no-install", "test", "--isolate", "--timeout=120000", "--max-concurrency=4"];
/** They hold servers to promises in time, and so have the machine for themselves. */
const timed = found("test/scaled/*.test.ts", "test/limits/cluster.test.ts");
const commands = found("test/{cli,move}/*.test.ts");
/** They wait for minutes of the real clock, and do little else. */
const waiting = found("test/limits/clients.test.ts");
/** They wait much for other programs, so they are run beside the rest. */
const beside = found("test/{store,client,console,traces}/**/*.test.ts");
/** What every endpoint owes. */
const owed = found("test/contract/*.test.ts");
const apart = [...timed, ...commands, ...waiting, ...beside, ...owed];
const others = found("test/**/*.test.ts").filter((path) => !apart.includes(path));

/** One after another; each is lanes that are run side by side, of steps one after another. */
const phases: readonly (readonly (readonly Step[])[])[] = [
  [[{ name: "types", command: [bin("tsc"), "--noEmit"] }]],
  [[{ name: "types of the console", command: [bin("tsc"), "--noEmit", "-p", "src/console"] }]],
  [[{ name: "lint", command: [bin("biome"), "check", "--error-on-warnings", "."] }]],
  [
    [{ name: "tests", command: [...tests, ...others] }],
    [
      {
        name: "tests of the API on PostgreSQL and Valkey",
        command: [bin("bun"), "--no-install", "test/on-valkey.ts", ...found(...API_TESTS)],
        env: { TEST_ENGINE: "postgres", FUZZ_RUNS: "800" },
      },
    ],
    [
      { name: "tests of programs that wait", command: [...tests, ...waiting] },
      { name: "tests of stores, client, console and traces", command: [...tests, ...beside] },
    ],
    [
      { name: "tests of the command", command: [...tests, ...commands] },
      { name: "tests of the contract", command: [...tests, ...owed] },
    ],
  ],
  [[{ name: "tests of several instances", command: [...tests, ...timed] }]],
];

await needed("curl");
await needed("openssl");
await needed("strace");
await needed("chromium");
await needed("sqlite3");
await nginxProgram();
await valkeyProgram();
await using postgres = await aPostgres();
const shared = { ...process.env, [SHARED_POSTGRES]: postgres.address };
const failures: string[] = [];
for (const lanes of phases) {
  await Promise.all(lanes.map(runLane));
  if (failures.length > 0) break;
}
if (failures.length > 0) {
  // Once more at the end: other lanes have told much since.
  process.stdout.write(`${failures.join("\n")}\n`);
  process.exitCode = 1;
}

/** Runs steps up to the first that fails. The first lane tells as it goes, the others after each step. */
async function runLane(steps: readonly Step[], lane: number): Promise<void> {
  for (const { name, command, env } of steps) {
    const started = performance.now();
    const step = Bun.spawn([...command], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...shared, ...env },
    });
    const read = (stream: ReadableStream<Uint8Array>) => toldBy(stream, lane === 0);
    const told = (await Promise.all([read(step.stdout), read(step.stderr)])).join("");
    const code = await step.exited;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const outcome = `${code === 0 ? "ok" : "FAILED"}  ${name}  (${seconds} s)\n`;
    process.stdout.write(`${lane === 0 ? "" : told}\n${outcome}\n`);
    if (code === 0) continue;
    failures.push(`${outcome}${failedIn(told)}`);
    return;
  }
}

async function toldBy(stream: ReadableStream<Uint8Array>, isShown: boolean): Promise<string> {
  const decoder = new TextDecoder();
  let told = "";
  for await (const bytes of stream) {
    if (isShown) process.stdout.write(bytes);
    told += decoder.decode(bytes, { stream: true });
  }
  return told;
}

/** What was told of the tests that failed; the end of all that was told if none has a name. */
function failedIn(told: string): string {
  const parts = told.split(/^\(pass\) .*\n/m).filter((part) => /^\(fail\) /m.test(part));
  return parts.length > 0 ? parts.join("") : told.slice(-LAST_CHARACTERS);
}
