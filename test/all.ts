// Everything that must hold, in one command: types, lint, tests. Stops at the first step that fails.
import { valkeyProgram } from "./servers/valkey.ts";
import { needed } from "./tools.ts";

const bin = (name: string) => `node_modules/.bin/${name}`;
/** What is told of limits over HTTP, once more with the counts in Valkey. */
const onValkey = [
  "test/limits/anonymous.test.ts",
  "test/limits/bans.test.ts",
  "test/limits/lifting.test.ts",
  "test/limits/quotas.test.ts",
  "test/access/keys.test.ts",
];
const steps: readonly [string, readonly string[]][] = [
  ["types", [bin("tsc"), "--noEmit"]],
  ["lint", [bin("biome"), "check", "--error-on-warnings", "."]],
  [
    "tests",
    [bin("bun"), "--no-install", "test", "--isolate", "--timeout=30000", "--max-concurrency=4", "test/"],
  ],
  ["limits on Valkey", [bin("bun"), "--no-install", "test/on-valkey.ts", ...onValkey]],
];

await needed("curl");
await needed("strace");
await needed("chromium");
await needed("sqlite3");
await valkeyProgram();
for (const [name, command] of steps) {
  const started = performance.now();
  const { exitCode } = Bun.spawnSync([...command], { stdio: ["ignore", "inherit", "inherit"] });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`\n${exitCode === 0 ? "ok" : "FAILED"}  ${name}  (${seconds} s)\n`);
  if (exitCode !== 0) process.exit(exitCode ?? 1);
}
