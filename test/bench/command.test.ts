import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

function bench(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, "--no-install", "bench/run.ts", ...args],
    { cwd: root },
  );
  return { exitCode, out: stdout.toString(), err: stderr.toString() };
}

test("the bench names its scenarios without installing anything", () => {
  const { exitCode, out } = bench("--help");
  expect(exitCode).toBe(0);
  for (const name of ["get", "post", "clients", "slow-disk"]) expect(out).toContain(`  ${name} `);
});

test("a scenario that is not there is refused with those that are", () => {
  const { exitCode, err } = bench("--only", "get,gett");
  expect(exitCode).toBe(1);
  expect(err).toStartWith("bench: There is no scenario gett. There are get, list,");
});

test("the packages of the bench are exact, and its lock says what they are, not where they came from", async () => {
  const manifest = await Bun.file(join(root, "bench/package.json")).json();
  const lock = await Bun.file(join(root, "bench/package-lock.json")).json();
  const wanted: Record<string, string> = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries(wanted)) {
    expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+$/);
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
  }
  for (const [name, entry] of Object.entries<Record<string, unknown>>(lock.packages)) {
    expect([name, entry.resolved]).toEqual([name, undefined]);
    if (name !== "") expect([name, typeof entry.integrity]).toEqual([name, "string"]);
  }
});

test("only a whole run is gone on with", () => {
  const { exitCode, err } = bench("--resume", "--only", "get");
  expect(exitCode).toBe(1);
  expect(err).toContain("--resume goes on with a whole run: leave out --quick and --only.");
});
