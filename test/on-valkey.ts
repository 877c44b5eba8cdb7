// Runs tests with the limits of every store in a real Valkey: `bun test/on-valkey.ts test/limits test/access`.
import { aValkey } from "./servers/valkey.ts";

await using valkey = await aValkey();
const command = [
  "node_modules/.bin/bun",
  "--no-install",
  "test",
  "--isolate",
  "--timeout=120000",
  "--max-concurrency=4",
];
const tests = Bun.spawn([...command, ...process.argv.slice(2)], {
  env: { ...process.env, TEST_VALKEY_URL: valkey.url },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exitCode = await tests.exited;
