import { describe, expect, test } from "bun:test";
import { Failure } from "../../src/core/failure.ts";
import { cursorAfter, pageOf, readCursor } from "../../src/core/pages.ts";

describe("a cursor", () => {
  test.each([
    ["id", "number", { key: 7, id: 7 }],
    ["-id", "number", { key: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER }],
    ["name", "string", { key: '🐕 rex "the" dog', id: 12 }],
    ["quantity", "number", { key: 0, id: 3 }],
    ["shipDate", "number", { key: -1, id: 3 }],
  ] as const)("of %s leads back to where it was made", (sort, keyIs, after) => {
    const cursor = cursorAfter("pets", sort, after);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(readCursor(cursor, "pets", sort, keyIs)).toEqual(after);
  });

  test("is not needed for the first page", () => {
    expect(readCursor(undefined, "pets", "id", "number")).toBeUndefined();
  });

  test("of one sort is refused by another", () => {
    const after = { key: 7, id: 7 };
    expect(refusalOf(cursorAfter("pets", "id", after), "-id", "number")).toBe("invalid_parameter");
    expect(refusalOf(cursorAfter("pets", "id", after), "quantity", "number")).toBe("invalid_parameter");
    expect(refusalOf(cursorAfter("pets", "id", after), "name", "string")).toBe("invalid_parameter");
  });

  test("of one list is refused by another", () => {
    const after = { key: 7, id: 7 };
    expect(refusalOf(cursorAfter("orders", "id", after), "id", "number")).toBe("invalid_parameter");
    expect(refusalOf(cursorAfter("pets.id", "id", after), "id", "number")).toBe("invalid_parameter");
  });

  test.each([
    ["", "nothing"],
    ["%%%", "no base64"],
    ["abcd", "no JSON"],
    [encoded('{"sort":"id"}'), "no list"],
    [encoded("null"), "null"],
    [encoded('["pets.id"]'), "no key"],
    [encoded('["pets.id",7]'), "no id"],
    [encoded('["pets.id","7",7]'), "a key of another type"],
    [encoded('["pets.id",7,"7"]'), "an id of another type"],
    [encoded('["pets.id",7.5,7]'), "a fraction"],
    [encoded('["pets.id",7,9007199254740993]'), "an id that is not exact"],
    [encoded('["pets.id",1e999,7]'), "no number at all"],
  ])("%j is refused: %s", (cursor) => {
    expect(refusalOf(cursor, "id", "number")).toBe("invalid_parameter");
  });
});

describe("a page", () => {
  const page = (records: number[], limit: number) =>
    pageOf(
      records,
      limit,
      (record) => `pet ${record}`,
      (last) => `after ${last}`,
    );

  test("has a next one exactly when a record more than the limit was found", () => {
    expect(page([], 2)).toEqual({ body: [] });
    expect(page([1, 2], 2)).toEqual({ body: ["pet 1", "pet 2"] });
    expect(page([1, 2, 3], 2)).toEqual({ body: ["pet 1", "pet 2"], next: "after 2" });
  });
});

function encoded(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function refusalOf(cursor: string, sort: string, keyIs: "number" | "string"): string | undefined {
  try {
    readCursor(cursor, "pets", sort, keyIs);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.details?.map(({ field }) => field)).toEqual(["cursor"]);
    return error.code;
  }
}
