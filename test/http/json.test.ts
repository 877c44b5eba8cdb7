import { expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "../../src/core/failure.ts";
import { parseJson } from "../../src/http/json.ts";
import { seed } from "../seed.ts";

function parse(text: string | Uint8Array): unknown {
  return parseJson(typeof text === "string" ? new TextEncoder().encode(text) : text);
}

/** Why a body is refused. */
function refusalOf(text: string | Uint8Array): string {
  try {
    return `taken: ${String(parse(text))}`;
  } catch (error) {
    if (error instanceof Failure && error.code === "invalid_json") return error.message;
    throw error;
  }
}

const taken: readonly [string, unknown][] = [
  ["{}", {}],
  [" \t\r\n[ ] \n", []],
  ['"text"', "text"],
  ["null", null],
  ["-0.5e2", -50],
  ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', { a: { a: 1 }, b: [{ a: 1 }, { a: 2 }] }],
  ['["a","a"]', ["a", "a"]],
  ['{"a":"a","b":"b"}', { a: "a", b: "b" }],
  ['{"a":["b",{"c":1}],"b":2}', { a: ["b", { c: 1 }], b: 2 }],
  ['{"a":"}{][,:\\"","b":1}', { a: '}{][,:"', b: 1 }],
  ['{"a\\\\":1,"a":2}', { "a\\": 1, a: 2 }],
  ['{"":1," ":2}', { "": 1, " ": 2 }],
  [`[${"0,".repeat(19_998)}0]`, Array(19_999).fill(0)],
  ['"\\ud83d\\ude00"', "\u{1f600}"],
];

for (const [text, value] of taken)
  test(`the body ${text.trim()} is taken`, () => expect(parse(text)).toEqual(value));

const integers: readonly [string, unknown][] = [
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992n],
  ["9007199254740993", 9007199254740993n],
  ["-9007199254740993", -9007199254740993n],
  ["9223372036854775807", 9223372036854775807n],
  ["99999999999999999999999999", 99999999999999999999999999n],
  ["1234567890123456", 1234567890123456],
  ["1e20", 1e20],
  ["0.12345678901234567890", 0.12345678901234568],
  ["1.00000000000000000000", 1],
  ["0.00000000000000000000", 0],
  ["-0.0000000000000000e-99", -0],
  ["1.2345000000000000e4", 12345],
  ["1200000000000000000e-17", 12],
  ["120.0000000000000000E-1", 12],
  ["120e-1", 12],
  ["0e-9", 0],
  ["1.0", 1],
  ["1e2", 100],
  ["1e400", Number.POSITIVE_INFINITY],
  ["1".repeat(100), BigInt("1".repeat(100))],
  ["1".repeat(101), Number.POSITIVE_INFINITY],
  [`-${"1".repeat(101)}`, Number.NEGATIVE_INFINITY],
];

for (const [text, value] of integers) {
  test(`the number ${text} keeps its value wherever it stands`, () => {
    expect(parse(text)).toBe(value as never);
    expect(parse(`{"a":[${text}]}`)).toEqual({ a: [value] });
    expect(parse(`{"${text}":"${text}"}`)).toEqual({ [text]: text });
  });
}

test.each([
  "1.00000000000000000001",
  "-41.99999999999999999999",
  "10000000000000000001e-19",
  "1.00000000000000000001E+1",
  "0.0000000000000000001e-400",
  "1e-400",
  "-1E-400",
  "1e-99999999999",
])("the number %s does not become an integer by rounding", (text) => {
  expect(parse(`[${text}]`)).toEqual([Number.NaN]);
});

test("a number of a million digits is read in its time, whatever they are", () => {
  const zeros = "0".repeat(1_000_000);
  for (const text of [`1.${zeros}1`, `1.${zeros}`, `1${zeros}`, `1.${"01".repeat(500_000)}`])
    expect(refusalOf(text)).toStartWith("taken");
});

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const refusals: readonly [name: string, body: string | Uint8Array, why: RegExp][] = [
  ["an empty body", "", /^The body is empty/],
  ["white space alone", " \r\n\t", /^The body is empty/],
  ["half a body", '{"a":', /^The body is not valid JSON: /],
  ["two values", "{}{}", /^The body is not valid JSON: /],
  ["a comma at the end", "[1,]", /^The body is not valid JSON: /],
  ["a comment", "/* a */ 1", /^The body is not valid JSON: /],
  ["a number with a leading zero", "01", /^The body is not valid JSON: /],
  ["an infinity", "Infinity", /^The body is not valid JSON: /],
  ["a byte order mark", "\u{feff}{}", /^The body is not valid JSON: /],
  ["an unescaped line break", '"a\nb"', /^The body is not valid JSON: /],
  ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), /^The body is not valid UTF-8/],
  ["an overlong character", new Uint8Array([0x22, 0xc0, 0xaf, 0x22]), /^The body is not valid UTF-8/],
  ["a surrogate in bytes", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), /^The body is not valid UTF-8/],
  ["33 arrays", nested(33), /nested more than 32 levels/],
  ["33 objects", '{"a":'.repeat(33) + 1 + "}".repeat(33), /nested more than 32 levels/],
  ["a million arrays", nested(1_000_000), /nested more than 32 levels/],
  ["more values than are taken", `[${"0,".repeat(19_999)}0]`, /^The body has more than 20000 values/],
  ["a text that does not end", '{"a', /^The body is not valid JSON: /],
  ["a key that is no text", '{"\\x":1}', /^The body is not valid JSON: /],
  ["a key twice", '{"a":1,"a":1}', /the key "a" twice/],
  ["a key twice after a nested object", '{"a":{"b":[1,{"c":2}]},"a":1}', /the key "a" twice/],
  ["a key twice inside an array", '[{},{"b":1,"c":{},"b":2}]', /the key "b" twice/],
  ["a key twice, once escaped", '{"a":1,"\\u0061":2}', /the key "a" twice/],
  ["an empty key twice", '{"":1,"":2}', /the key "" twice/],
  ["a key twice with a quote in it", '{"a\\"":1,"a\\u0022":2}', /the key "a\\"" twice/],
  ["__proto__ twice", '{"__proto__":1,"__proto__":2}', /the key "__proto__" twice/],
];

for (const [name, body, why] of refusals)
  test(`${name} is refused as invalid JSON`, () => expect(refusalOf(body)).toMatch(why));

test("32 levels are taken", () => expect(refusalOf(nested(32))).toStartWith("taken"));

test("__proto__ is a key like any other, and reaches no prototype", () => {
  const value = parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(value.polluted).toBeUndefined();
});

test("what JSON can write is read as JSON reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      const withNumbers = (_: string, each: unknown) => (typeof each === "bigint" ? Number(each) : each);
      expect(JSON.stringify(parse(text), withNumbers)).toBe(text);
    }),
    { numRuns: 500, seed },
  );
});

test("no bytes do more than be refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void refusalOf(bytes)),
    { numRuns: 2000, seed },
  );
});
