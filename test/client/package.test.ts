import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { clientSize } from "../../client/build.ts";
import { aProject, bin, type Project, run } from "./packed.ts";

const MOST_BYTES = 7.6 * 1024;
let project: Project;

beforeAll(async () => {
  project = await aProject();
});
afterAll(() => project[Symbol.dispose]());

test("the whole client is at most 7.6 KB, minified and gzipped", async () => {
  const { gzipped } = await clientSize();
  expect(gzipped).toBeLessThanOrEqual(MOST_BYTES);
});

test("the package has its module, its types, a readme and a licence, and nothing else", () => {
  const { installed } = project;
  expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  for (const name of readdirSync(join(installed, "dist"))) expect(name).toMatch(/^index\.js$|\.d\.ts$/);
});

test("publint finds nothing to say", () => {
  const { stdout } = run([bin("publint"), "--strict", "--pack", "false", "."], project.installed);
  expect(stdout).toContain("All good!");
});

test("the types are right for every way to import the package that there is", () => {
  run([bin("attw"), project.tarball, "--profile", "esm-only"], project.folder);
});

test("every field and operation that an editor shows has a sentence", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../client/src/api.ts")).text();
  const records = text.slice(0, text.indexOf("export interface EventData"));
  const lines = records.split("\n");
  const silent = lines.filter(
    (line, index) => /^ +(readonly )?\w+(\?|\(|:)/.test(line) && !lines[index - 1]?.trimEnd().endsWith("*/"),
  );
  expect(silent).toEqual([]);
});
