import { expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "../../src/core/failure.ts";
import { type FieldReader, fieldReader } from "../../src/http/wire/head.ts";
import { seed } from "../seed.ts";

const names = ["Host", "X-API-Key", "Note", "Accept", "Content-Length", "Connection", "Expect"];
const name = fc.oneof(fc.constantFrom(...names), fc.constantFrom("x-api-key", "NOTE", "Transfer-Encoding"));
const value = fc.constantFrom(
  ..."|a|ab|b| a|a |\ta\t|a, b|7|07|close|keep-alive|100-continue|chunked|Note: a|a\r\nNote: b|a\nb|\u00e9".split(
    "|",
  ),
  // With it headers are longer than what a connection keeps.
  "y".repeat(2048),
);
const line = fc.tuple(name, fc.constantFrom(":", ": ", " : "), value).map((parts) => parts.join(""));
const block = fc.array(line, { maxLength: 4 }).map((lines) => lines.map((each) => `${each}\r\n`).join(""));

/** Headers, and then the same with the value of one of them changed, as a caller's next requests have them. */
const blocks = fc
  .tuple(block, fc.array(fc.tuple(fc.nat(3), value), { maxLength: 6 }))
  .map(([first, changes]) => {
    const all = [first];
    for (const [at, changed] of changes) {
      const lines = (all.at(-1) as string).split("\r\n").slice(0, -1);
      if (at < lines.length) lines[at] = (lines[at] as string).replace(/:.*/, `:${changed}`);
      all.push(lines.map((each) => `${each}\r\n`).join(""));
    }
    return all;
  });

test("headers mean the same whatever headers came before them on the connection", () => {
  fc.assert(
    fc.property(blocks, (all) => {
      const reader = fieldReader();
      for (const each of all) expect(understood(reader, each)).toEqual(understood(fieldReader(), each));
    }),
    { seed, numRuns: 20_000 },
  );
});

function understood(read: FieldReader, block: string): unknown {
  try {
    const { headers, ...rest } = read(block, 0, block.length);
    return {
      ...rest,
      values: [...names, "Transfer-Encoding"].map((each) => headers.get(each.toLowerCase())),
    };
  } catch (error) {
    return error instanceof Failure ? error.message : error;
  }
}
