import { expect, test } from "bun:test";
import { visible } from "../../src/core/visible.ts";

test.each([
  ["x\u001b[2K\u001b[1A", "x\\u001b[2K\\u001b[1A"],
  ["one\ntwo\r\tthree", "one\\u000atwo\\u000d\\u0009three"],
  ["\u0000\u007f\u0080\u009b31m\u009f", "\\u0000\\u007f\\u0080\\u009b31m\\u009f"],
  ["a\u2028b\u2029c", "a\\u2028b\\u2029c"],
  ["\u202a\u202b\u202c\u202d\u202egpj", "\\u202a\\u202b\\u202c\\u202d\\u202egpj"],
  ["\u2066\u2067\u2068\u2069", "\\u2066\\u2067\\u2068\\u2069"],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("what is read as it is written is left alone, other scripts and back slashes too", () => {
  const text = "Ωmega 🐕\u200d🦺 שלום é e\u0301 \\u001b \u00a0~";
  expect(visible(text)).toBe(text);
});
