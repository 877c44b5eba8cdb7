// What is sent to a collector, what again, and what is dropped.
import { expect, test } from "bun:test";
import { exporter, QUEUED_SPANS, SPANS_AT_ONCE } from "../../src/traces/exporter.ts";
import { eventually } from "../cli/command.ts";
import { aFreePort } from "../servers/port.ts";
import { aCollector, type Collector, span, taken } from "./collector.ts";

const SOON_MS = 8000;

/** What sends to this collector, and all that it has told. */
function anExporter({ endpoint }: Pick<Collector, "endpoint">) {
  const told: string[] = [];
  const { add, figures, stop } = exporter({
    url: `${endpoint}/v1/traces`,
    headers: {},
    resource: { "service.name": "petstore" },
    chance: () => 0,
    onAway: (cause) => told.push(`away: ${cause}`),
    onBack: (_, dropped) => told.push(`back: ${dropped} dropped`),
    onLost: (spans) => told.push(`lost: ${spans}`),
  });
  const addMany = (count: number) => {
    for (let number = 0; number < count; number++) add(span);
  };
  return { addMany, figures, stop, told };
}
test("what is more than there is room for is dropped and counted; what was kept is sent in parts", async () => {
  const port = aFreePort();
  const { addMany, figures, stop, told } = anExporter({ endpoint: `http://127.0.0.1:${port}` });
  addMany(QUEUED_SPANS + 100);
  expect(figures()).toEqual({ waiting: QUEUED_SPANS, sent: 0, dropped: 100 });
  expect(await eventually(() => told.length === 1, SOON_MS)).toBe(true);
  addMany(7);
  await using collector = aCollector(port);
  expect(await eventually(() => figures().sent === QUEUED_SPANS, SOON_MS)).toBe(true);
  expect(figures()).toEqual({ waiting: 0, sent: QUEUED_SPANS, dropped: 107 });
  expect(told).toEqual([expect.stringMatching(/^away: /), "back: 7 dropped"]);
  expect(new Set(collector.posts.map(({ spans }) => spans.length))).toEqual(new Set([SPANS_AT_ONCE]));
  await stop();
});

test.each([[429], [502], [503], [504]])(
  "a %d asks for the same spans again, later; once is no outage",
  async (status) => {
    await using collector = aCollector();
    const answers = [new Response(null, { status, headers: { "retry-after": "1" } })];
    collector.answer = () => answers.shift() ?? taken();
    const { addMany, figures, stop, told } = anExporter(collector);
    addMany(SPANS_AT_ONCE);
    expect(await eventually(() => figures().sent === SPANS_AT_ONCE, SOON_MS)).toBe(true);
    const [first, second] = collector.posts;
    expect([collector.posts.length, second?.body]).toEqual([2, first?.body]);
    expect([told, figures().dropped]).toEqual([[], 0]);
    await stop();
  },
);

test.each([[400], [401], [404], [413], [500], [307]])(
  "a %d is for good: the same spans are not sent again, but counted",
  async (status) => {
    await using collector = aCollector();
    const answers = [new Response(null, { status, headers: { location: "/elsewhere" } })];
    collector.answer = () => answers.shift() ?? taken();
    const { addMany, figures, stop, told } = anExporter(collector);
    addMany(SPANS_AT_ONCE);
    expect(await eventually(() => figures().dropped === SPANS_AT_ONCE, SOON_MS)).toBe(true);
    addMany(3);
    await stop();
    expect(collector.posts.map(({ spans }) => spans.length)).toEqual([SPANS_AT_ONCE, 3]);
    expect(figures()).toEqual({ waiting: 0, sent: 3, dropped: SPANS_AT_ONCE });
    expect(told[0]).toBe(`away: HTTP ${status}`);
  },
);

test("after a refusal nothing is sent until there is something to send", async () => {
  await using collector = aCollector();
  const answers = [new Response(null, { status: 400 })];
  collector.answer = () => answers.shift() ?? taken();
  const { addMany, figures, stop, told } = anExporter(collector);
  addMany(SPANS_AT_ONCE);
  expect(await eventually(() => told.length === 1, SOON_MS)).toBe(true);
  // Longer than it is left alone.
  await Bun.sleep(800);
  expect([collector.spans().length, collector.posts.length]).toEqual([SPANS_AT_ONCE, 1]);
  addMany(SPANS_AT_ONCE);
  expect(await eventually(() => figures().sent === SPANS_AT_ONCE, SOON_MS)).toBe(true);
  expect(told[1]).toBe(`back: ${SPANS_AT_ONCE} dropped`);
  await stop();
});

test("spans that a collector takes only some of are not sent again; the others count as dropped", async () => {
  await using collector = aCollector();
  collector.answer = () => Response.json({ partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } });
  const { addMany, figures, stop, told } = anExporter(collector);
  addMany(5);
  await stop();
  expect([figures(), told]).toEqual([{ waiting: 0, sent: 3, dropped: 2 }, []]);
  expect(collector.posts).toHaveLength(1);
});

test("of an answer without an end the beginning is read, and the rest is not waited for", async () => {
  await using collector = aCollector();
  const left = Promise.withResolvers<void>();
  const part = new Uint8Array(16 * 1024);
  collector.answer = () =>
    new Response(
      new ReadableStream({
        async pull(stream) {
          await Bun.sleep(5);
          stream.enqueue(part);
        },
        cancel: () => left.resolve(),
      }),
    );
  const { addMany, figures, stop, told } = anExporter(collector);
  addMany(3);
  await left.promise;
  expect(await eventually(() => figures().sent === 3, SOON_MS)).toBe(true);
  await stop();
  expect(told).toEqual([]);
});

test("a stop sends what is left, in as many parts as it takes", async () => {
  await using collector = aCollector();
  const { addMany, figures, stop, told } = anExporter(collector);
  addMany(2 * SPANS_AT_ONCE + 3);
  await stop();
  expect(collector.posts.map(({ spans }) => spans.length)).toEqual([SPANS_AT_ONCE, SPANS_AT_ONCE, 3]);
  expect([figures().waiting, told]).toEqual([0, []]);
});
