import { describe, expect, test } from "bun:test";
import { afterPrefix, foldName } from "../../src/core/names.ts";

describe("names that are the same to a searcher", () => {
  test.each([
    ["Rex", "REX"],
    ["Émile", "émile"],
    ["Zoe\u0308", "zoë"],
    ["ЖУК", "жук"],
    ["ΟΔΟΣ", "οδοσ"],
    ["ΟΔΟΣ", "οδος"],
    ["Straße", "STRAẞE"],
    ["Ｒｅｘ", "rex"],
    ["ﬁdo", "Fido"],
    ["🐕 Rex", "🐕 rEX"],
  ])("%s and %s are folded alike", (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  });

  test("folding what is folded changes nothing", () => {
    for (const name of ["Rex", "ΟΔΟΣ", "İzmir", "Straße", "ﷺ", "🐕", "Zoe\u0308"])
      expect(foldName(foldName(name))).toBe(foldName(name));
  });

  test("a folded name is never longer than a name", () => {
    for (const letter of ["x", "🐕", "㌀", "ﷺ"]) expect([...foldName(letter.repeat(200))]).toHaveLength(200);
  });

  test.each(["Rex", "ΟΔΟΣΑ", "ΣΙΣΥΦΟΣ", "İzmir", "ЖУК", "🐕🐈"])(
    "the folded %s starts with each of its folded beginnings",
    (name) => {
      const characters = [...name];
      for (let length = 1; length <= characters.length; length++)
        expect(foldName(name)).toStartWith(foldName(characters.slice(0, length).join("")));
    },
  );
});

describe("the end of a prefix", () => {
  test.each([
    ["a", "b"],
    ["re", "rf"],
    ["é", "ê"],
    ["\u{d7ff}", "\u{e000}"],
    ["\u{ffff}", "\u{10000}"],
    ["🐕", "🐖"],
    ["a\u{10ffff}", "b"],
    ["a\u{10ffff}\u{10ffff}", "b"],
  ])("%j is followed by %j", (prefix, end) => {
    expect(afterPrefix(prefix)).toBe(end);
  });

  test("nothing comes after the last code point", () => {
    expect(afterPrefix("\u{10ffff}")).toBeNull();
    expect(afterPrefix("")).toBeNull();
  });

  test("every text with the prefix is below it in code point order, and the prefix is not above any", () => {
    for (const prefix of ["a", "zz", "é", "\u{d7ff}", "🐕", "a\u{10ffff}"]) {
      const end = afterPrefix(prefix) as string;
      for (const rest of ["", "a", "\u{ffff}", "\u{10ffff}\u{10ffff}"]) {
        expect(byCodePoints(prefix, prefix + rest)).toBeLessThanOrEqual(0);
        expect(byCodePoints(prefix + rest, end)).toBeLessThan(0);
      }
    }
  });
});

/** UTF-8 sorts as code points do. */
function byCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
