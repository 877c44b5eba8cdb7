// How spans come to their collector, and what happens when it is not there.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { readConfig, type WrongSettings } from "../../src/config.ts";
import { newTraceId } from "../../src/traces/context.ts";
import { SPANS_AT_ONCE } from "../../src/traces/exporter.ts";
import { adminKey, aFolder, eventually, serving } from "../cli/command.ts";
import { aStore, type TestStore } from "../harness.ts";
import { figureOf, metricsOf } from "../metrics/shop.ts";
import { aFreePort } from "../servers/port.ts";
import { aCollector, span, taken } from "./collector.ts";

const TIME_LIMIT_MS = 40_000;
const SOON_MS = 8000;
const SECRET = "a-key-of-the-collector";

function warningsOf(store: TestStore): { message: string; cause?: string; droppedSpans?: number }[] {
  return store
    .logged()
    .split("\n")
    .filter((line) => line.includes('"level":"warn"'))
    .map((line) => JSON.parse(line));
}

test.each([
  ["as it is by default", () => ({ OTEL_EXPORTER_OTLP_HEADERS: "x-key=a" })],
  ["by OTEL_SDK_DISABLED", (env: Record<string, string>) => ({ ...env, OTEL_SDK_DISABLED: "true" })],
])("off, %s: nothing is told of a request, neither to the log nor in the figures", async (_, envOf) => {
  await using collector = aCollector();
  await using store = await aStore({ ...envOf(collector.env), METRICS_PORT: "0" });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  expect((await store.customer.get("/pets", { traceparent })).status).toBe(200);
  expect(store.logged()).not.toContain("trace");
  expect([...(await metricsOf(store, "port")).keys()].filter((name) => name.includes("trace"))).toEqual([]);
  await store.stop();
  expect(collector.posts).toEqual([]);
});

test("a ratio of 0 tells only of callers who decided for it, and costs others nothing", async () => {
  await using collector = aCollector();
  await using store = await aStore({ ...collector.env, OTEL_TRACES_SAMPLER_ARG: "0" });
  for (let time = 0; time < 20; time++) await store.customer.get("/pets");
  await store.customer.get("/pets", { traceparent: `00-${span.traceId}-${span.spanId}-01` });
  await store.stop();
  expect(collector.spans().map(({ traceId, name }) => [traceId, name])).toEqual([
    [span.traceId, "GET /pets"],
  ]);
});

test("a trace is sent by its id: the same draws that are sent by a ratio are sent by every larger one", () => {
  const draws = Array.from({ length: 1000 }, (_, number) => number / 1000);
  const sent = (ratio: number) => draws.filter((drawn) => newTraceId(ratio, () => drawn) !== null);
  expect([sent(0).length, sent(0.25).length, sent(1).length]).toEqual([0, 250, 1000]);
  expect(new Set(sent(0.5)).isSupersetOf(new Set(sent(0.25)))).toBe(true);
  for (const drawn of draws) {
    const id = newTraceId(0.25, () => drawn);
    if (id === null) continue;
    expect(id).toMatch(/^(?!0{8})[0-9a-f]{32}$/);
    expect(BigInt(`0x${id.slice(-14)}`)).toBeGreaterThanOrEqual(3n << 54n);
  }
});

