import { expect, test } from "bun:test";
import { basename } from "node:path";
import { client, program, source } from "./sources.ts";

test("a file of the client has at most 150 lines, what is generated aside", () => {
  const long = client.filter(({ path, lines }) => path !== "client/src/api.ts" && lines.length > 151);
  expect(long.map(({ path }) => path)).toEqual([]);
});

test("no leftovers: nothing to be done later, no test switched off or alone", () => {
  const leftover = new RegExp(
    [
      `\\b(${["TO", "DO"].join("")}|${["FIX", "ME"].join("")}|XXX|HACK)\\b`,
      "\\.(only|skip|todo|failing)\\(",
      "\\bdebugger;",
    ].join("|"),
  );
  const found = program
    .filter(({ path }) => path !== "test/tidy.test.ts")
    .flatMap(({ path, lines }) =>
      lines.filter((line) => leftover.test(line)).map((line) => `${path}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test("no code is commented out", () => {
  const looksLikeCode =
    /^\s*\/\/.*([;{]|\)\s*=>|=>\s*\{?)\s*$|^\s*\/\/\s*(const|let|var|import|export|return|await|if \(|for \(|expect\()\b/;
  const found = program.flatMap(({ path, lines }) =>
    lines.filter((line) => looksLikeCode.test(line)).map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test("no check is silenced without a reason beside it", () => {
  const silenced = /@ts-(ignore|nocheck|expect-error)|biome-ignore(?! lint\/[\w/]+: \S)/;
  const found = program
    .filter(({ path }) => path !== "test/tidy.test.ts")
    .flatMap(({ path, lines }) =>
      lines.filter((line) => silenced.test(line)).map((line) => `${path}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test("a message that counts things says one of them as one: only a constant stands before a plural", () => {
  const things =
    "bytes|categories|checks|days|digits|events|hours|keys|levels|minutes|orders|pets|problems|requests|rows|seconds|sessions|streams|strikes|times|units|webhooks";
  const counted = new RegExp(`\\$\\{(?![A-Z_]{2})[^}]*\\} (?:open )?(?:${things})\\b`);
  const found = source.flatMap(({ path, lines }) =>
    lines.filter((line) => counted.test(line)).map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test("no file of the source is longer than 300 lines", () => {
  expect(source.filter(({ lines }) => lines.length > 301).map(({ path }) => path)).toEqual([]);
});

test("a file is named after what is in it", () => {
  const empty = /(^|[-_.])(utils?|helpers?|common|managers?|services?|base)([-_.]|$)/i;
  const found = program.filter(({ path }) => path.split("/").some((part) => empty.test(part)));
  expect(found.map(({ path }) => path)).toEqual([]);
  for (const { path } of source) expect(basename(path)).toMatch(/^[a-z][a-z0-9-]*(\.d)?\.tsx?$/);
});
