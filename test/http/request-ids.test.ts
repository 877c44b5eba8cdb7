import { expect, test } from "bun:test";
import { requestIds } from "../../src/http/serve.ts";

test("every request of a process has an id of its own, which starts with what is the process's own", () => {
  const newId = requestIds("134f9fd0");
  const ids = new Set(Array.from({ length: 100_000 }, newId));
  expect(ids.size).toBe(100_000);
  for (const id of ids) expect(id).toMatch(/^134f9fd0-[0-9a-z]{3,}$/);
});
