import assert from "node:assert/strict";
import { test } from "node:test";
import { PetstoreError } from "../../../client/src/index.ts";
import {
  refuse,
  reply,
  resetBeforeHeaders,
  resetMidBody,
  type Step,
  scripted,
  slowHeaders,
  stalledBody,
} from "../scripted.ts";

const ok = reply(200, []);
const never = { "x-should-retry": "false" };
const after = (seconds: number) => ({ "retry-after": String(seconds) });
const proxyPage = reply(502, "<h1>Bad gateway</h1>", { "content-type": "text/html" });
const date = "Sun, 15 Nov 2026 12:00:00 GMT";

interface Row {
  readonly name: string;
  readonly script: readonly Step[];
  /** When each request is to come, in milliseconds; chance always takes the middle of the back-off. */
  readonly at: readonly number[];
  /** The error that the caller gets in the end, if it does. */
  readonly error?: string;
  readonly says?: RegExp;
  readonly retryAfterSeconds?: number;
}

const table: readonly Row[] = [
  { name: "a success is not repeated", script: [ok], at: [0] },
  {
    name: "503 waits for Retry-After and the back-off",
    script: [refuse(503, "unavailable", after(2)), ok],
    at: [0, 2250],
  },
  {
    name: "5xx backs off exponentially",
    script: [refuse(500, "internal_error"), proxyPage, ok],
    at: [0, 250, 750],
  },
  {
    name: "429 waits for Retry-After",
    script: [refuse(429, "rate_limit_exceeded", after(5)), ok],
    at: [0, 5250],
  },
  {
    name: "429 without Retry-After backs off",
    script: [refuse(429, "rate_limit_exceeded"), ok],
    at: [0, 250],
  },
  {
    name: "Retry-After may be a date, which is counted from the server's own",
    script: [refuse(503, "overloaded", { date, "retry-after": "Sun, 15 Nov 2026 12:00:07 GMT" }), ok],
    at: [0, 7250],
  },
  {
    name: "a date that is over waits for the back-off alone",
    script: [refuse(503, "overloaded", { date, "retry-after": "Sun, 15 Nov 2026 11:00:00 GMT" }), ok],
    at: [0, 250],
  },
  {
    name: "a date above maxRetryWaitMs fails at once, as so many seconds do",
    script: [refuse(503, "overloaded", { date, "retry-after": "Sun, 15 Nov 2026 12:02:00 GMT" })],
    at: [0],
    error: "ServerError",
    says: /Not tried again: 120 s are longer than maxRetryWaitMs/,
    retryAfterSeconds: 120,
  },
  ...["9".repeat(20), "Fri, 31 Dec 9999 23:59:59 GMT"].map((wait) => ({
    name: `a wait that nobody means is a year: ${wait}`,
    script: [refuse(503, "overloaded", { date, "retry-after": wait })],
    at: [0],
    error: "ServerError",
    says: /Come back at \d{4}-/,
    retryAfterSeconds: 366 * 24 * 60 * 60,
  })),
  {
    name: "a Retry-After that is neither is not there",
    script: [refuse(503, "overloaded", { "retry-after": "soon" }), ok],
    at: [0, 250],
  },
  { name: "408 is repeated", script: [refuse(408, "request_timeout", after(1)), ok], at: [0, 1250] },
  { name: "malformed JSON is asked for again", script: [reply(200, '[{"id":1,'), ok], at: [0, 250] },
  { name: "a success without a body is asked for again", script: [reply(200, ""), ok], at: [0, 250] },
  { name: "JSON of another kind is asked for again", script: [reply(200, '"welcome"'), ok], at: [0, 250] },
  {
    name: "an answer that stays unreadable is given up",
    script: [reply(200, "<h1>Welcome</h1>")],
    at: [0, 250, 750, 1750, 3750],
    error: "UnreadableAnswerError",
    says: /was answered with something other than its JSON\./,
  },
  {
    name: "a connection cut before the headers is tried again",
    script: [resetBeforeHeaders, ok],
    at: [0, 250],
  },
  { name: "a connection cut in the body is tried again", script: [resetMidBody, ok], at: [0, 250] },
  { name: "headers that do not come in time are given up", script: [slowHeaders, ok], at: [0, 1250] },
  { name: "a body that stops is given up", script: [stalledBody, ok], at: [0, 1250] },
  {
    name: "a request that is still running is asked for again",
    script: [refuse(409, "idempotency_in_progress", after(1)), ok],
    at: [0, 1250],
  },
  {
    name: "any other 409 is final",
    script: [refuse(409, "insufficient_stock")],
    at: [0],
    error: "ConflictError",
    says: /^It is insufficient_stock\.$/,
  },
  {
    name: "a ban is final, and says for how long",
    script: [refuse(403, "key_banned", { ...after(300), ...never })],
    at: [0],
    error: "PermissionDeniedError",
    retryAfterSeconds: 300,
  },
  {
    name: "the daily quota is final",
    script: [refuse(429, "daily_quota_exceeded", { ...after(40_000), ...never })],
    at: [0],
    error: "RateLimitError",
    retryAfterSeconds: 40_000,
  },
  {
    name: "a wait above maxRetryWaitMs fails at once and says when to come back",
    script: [refuse(503, "unavailable", after(3600))],
    at: [0],
    error: "ServerError",
    says: /It is unavailable\. Not tried again: 3600 s are longer than maxRetryWaitMs \(60 s\)\. Come back at \d{4}-/,
    retryAfterSeconds: 3600,
  },
  {
    name: "the server's no comes before its status",
    script: [refuse(500, "internal_error", never)],
    at: [0],
    error: "ServerError",
  },
  {
    name: "the server's yes comes before its status",
    script: [refuse(400, "invalid_parameter", { "x-should-retry": "true" }), ok],
    at: [0, 250],
  },
  {
    name: "after maxRetries the last error is given",
    script: [refuse(503, "overloaded")],
    at: [0, 250, 750, 1750, 3750],
    error: "ServerError",
  },
  {
    name: "a server that cannot be reached is given up too",
    script: [resetBeforeHeaders],
    at: [0, 250, 750, 1750, 3750],
    error: "ConnectionError",
  },
  {
    name: "time-outs are given up too",
    script: [slowHeaders],
    at: [0, 1250, 2750, 4750, 7750],
    error: "TimeoutError",
    says: /took longer than timeoutMs \(1000 ms\)/,
  },
  { name: "400 is final", script: [refuse(400, "invalid_parameter")], at: [0], error: "BadRequestError" },
  { name: "401 is final", script: [refuse(401, "invalid_api_key")], at: [0], error: "AuthenticationError" },
  { name: "404 is final", script: [refuse(404, "pet_not_found")], at: [0], error: "NotFoundError" },
  { name: "410 is final", script: [refuse(410, "operation_sunset")], at: [0], error: "GoneError" },
  {
    name: "412 is final",
    script: [refuse(412, "precondition_failed")],
    at: [0],
    error: "PreconditionFailedError",
  },
  { name: "422 is final", script: [refuse(422, "invalid_body")], at: [0], error: "UnprocessableError" },
  {
    name: "another 4xx is final",
    script: [refuse(415, "unsupported_media_type")],
    at: [0],
    error: "ApiError",
  },
  {
    name: "a redirect is not followed",
    script: [reply(301, "", { location: "/elsewhere" })],
    at: [0],
    error: "ApiError",
    says: /was answered with 301/,
  },
];