test("spans go to the endpoint's own path, with the headers that it wants; no log and no page holds them", async () => {
  await using collector = aCollector();
  using folder = aFolder();
  writeFileSync(folder.file("headers"), `Authorization=Basic%20${SECRET},x-shop = 7\n`);
  await using store = await aStore({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/otlp/`,
    OTEL_EXPORTER_OTLP_HEADERS_FILE: folder.file("headers"),
    METRICS_PORT: "0",
  });
  collector.answer = () => new Response(SECRET, { status: 401 });
  await store.customer.get("/pets");
  await collector.seen(1);
  const [post] = collector.posts;
  expect([post?.path, post?.headers.get("authorization"), post?.headers.get("x-shop")]).toEqual([
    "/otlp/v1/traces",
    `Basic ${SECRET}`,
    "7",
  ]);
  expect(await eventually(() => warningsOf(store).length === 1, SOON_MS)).toBe(true);
  expect(warningsOf(store)).toMatchObject([{ cause: "HTTP 401" }]);
  expect(store.logged()).not.toContain(SECRET);
  expect(await (await fetch(store.metricsUrl as string)).text()).not.toContain(SECRET);
});

test(
  "a collector that is away costs no request and is told of once, and once when it is back with what was kept",
  async () => {
    const port = aFreePort();
    await using store = await aStore({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      METRICS_PORT: "0",
    });
    const ask = async () => (await store.customer.get("/pets")).status;
    expect(await ask()).toBe(200);
    expect(await eventually(() => warningsOf(store).length > 0, SOON_MS)).toBe(true);
    const answers = await Promise.all(Array.from({ length: 2 * SPANS_AT_ONCE }, ask));
    expect(new Set(answers)).toEqual(new Set([200]));
    await Bun.sleep(2500);
    expect(warningsOf(store)).toMatchObject([
      { message: "The collector takes no traces; some are kept for it, the others dropped. Requests go on." },
    ]);
    const waiting = figureOf(await metricsOf(store, "port"), "petstore_trace_spans_waiting");
    expect(waiting).toBeGreaterThan(2 * SPANS_AT_ONCE);

    await using collector = aCollector(port);
    await collector.seen(2 * SPANS_AT_ONCE + 1);
    const isBack = () => warningsOf(store).length === 2;
    expect(await eventually(isBack, SOON_MS)).toBe(true);
    expect(warningsOf(store)[1]).toMatchObject({
      message: "The collector takes traces again.",
      droppedSpans: 0,
    });
    const metrics = await metricsOf(store, "port");
    expect(figureOf(metrics, "petstore_trace_spans_dropped_total")).toBe(0);
    expect(figureOf(metrics, "petstore_trace_spans_sent_total")).toBe(collector.spans().length);
  },
  TIME_LIMIT_MS,
);

test("a collector that says nothing holds up no request, and a stop only for a moment; what is lost is told", async () => {
  await using collector = aCollector();
  const silence = Promise.withResolvers<Response>();
  collector.answer = () => silence.promise;
  await using store = await aStore(collector.env);
  await store.customer.get("/pets");
  await collector.seen(1);
  for (let time = 0; time < 50; time++) expect((await store.customer.get("/pets")).status).toBe(200);
  await store.stop();
  expect(collector.posts).toHaveLength(1);
  expect(warningsOf(store).at(-1)).toMatchObject({
    message: "Traces could not be sent before the end, and are lost.",
    droppedSpans: expect.any(Number),
  });
  silence.resolve(taken() as Response);
});

test(
  "SIGTERM: every request that was answered has its span when the server ends, with 0",
  async () => {
    using folder = aFolder();
    await using collector = aCollector();
    await using server = await serving({ database: folder.database, env: collector.env });
    const headers = { "x-api-key": adminKey(folder) };
    const ask = async () => (await fetch(`${server.url}/pets`, { headers })).text();
    const asked = SPANS_AT_ONCE + 40;
    await Promise.all(Array.from({ length: asked }, ask));
    expect(await server.end("SIGTERM")).toBe(0);
    expect(collector.spans().filter(({ kind }) => kind === "server")).toHaveLength(asked);
    const traces = Array.from(server.stdout().matchAll(/"trace_id":"(\w+)"/g), ([, id]) => id);
    expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set(traces as string[]));
  },
  TIME_LIMIT_MS,
);

test("a setting that is wrong refuses to start, and shows nothing of what may be a secret", () => {
  const problemsOf = (env: Record<string, string>) => {
    try {
      readConfig(env);
      return [];
    } catch (error) {
      return (error as WrongSettings).problems;
    }
  };
  const wrong: readonly [string, string][] = [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://127.0.0.1:4317"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", `https://shop:${SECRET}@collector.example`],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", `https://collector.example?key=${SECRET}`],
    ["OTEL_EXPORTER_OTLP_HEADERS", SECRET],
    ["OTEL_EXPORTER_OTLP_HEADERS", `x-key=${SECRET},`.repeat(2) + SECRET],
    ["OTEL_EXPORTER_OTLP_HEADERS", `x-key=${SECRET}%0d%0ax-more: 1`],
    ["OTEL_TRACES_SAMPLER_ARG", "1.1"],
    ["OTEL_TRACES_SAMPLER_ARG", "-1"],
    ["OTEL_TRACES_SAMPLER_ARG", "some"],
    ["OTEL_SERVICE_NAME", "two words"],
  ];
  for (const [variable, value] of wrong) {
    const problems = problemsOf({ [variable]: value });
    expect([value, problems]).toEqual([value, [expect.stringContaining(`${variable} must be`)]]);
    expect(problems.join()).not.toContain(SECRET);
  }
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example" });
  expect([config.tracesUrl, config.serviceName, config.tracesRatio, config.tracesHeaders]).toEqual([
    "https://collector.example/v1/traces",
    "petstore",
    1,
    {},
  ]);
});
