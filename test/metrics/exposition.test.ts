import { expect, test } from "bun:test";
import { exposition } from "./exposition.ts";

const head = "# HELP a_total Help.\n# TYPE a_total counter\n";
const histogram = "# HELP h Help.\n# TYPE h histogram\n";

test("a text in the format is read", () => {
  const text = `${head}a_total{b="x\\"y\\\\z\\n"} 1\n${histogram}h_bucket{le="0.5"} 1\nh_bucket{le="+Inf"} 2\nh_sum 1.5e-7\nh_count 2\n`;
  const families = exposition(text);
  expect(families.get("a_total")?.samples).toEqual([
    { name: "a_total", labels: { b: 'x"y\\z\n' }, value: 1 },
  ]);
  expect(families.get("h")?.samples).toHaveLength(4);
});

test.each([
  ["no end of the last line", `${head}a_total 1`],
  ["an empty line", `${head}\na_total 1\n`],
  ["no type", "a_total 1\n"],
  ["no help", "# TYPE a_total counter\na_total 1\n"],
  ["a type without samples", head],
  [
    "a metric in two places",
    `${head}a_total 1\n${histogram}h_bucket{le="+Inf"} 0\nh_sum 0\nh_count 0\n${head}a_total 2\n`,
  ],
  ["a series twice", `${head}a_total 1\na_total 2\n`],
  ["a value that is none", `${head}a_total one\n`],
  ["a count below zero", `${head}a_total -1\n`],
  ["a counter that is not called so", "# HELP a Help.\n# TYPE a counter\na 1\n"],
  ["a label that is not closed", `${head}a_total{b="x} 1\n`],
  ["a label with an escape that there is not", `${head}a_total{b="\\x"} 1\n`],
  ["a label twice", `${head}a_total{b="x",b="y"} 1\n`],
  ["a comma too many", `${head}a_total{b="x",} 1\n`],
  ["labels that differ", `${head}a_total{b="x"} 1\na_total{c="x"} 1\n`],
  ["another metric's sample", `${head}b_total 1\n`],
  ["buckets that fall", `${histogram}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`],
  [
    "bounds that fall",
    `${histogram}h_bucket{le="2"} 1\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
  ],
  ["no bucket for all", `${histogram}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`],
  ["a count that is not the last bucket", `${histogram}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
  ["no sum", `${histogram}h_bucket{le="+Inf"} 1\nh_count 1\n`],
])("%s is refused", (_, text) => {
  expect(() => exposition(text)).toThrow();
});
