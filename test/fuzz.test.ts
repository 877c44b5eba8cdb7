import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { everyEndpoint } from "../src/contract/api.ts";
import { type Endpoint, isWrite, successStatus } from "../src/contract/route.ts";
import { type AnyShape, problemsOf } from "../src/contract/shape.ts";
import { parseJson } from "../src/http/json.ts";
import { valid, written } from "./arbitrary.ts";
import { aStore, type Reply, type TestStore } from "./harness.ts";
import { seed } from "./seed.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 1500);
const TIMEOUT_MS = 20 * Math.max(numRuns, 1500);
const RECORDS = 12;

let store: TestStore;
/** Keys and clients that nobody here asks with start after this id. */
let firstSpare: number;

beforeAll(async () => {
  store = await aStore();
  firstSpare = Math.max(store.stranger.keyId, store.stranger.clientId) + 1;
  for (let each = 0; each < RECORDS; each++) {
    const { id: petId } = await store.aPet(5);
    await store.customer.post("/store/orders", each % 4 === 0 ? {} : { petId, quantity: 1 + (each % 5) });
    await store.newPerson("customer", each % 2 === 0 ? {} : { clientId: store.customer.clientId });
  }
});
afterAll(() => store.stop());

interface Input {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

function endpointOf({ operation }: Input): Endpoint {
  return everyEndpoint.find(({ id }) => id === operation) as Endpoint;
}

async function send(input: Input): Promise<Reply> {
  const { params, query, body, headers } = input;
  const endpoint = endpointOf(input);
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ofSomebodyElse(name, params[name] ?? "")),
  );
  const search = query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  const by = endpoint.route.role === "customer" ? store.customer : store.admin;
  const reply = await by.send(endpoint.method, search === "" ? path : `${path}?${search}`, {
    ...(body !== undefined && { raw: body }),
    headers,
  });
  if (reply.status >= 500 && !reply.headers.has("preference-applied"))
    throw new Error(`Answered ${reply.status}: ${store.logged().split("\n").at(-3)}`);
  return reply;
}

/** The same id among the keys and clients that are there to be changed, so that the tests keep theirs. */
function ofSomebodyElse(name: string, id: string): string {
  const isSmall = /^\d{1,4}$/.test(id);
  return isSmall && /^(keyId|clientId)$/.test(name) ? String(firstSpare + Number(id) - 1) : id;
}

/** An id that is often one of a record. */
const anId = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: RECORDS + 8 }) },
  fc.constant(2 ** 53 - 1),
);

/** Input that the endpoint's shapes allow. */
function validInput(endpoint: Endpoint): fc.Arbitrary<Input> {
  const { params = {}, query = {}, body } = endpoint.route;
  return fc
    .record({
      params: fc.record(Object.fromEntries(Object.keys(params).map((name) => [name, anId.map(String)]))),
      query: fc.record(
        Object.fromEntries(Object.entries(query).map(([name, shape]) => [name, valid(shape, anId)])),
        { requiredKeys: [] },
      ),
      body: body ? valid(body, anId) : fc.constant(undefined),
    })
    .map((input) => ({
      operation: endpoint.id,
      params: input.params as Record<string, string>,
      query: pairs(withoutWhatContradicts(input.query as Record<string, unknown>)),
      body: body ? written(withOwnId(input.body, input.params)) : undefined,
      headers: {},
    }));
}

/** Three rules that no shape can say: a cursor or a position is one that was given, names sort by names and ship dates by ship dates, and days come in order. */
function withoutWhatContradicts(query: Record<string, unknown>): Record<string, unknown> {
  const { cursor: _cursor, after: _after, lastEventId: _last, ...rest } = query;
  if (rest.name !== undefined) delete rest.sort;
  if (
    rest.shippedAfter !== undefined ||
    rest.shippedBefore !== undefined ||
    String(rest.sort).endsWith("shipDate")
  )
    delete rest.sort;
  if (rest.from !== undefined) rest.to = rest.from;
  return rest;
}

/** An `id` in the body of a change is the path's. */
function withOwnId(body: unknown, params: Record<string, unknown>): unknown {
  const [param] = Object.entries(params) as [string, string][];
  if (param === undefined || typeof body !== "object" || body === null || !("id" in body)) return body;
  return { ...body, id: BigInt(ofSomebodyElse(...param)) };
}

function pairs(query: Record<string, unknown>): [string, string][] {
  return Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
  );
}

const junk = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "",
    "0",
    "-1",
    "1e3",
    "null",
    "true",
    "9223372036854775808",
    "2026-02-30T25:00:00Z",
    "%",
    "\0",
  ),
  fc.integer().map(String),
  fc.double().map(String),
);
const junkHeader = fc.string({ unit: "grapheme-ascii", maxLength: 40 });
const junkHeaders = fc.record(
  {
    accept: fc.oneof(fc.constantFrom("*/*", "application/json", "text/html"), junkHeader),
    "api-version": fc.oneof(fc.constantFrom("1", "1.0"), junkHeader),
    "content-type": fc.oneof(fc.constantFrom("application/json", "application/merge-patch+json"), junkHeader),
    "idempotency-key": fc.oneof(fc.constantFrom("a", "b", "c"), junkHeader),
    "if-match": fc.oneof(fc.constantFrom("*", '"p1"', '"c1"', '"o1"', '"s1"'), junkHeader),
    "if-none-match": fc.oneof(fc.constantFrom("*", '"p1"', '"c1"'), junkHeader),
    "x-request-id": junkHeader,
    origin: junkHeader,
    prefer: fc.oneof(
      fc.constantFrom("simulate=ban", "simulate=unavailable", "simulate=sunset", "respond-async"),
      junkHeader,
    ),
  },
  { requiredKeys: [] },
);

