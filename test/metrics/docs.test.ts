// What docs/OPERATING.md says of the metrics: its table, its configurations of Prometheus, its alarms.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { families } from "../../src/metrics/families.ts";
import { aStore } from "../harness.ts";
import { exposition } from "./exposition.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/OPERATING.md"), "utf8");
const section = page.slice(page.indexOf("\n## Metrics\n"), page.indexOf("\n## Stop\n"));
// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
type Yaml = any;
const documents: Yaml[] = Array.from(section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm), ([, text]) =>
  Bun.YAML.parse(text as string),
);
const scrapes: Yaml[] = documents.flatMap((each) => each.scrape_configs ?? []);
const rules: Yaml[] = documents.flatMap((each) => each.groups ?? []).flatMap((group: Yaml) => group.rules);

test("the table of metrics is that of the program", () => {
  const head = "| metric | type | unit | labels | meaning |\n|---|---|---|---|---|\n";
  const rows = section.slice(section.indexOf(head) + head.length).split("\n");
  const written = rows.slice(0, rows.indexOf(""));
  const shown = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(", ") || "none";
  const meant = families.map(
    ({ name, type, unit, labels, help }) =>
      `| \`${name}\` | ${type} | ${unit || "none"} | ${shown(labels)} | ${help} |`,
  );
  expect(written).toEqual(meant);
});

test("a scrape as each configuration says it is answered with the figures", async () => {
  await using store = await aStore({ METRICS_PORT: "0" });
  expect(scrapes).toHaveLength(2);
  for (const {
    metrics_path: path = "/metrics",
    authorization,
    static_configs: targets,
    job_name,
  } of scrapes) {
    expect(job_name).toBe("petstore");
    for (const target of targets[0].targets) expect(target).toMatch(/^[\d.]+:\d+$/);
    const at = authorization ? store.url : new URL(store.metricsUrl as string).origin;
    const headers = authorization && { authorization: `${authorization.type} ${store.admin.key}` };
    const reply = await fetch(at + path, { headers: { accept: PROMETHEUS_ACCEPTS, ...headers } });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    expect(exposition(await reply.text()).size).toBeGreaterThan(15);
  }
});

/** What Prometheus 3 sends. */
const PROMETHEUS_ACCEPTS =
  "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

const functions = new Set([
  "sum",
  "by",
  "rate",
  "increase",
  "changes",
  "histogram_quantile",
  "min_over_time",
]);

/** What an expression names that no server tells: metrics, and labels of theirs. */
function strangersIn(expression: string): string[] {
  const plain = expression.replace(/"[^"]*"/g, '""').replace(/by \([\w, ]+\)|\[\d+[smh]\]/g, "");
  const named = Array.from(plain.matchAll(/([a-z_]\w*)(?:\{([^}]*)\})?(?![\w="])/g));
  return named.flatMap(([, name = "", matchers = ""]) => {
    if (functions.has(name) || name === "up") return [];
    const family = families.find((each) =>
      each.type === "histogram"
        ? ["_bucket", "_count", "_sum"].some((suffix) => each.name + suffix === name)
        : each.name === name,
    );
    if (!family) return [name];
    const labels = Array.from(matchers.matchAll(/(\w+)[!=]=?/g), ([, label]) => label as string);
    return labels.filter((label) => ![...family.labels, "job", "instance", "le"].includes(label));
  });
}

test("every alarm asks for metrics and labels that there are, and says what it means", () => {
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, for: lasting = "1m", annotations } of rules) {
    expect([alert, strangersIn(expr)]).toEqual([alert, []]);
    expect(expr.split("(").length).toBe(expr.split(")").length);
    expect(expr).toMatch(/ (>|==) [\d.]+$/);
    expect([alert, lasting, annotations.summary]).toEqual([
      expect.stringMatching(/^Petstore[A-Z]\w+$/),
      expect.stringMatching(/^\d+[sm]$/),
      expect.stringMatching(/\.$/),
    ]);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

test("an alarm about what there is not is noticed", () => {
  expect(strangersIn('sum(rate(petstore_nothing_total{code="x"}[5m])) > 0')).toEqual([
    "petstore_nothing_total",
  ]);
  expect(strangersIn('petstore_http_refusals_total{key="x"} > 0')).toEqual(["key"]);
  expect(strangersIn("petstore_event_loop_delay_seconds > 0")).toEqual(["petstore_event_loop_delay_seconds"]);
});
