import { expect, test } from "bun:test";
import { join } from "node:path";
import { everything, importsOf, root, source } from "./sources.ts";

test("every version of a package is exact, and the lock agrees with it", async () => {
  const manifest = await Bun.file(join(root, "package.json")).json();
  const lock = await Bun.file(join(root, "package-lock.json")).json();
  const wanted: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, given] of Object.entries(wanted)) {
    const version = given.replace(/^npm:@?[^@]+@/, "");
    expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
  }
  expect(lock.packages[""].dependencies).toEqual(manifest.dependencies);
  expect(lock.packages[""].devDependencies).toEqual(manifest.devDependencies);
});

test("the source imports only packages that the program depends on", async () => {
  const { dependencies } = await Bun.file(join(root, "package.json")).json();
  const packages = source.flatMap((file) =>
    importsOf(file)
      .filter((each) => !/^(src\/|client\/|node:|bun:|bun$|package\.json$)/.test(each.from))
      .map(({ from: path }) =>
        path
          .split("/")
          .slice(0, path.startsWith("@") ? 2 : 1)
          .join("/"),
      ),
  );
  for (const name of new Set(packages)) expect(Object.keys(dependencies)).toContain(name);
});

test("the lock says what each package is, not where it came from", async () => {
  const lock = await Bun.file(join(root, "package-lock.json")).json();
  for (const [name, entry] of Object.entries<Record<string, unknown>>(lock.packages)) {
    expect([name, entry.resolved]).toEqual([name, undefined]);
    if (name !== "" && !entry.link && !entry.inBundle)
      expect([name, typeof entry.integrity]).toEqual([name, "string"]);
  }
});

test("nothing names a registry's host", () => {
  const hosts = new RegExp(
    [
      "npm" + "js\\.(org|com)",
      "yarn" + "pkg\\.com",
      "\\bregistry" + "\\.[a-z0-9-]+\\.[a-z]{2,}",
      "npm\\.pkg" + "\\.github",
      "\\bjsr" + "\\.io\\b",
    ].join("|"),
    "i",
  );
  const found = everything.flatMap(({ path, lines }) =>
    lines.filter((line) => hosts.test(line)).map((line) => `${path}: ${line.trim().slice(0, 120)}`),
  );
  expect(found).toEqual([]);
});
