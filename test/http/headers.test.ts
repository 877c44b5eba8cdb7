import { expect, test } from "bun:test";
import { Failure } from "../../src/core/failure.ts";
import {
  idempotencyKey,
  ifMatchTags,
  noneMatchHits,
  requireAccepted,
  requireVersion,
  safeRequestId,
} from "../../src/http/headers.ts";

/** The code of a refusal, or "taken". */
function outcome(work: () => unknown): string {
  try {
    work();
    return "taken";
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

const accepts: readonly [accept: string | null, isTaken: boolean][] = [
  [null, true],
  ["", true],
  ["*/*", true],
  ["application/json", true],
  ["application/*", true],
  ["Application/Json", true],
  ["application/json;charset=utf-8", true],
  ["text/html, application/xhtml+xml, */*;q=0.8", true],
  ["text/html;q=0.1,application/json;q=0.001", true],
  ["text/html;q=0, application/json", true],
  ["application/json;q=1.0", true],
  ["application/json ; q=0.5", true],
  ["text/html", false],
  ["text/*", false],
  ["application/json;q=0", false],
  ["application/json; q=0.0", false],
  ["application/json;Q=0", false],
  ["*/*;q=0", false],
  ["application/jsonx", false],
  ["application/problem+json", false],
];

for (const [accept, isTaken] of accepts) {
  test(`Accept ${accept === "" ? "of nothing" : (accept ?? "left out")} ${isTaken ? "takes" : "excludes"} JSON`, () =>
    expect(outcome(() => requireAccepted(accept, "application/json"))).toBe(
      isTaken ? "taken" : "not_acceptable",
    ));
}

for (const accept of ["application/json;q=0, */*", "*/*, application/json;q=0", "application/*;q=0, */*"]) {
  test(`Accept ${accept} excludes JSON: the most exact range decides`, () =>
    expect(outcome(() => requireAccepted(accept, "application/json"))).toBe("not_acceptable"));
}

for (const version of [null, "1", "1.0", "1.0.0"])
  test(`API-Version ${version ?? "left out"} is spoken`, () =>
    expect(outcome(() => requireVersion(version))).toBe("taken"));

for (const version of ["", "2", "1.1", "1.0.0.0", "01", "v1", "1.0.0-beta", "1 "])
  test(`API-Version "${version}" is not spoken`, () =>
    expect(outcome(() => requireVersion(version))).toBe("unsupported_version"));

const requestIds: readonly [given: string | null, isSafe: boolean][] = [
  [null, false],
  ["", false],
  ["a", true],
  ["x".repeat(128), true],
  ["x".repeat(129), false],
  ["01J9ZQ3Y5T:worker/7+b=c@host.name_1-2", true],
  ["a b", false],
  ["a\nb", false],
  ["a\n", false],
  ['a"', false],
  ["caf\u00e9", false],
  ["<b>", false],
  ["a,b", false],
];

for (const [given, isSafe] of requestIds)
  test(`the request id ${JSON.stringify(given)?.slice(0, 40)} is ${isSafe ? "kept" : "replaced"}`, () =>
    expect(safeRequestId(given)).toBe(isSafe ? given : null));

test("an idempotency key is 1 to 255 visible characters", () => {
  expect(idempotencyKey(null)).toBeUndefined();
  for (const key of ["a", "~".repeat(255), "5b6c0d0e-1f7a-4d0b-9a52-0d4f9f6f3c11", '!"#,;{}'])
    expect(idempotencyKey(key)).toBe(key);
  for (const key of ["", " ", "a b", "x".repeat(256), "caf\u00e9", "a\u007f", "a\n"])
    expect(outcome(() => idempotencyKey(key))).toBe("invalid_parameter");
});

const matches: readonly [given: string | null, tags: string[] | "any" | undefined][] = [
  [null, undefined],
  ["*", "any"],
  [" * ", "any"],
  ['"p1"', ["p1"]],
  ['"p1","p2" , "p3"', ["p1", "p2", "p3"]],
  ['"a,b"', ["a,b"]],
  ['W/"p1"', []],
  ['W/"p1", "p2"', ["p2"]],
];

for (const [given, tags] of matches)
  test(`If-Match ${given ?? "left out"} asks for ${[tags ?? []].flat().join(" or ") || "nothing that exists"}`, () =>
    expect(ifMatchTags(given)).toEqual(tags));

test("an If-Match that is no list of ETags is refused", () => {
  for (const given of ["p1", "", '"p1', '"p1" "p2"'])
    expect(outcome(() => ifMatchTags(given))).toBe("invalid_parameter");
});

test("a weak ETag never matches a write", () => {
  expect(ifMatchTags('W/"p1"')).not.toContain("p1");
  expect(ifMatchTags('W/"p1", "p2"')).toContain("p2");
});

const noneMatches: readonly [given: string | null, isHit: boolean][] = [
  [null, false],
  ["*", true],
  ['"p1"', true],
  ['W/"p1"', true],
  ['"p2", "p1"', true],
  ['"p2",W/"p1"', true],
  ['"p2"', false],
  ['"p11"', false],
  ["p1", false],
  ["", false],
  ['"*"', false],
];

for (const [given, isHit] of noneMatches)
  test(`If-None-Match ${given ?? "left out"} ${isHit ? "names" : "does not name"} the ETag "p1"`, () =>
    expect(noneMatchHits(given, "p1")).toBe(isHit));
