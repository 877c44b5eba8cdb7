// A collector of traces on loopback. It reads what comes as strictly as OTLP's definitions have it, and answers as a test wants it to.
import type { SpanRecord } from "../../src/traces/otlp.ts";
import { eventually } from "../cli/command.ts";

/** How long a test waits for what must come. */
const PATIENCE_MS = 15_000;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly isError: boolean;
  /** The attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, string | number>>;
}

export interface Post {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly spans: readonly Span[];
}

type Answer = () => Response | Promise<Response>;

export interface Collector extends AsyncDisposable {
  /** What the setting names. */
  readonly endpoint: string;
  readonly env: Record<string, string>;
  /** Everything that was sent to it, and was read; in order. */
  readonly posts: readonly Post[];
  /** Every span of them. */
  spans(): readonly Span[];
  /** What the next ones are answered with. */
  answer: Answer;
  /** The spans, once there are so many of them; of the servers' kind if no other is wanted. */
  seen(count: number, kind?: Span["kind"]): Promise<readonly Span[]>;
}

export const taken: Answer = () => Response.json({ partialSuccess: {} });

export function aCollector(port = 0): Collector {
  const posts: Post[] = [];
  const faults: unknown[] = [];
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text();
      const { headers } = request;
      try {
        if (request.method !== "POST" || headers.get("content-type") !== "application/json")
          throw new Error(`${request.method} of ${headers.get("content-type")}`);
        posts.push({ path: new URL(request.url).pathname, headers, body, spans: spansIn(JSON.parse(body)) });
      } catch (error) {
        faults.push(error);
        return new Response(String(error), { status: 400 });
      }
      return collector.answer();
    },
  });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const spans = () => {
    if (faults.length > 0) throw faults[0];
    return posts.flatMap((post) => post.spans);
  };
  const collector: Collector = {
    endpoint,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
    posts,
    answer: taken,
    spans,
    async seen(count, kind = "server") {
      const wanted = () => spans().filter((span) => span.kind === kind);
      if (!(await eventually(() => wanted().length >= count, PATIENCE_MS)))
        throw new Error(`Only ${wanted().length} of ${count} spans have come.`);
      return wanted();
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return collector;
}

// biome-ignore lint/suspicious/noExplicitAny: every field of it is looked at
type Json = any;
type Check = (value: Json) => boolean;

const id = (characters: number): Check => {
  const form = new RegExp(`^[0-9a-f]{${characters}}$`);
  return (value) => form.test(value) && !/^0+$/.test(value);
};
const text: Check = (value) => typeof value === "string";
const word: Check = (value) => text(value) && value !== "";
const nanoseconds: Check = (value) => text(value) && /^[1-9]\d{18}$/.test(value);
const list: Check = (value) => Array.isArray(value) && value.length > 0;

/** The fields of each message that a server has use for; `?`: it may be left out. Others are none of OTLP's. */
const messages: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  request: { resourceSpans: list },
  resourceSpans: { resource: Boolean, scopeSpans: list },
  resource: { attributes: list },
  scopeSpans: { scope: Boolean, spans: list },
  scope: { name: word, version: word },
  span: {
    traceId: id(32),
    spanId: id(16),
    "parentSpanId?": id(16),
    "traceState?": word,
    name: word,
    kind: (value) => [1, 2, 3].includes(value),
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
    attributes: Array.isArray,
    status: Boolean,
  },
  status: { "code?": (value) => value === 2 },
  attribute: { key: word, value: Boolean },
};

function read(message: string, value: Json): Json {
  const fields = messages[message] ?? {};
  const unknown = Object.keys(value).filter((name) => !(name in fields) && !(`${name}?` in fields));
  if (unknown.length > 0) throw new Error(`${message} has no ${unknown.join()}`);
  for (const [name, check] of Object.entries(fields)) {
    const given = value[name.replace("?", "")];
    const isRight = given === undefined ? name.endsWith("?") : check(given);
    if (!isRight) throw new Error(`${name} of ${message} is ${JSON.stringify(given)}`);
  }
  return value;
}

function spansIn(body: Json): Span[] {
  return read("request", body).resourceSpans.flatMap((each: Json) => {
    const { resource, scopeSpans } = read("resourceSpans", each);
    const sender = attributesOf(read("resource", resource).attributes);
    return scopeSpans.flatMap((one: Json) => {
      const { scope, spans } = read("scopeSpans", one);
      read("scope", scope);
      return spans.map((span: Json) => spanOf(read("span", span), sender));
    });
  });
}

function spanOf(span: Json, resource: Span["resource"]): Span {
  const { traceId, spanId, parentSpanId, traceState, name, kind, attributes, status } = span;
  const [start, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
  if (end < start) throw new Error(`${name} ends before it begins`);
  return {
    traceId,
    spanId,
    parentSpanId,
    traceState,
    name,
    kind: (["internal", "server", "client"] as const)[kind - 1] as Span["kind"],
    start,
    end,
    attributes: attributesOf(attributes),
    isError: read("status", status).code === 2,
    resource,
  };
}

function attributesOf(attributes: readonly Json[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map((each) => {
      const { key, value } = read("attribute", each);
      const [kind, ...others] = Object.keys(value);
      const isInteger = kind === "intValue" && /^\d+$/.test(value.intValue) && text(value.intValue);
      if (others.length > 0 || !(isInteger || (kind === "stringValue" && word(value.stringValue))))
        throw new Error(`${key} is ${JSON.stringify(value)}`);
      return [key, isInteger ? Number(value.intValue) : value.stringValue];
    }),
  );
}

/** Any span. */
export const span: SpanRecord = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parentSpanId: undefined,
  traceState: undefined,
  name: "GET /pets",
  kind: "server",
  startMs: 1_800_000_000_000,
  endMs: 1_800_000_000_001.5,
  attributes: {},
  errorType: undefined,
};
