// Everything that must hold, in one command: types, lint, tests, and the API's tests once more on PostgreSQL and Valkey.
// Stops at the first step that fails.
import { nginxProgram } from "./servers/nginx.ts";
import { aPostgres, SHARED_POSTGRES } from "./servers/postgres.ts";
import { valkeyProgram } from "./servers/valkey.ts";
import { needed } from "./tools.ts";

/** What speaks to a server through its API, whatever the engine behind it. */
const API_TESTS = [
  "test/{api,access,contract}/*.test.ts",
  "test/limits/{anonymous,bans,bursts,lifting,memory,quotas,restart,usage}.test.ts",
  "test/http/rehearsal.test.ts",
  "test/durable/{idempotency,interleavings,model}.test.ts",
  "test/fuzz.test.ts",
];

const bin = (name: string) => `node_modules/.bin/${name}`;
const tests = [bin("bun"), "--no-install", "test", "--isolate", "--timeout=30000", "--max-concurrency=4"];
const apiTests = API_TESTS.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync()]).map(
  (path) => `./${path}`,
);
const steps: readonly [name: string, command: readonly string[], env?: Record<string, string>][] = [
  ["types", [bin("tsc"), "--noEmit"]],
  ["lint", [bin("biome"), "check", "--error-on-warnings", "."]],
  ["tests", [...tests, "test/"]],
  [
    "tests of the API on PostgreSQL and Valkey",
    [bin("bun"), "--no-install", "test/on-valkey.ts", ...apiTests],
    { TEST_ENGINE: "postgres" },
  ],
];

await needed("curl");
await needed("strace");
await needed("chromium");
await needed("sqlite3");
await nginxProgram();
await valkeyProgram();
await using postgres = await aPostgres();
const shared = { ...process.env, [SHARED_POSTGRES]: postgres.address };
for (const [name, command, env] of steps) {
  const started = performance.now();
  const { exitCode } = Bun.spawnSync([...command], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...shared, ...env },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`\n${exitCode === 0 ? "ok" : "FAILED"}  ${name}  (${seconds} s)\n`);
  if (exitCode !== 0) {
    process.exitCode = exitCode ?? 1;
    break;
  }
}
