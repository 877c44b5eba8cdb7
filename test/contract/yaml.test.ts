import { expect, test } from "bun:test";
import { yamlOf } from "../../src/contract/yaml.ts";
import { theStore } from "./calls.ts";

const store = theStore();

/** Texts that some reader of YAML 1.1 or 1.2 takes for something else when they have no quotes. */
const mistakable = [
  ...[
    "2026-11-30",
    "2026-11-30T12:00:00.000Z",
    "12:30",
    "1_000",
    "0o7",
    "0x1f",
    "0b1",
    "1e3",
    ".5",
    "+1",
    "-1",
  ],
  ...["yes", "No", "on", "OFF", "y", "N", "true", "False", "null", "~", "", ".inf", ".NaN", "=", "<<"],
  ...[" a", "a ", "a: b", "a #b", "#a", "key:", "- a", "? a", "[a]", "{a}", "*a", "&a", "!a", "|", ">", "%a"],
  ...["@a", "`a`", "---", "a\nb", "a\u2028b", "\u0085", "a\\b", '"a"', "'a'", "Rex \u{1f415}"],
];
const plain = [
  "Rex",
  "/pets/{petId}",
  "application/json",
  "$ref",
  "X-Request-Id",
  "Asked for 3 of pet 7.",
  "a,b",
];

test("a text that a reader could take for a date, a number or a truth has quotes, as a value and as a name", () => {
  for (const text of mistakable) {
    expect([text, yamlOf([text])]).toEqual([text, expect.stringMatching(/^- "/)]);
    expect([text, yamlOf({ [text]: 1 })]).toEqual([text, expect.stringMatching(/^"/)]);
  }
  for (const text of plain) expect(yamlOf({ [text]: text })).toBe(`${text}: ${text}`);
});

test("what is written is read as what it was, however deep", () => {
  // As a name `<<` joins records to some readers, quotes or not; the API has no such name.
  const names = mistakable.filter((text) => text !== "<<");
  const named = Object.fromEntries(names.map((text) => [text, { [text]: [text] }]));
  const value = { list: [mistakable, plain, [[]], {}, [[1, [2]]], { a: 1, b: [null, true, -1.5] }], named };
  expect(Bun.YAML.parse(yamlOf(value))).toEqual(value);
  expect(yamlOf({ absent: undefined, there: [undefined] })).toBe("there:\n  - null");
  expect(["a", 1, null, []].map(yamlOf)).toEqual(["a", "1", "null", "[]"]);
});

test("the dates of the document are texts to every reader", async () => {
  const yaml = await (await fetch(`${store.url}/openapi.yaml`)).text();
  expect(yaml).toContain('x-deprecated-sunset: "2027-11-30"\n');
  expect(yaml).toMatch(/shipDate: "2026-/);
  expect(yaml.match(/^[^"\n]*(?:: |- )\d{4}-\d\d-\d\d.*$/gm)).toBeNull();
});
