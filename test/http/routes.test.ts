import { expect, test } from "bun:test";
import fc from "fast-check";
import { routes } from "../../src/http/routes.ts";
import { seed } from "../seed.ts";

const patterns = [
  "/",
  "/pets",
  "/pets/batch",
  "/pets/{petId}",
  "/pets/{petId}/photos",
  "/pets/{petId}/photos/{photoId}",
  "/pets/batch/photos/first",
  "/pet",
];
const find = routes(patterns.map((pattern) => [pattern, pattern] as const));

test.each([
  ["/pets/7", "/pets/{petId}", { petId: "7" }],
  ["/pets/batch", "/pets/batch", {}],
  ["/pets/batches", "/pets/{petId}", { petId: "batches" }],
  ["/pets/batch/photos", "/pets/{petId}/photos", { petId: "batch" }],
  ["/pets/a%20b", "/pets/{petId}", { petId: "a b" }],
  ["/pets/50%", "/pets/{petId}", { petId: "50%" }],
  ["/pet", "/pet", {}],
  ["/", "/", {}],
])("%s is %s", (path, value, params) => {
  expect(find(path)).toEqual({ value, params });
});

test.each([
  "",
  "*",
  "pets",
  "/pets/",
  "/petss",
  "/pe",
  "//pets",
  "/pets//photos",
  "/pets/7/photos/",
  "/Pets",
])("%p is nowhere", (path) => {
  expect(find(path)).toBeNull();
});

test("a path is found where its pattern says, and a fixed part goes before a variable one", () => {
  const part = fc.constantFrom("pets", "pet", "batch", "photos", "first", "7", "", "petsx");
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const found = find(`/${parts.join("/")}`);
      const fitting = patterns.filter((pattern) => fits(pattern.slice(1).split("/"), parts));
      // Of several the one whose first difference from the others is a fixed part.
      expect(found?.value).toBe(fitting.sort(fixedFirst)[0]);
    }),
    { seed, numRuns: 5000 },
  );
});

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  const isFitting = (each: string, at: number) =>
    each.startsWith("{") ? parts[at] !== "" : each === parts[at];
  return pattern.length === parts.length && pattern.every(isFitting);
}

function fixedFirst(one: string, other: string): number {
  const [ones, others] = [one.split("/"), other.split("/")];
  const at = ones.findIndex((part, index) => part !== others[index]);
  return Number(ones[at]?.startsWith("{")) - Number(others[at]?.startsWith("{"));
}