/** A JSON text with one thing in it changed. */
function spoiled(text: string): fc.Arbitrary<string> {
  const at = fc.nat(Math.max(0, text.length - 1));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).map((each) => JSON.stringify(each)),
    fc.constantFrom(
      "1e999",
      "-0",
      "1.0",
      "9007199254740993",
      "9223372036854775808",
      "null",
      '"\\ud800"',
      "{}",
    ),
  );
  return fc.oneof(
    value,
    fc
      .tuple(at, fc.string({ maxLength: 4 }))
      .map(([index, more]) => text.slice(0, index) + more + text.slice(index)),
    fc.tuple(at, fc.nat(5)).map(([index, count]) => text.slice(0, index) + text.slice(index + count)),
    value.map((each) => text.replace(/:[^,}]*/, `:${each}`)),
    value.map((each) => text.replace(/:[^,}]*(?=\}*\]?$)/, `:${each}`)),
    fc
      .tuple(fc.string({ maxLength: 8 }), value)
      .map(([key, each]) => text.replace("{", `{${JSON.stringify(key)}:${each},`)),
  );
}

/** Input that is wrong in one place or in several. */
function nearlyValid(endpoint: Endpoint): fc.Arbitrary<Input> {
  return validInput(endpoint).chain(
    (input) =>
      fc.record({
        operation: fc.constant(endpoint.id),
        params: fc.oneof(
          { weight: 3, arbitrary: fc.constant(input.params) },
          fc.record(
            Object.fromEntries(Object.keys(input.params).map((name) => [name, junk.filter(isOneSegment)])),
          ),
        ),
        query: fc.oneof(
          { weight: 2, arbitrary: fc.constant(input.query) },
          fc.array(
            fc.tuple(fc.oneof(fc.constantFrom(...names(endpoint)), fc.string({ maxLength: 9 })), junk),
            { maxLength: 4 },
          ),
        ),
        body:
          input.body === undefined
            ? fc.constant(undefined)
            : fc.oneof(fc.constant(input.body), spoiled(input.body)),
        headers: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, junkHeaders),
      }) as fc.Arbitrary<Input>,
  );
}

function names({ route }: Endpoint): string[] {
  return [...Object.keys(route.query ?? {}), "limit"];
}

/** What fetch would not make another path of. */
function isOneSegment(text: string): boolean {
  return text !== "" && text.isWellFormed() && text !== "." && text !== ".." && text !== "batch";
}

const anEndpoint = fc.constantFrom(...everyEndpoint);

async function check(property: fc.IAsyncProperty<[Input]>, runs = numRuns): Promise<void> {
  await fc.assert(property, { seed, numRuns: runs });
  expect(await store.findings()).toEqual([]);
}

test(
  "input that its shapes allow is never refused for its form",
  async () => {
    await check(
      fc.asyncProperty(anEndpoint.chain(validInput), async (input) => {
        const { status, body } = await send(input);
        expect([400, 415]).not.toContain(status);
        if (status >= 400) expect(body.code).not.toBe("invalid_body");
      }),
    );
  },
  TIMEOUT_MS,
);

test(
  "whatever is sent, the answer is one that the contract has, and the store stays whole",
  async () => {
    await check(fc.asyncProperty(anEndpoint.chain(nearlyValid), async (input) => void (await send(input))));
  },
  TIMEOUT_MS,
);

test(
  "a body that is not of the endpoint's shape is never taken",
  async () => {
    const withBodies = everyEndpoint.filter(({ route }) => route.body);
    await check(
      fc.asyncProperty(fc.constantFrom(...withBodies).chain(nearlyValid), async (input) => {
        const reply = await send({ ...input, headers: {} });
        if (reply.status === successStatus(endpointOf(input).route)) {
          const value = parseJson(new TextEncoder().encode(input.body));
          expect(problemsOf(endpointOf(input).route.body as AnyShape, value)).toEqual([]);
        }
      }),
    );
  },
  TIMEOUT_MS,
);

test(
  "a write that is refused changes nothing, whatever was wrong with it",
  async () => {
    const writes = everyEndpoint.filter(({ method }) => isWrite(method));
    await check(
      fc.asyncProperty(fc.constantFrom(...writes).chain(nearlyValid), async (input) => {
        const before = await store.snapshot();
        const { status } = await send(input);
        if (status >= 400) expect((await store.snapshot()) === before).toBe(true);
      }),
      Math.ceil(numRuns / 3),
    );
  },
  TIMEOUT_MS,
);