for (const { name, script, at, error, says, retryAfterSeconds } of table) {
  test(`reading: ${name}`, async () => {
    await using server = await scripted(script);
    await outcome(server.client({ timeoutMs: 1000 }).pets.list(), { error, says, retryAfterSeconds });
    assert.deepEqual(server.times(), at);
  });

  test(`writing: ${name}, with one idempotency key`, async () => {
    await using server = await scripted(script);
    const call = server.client({ timeoutMs: 1000 }).orders.place({ petId: 7 });
    await outcome(call, { error, says, retryAfterSeconds });
    assert.deepEqual(server.times(), at);
    const keys = new Set(server.arrivals.map(({ headers }) => headers["idempotency-key"]));
    assert.equal(keys.size, 1);
    assert.match(String([...keys][0]), /^[0-9a-f]{32}$/);
  });
}

async function outcome(
  call: Promise<unknown>,
  { error, says, retryAfterSeconds }: { [K in "error" | "says" | "retryAfterSeconds"]: Row[K] | undefined },
): Promise<void> {
  if (error === undefined) return void (await call);
  const thrown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(thrown instanceof PetstoreError, `expected ${error}, got ${thrown}`);
  assert.equal(thrown.name, error);
  if (says) assert.match(thrown.message, says);
  assert.equal(thrown.retryAfterSeconds, retryAfterSeconds ?? thrown.retryAfterSeconds);
}

test("full jitter takes anything between nothing and the whole back-off", async () => {
  for (const [chance, second] of [
    [0, 0],
    [0.999, 499.5],
  ] as const) {
    await using server = await scripted([refuse(503, "overloaded"), reply(200, [])]);
    const { surroundings } = server.clock;
    await server.client({ surroundings: { ...surroundings, random: () => chance } }).pets.list();
    assert.deepEqual(server.times(), [0, second]);
  }
});

test("the back-off on top of Retry-After stays within maxRetryWaitMs", async () => {
  await using server = await scripted([refuse(503, "overloaded", { "retry-after": "60" }), reply(200, [])]);
  await server.client().pets.list();
  assert.deepEqual(server.times(), [0, 60_000]);
});

test("maxRetries can be set for the client and for a call", async () => {
  await using server = await scripted(refuse(503, "overloaded"));
  const client = server.client({ maxRetries: 1 });
  await assert.rejects(client.pets.list());
  assert.equal(server.arrivals.length, 2);
  await assert.rejects(client.pets.list({}, { maxRetries: 0 }));
  assert.equal(server.arrivals.length, 3);
});

test("every try that failed is told to the logger, and no key with it", async () => {
  const told: string[] = [];
  const logger = {
    warn: () => assert.fail("nothing is deprecated"),
    debug: (text: string) => void told.push(text),
  };
  await using server = await scripted([refuse(503, "overloaded", { "retry-after": "1" }), reply(200, [])]);
  await server.client({ logger }).pets.list();
  assert.deepEqual(told, ["GET /pets: try 1 failed (It is overloaded.); the next is in 1250 ms."]);
});
