import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApiError,
  ConflictError,
  type Petstore,
  Petstore as PetstoreClass,
  TimeoutError,
  UnreadableAnswerError,
} from "../../../client/src/index.ts";
import { refuse, reply, resetMidBody, type Step, scripted, slowHeaders, stalledBody } from "../scripted.ts";

const rex = { id: 7, name: "Rex", categoryId: 1, status: "available" };

const rates = {
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": "59",
  "x-ratelimit-reset": "1794744060",
  "ratelimit-policy": '"minute";q=60;w=60, "day";q=1000;w=86400',
  ratelimit: '"minute";r=59;t=60, "day";r=999;t=3600',
};

test("path parameters come first, then the body or the query, then the options", async () => {
  await using server = await scripted(reply(200, rex));
  const client = server.client();
  await client.pets.update(
    7,
    { name: "Rexy" },
    { ifMatch: '"p1"', idempotencyKey: "mine", headers: { "X-Request-Id": "a" } },
  );
  await client.store.pet(7, { headers: { prefer: "simulate=ban" } });
  await client.account.keys.rotate(3);
  await client.admin.bans.impose(9, { minutes: 5 });
  const sent = server.arrivals.map(({ method, path, body }) => `${method} ${path} ${body}`);
  assert.deepEqual(sent, [
    'PATCH /pets/7 {"name":"Rexy"}',
    "GET /store/pets/7 ",
    "POST /account/keys/3/rotation {}",
    'PUT /admin/keys/9/ban {"minutes":5}',
  ]);
  const [update, read] = server.arrivals;
  assert.equal(update?.headers["if-match"], '"p1"');
  assert.equal(update?.headers["idempotency-key"], "mine");
  assert.equal(update?.headers["x-request-id"], "a");
  assert.equal(update?.headers.authorization, "Bearer ps_live_test");
  assert.equal(update?.headers["content-type"], "application/json");
  assert.equal(read?.headers["idempotency-key"], undefined);
  assert.equal(read?.headers.prefer, "simulate=ban");
});

test("a repeatable filter is repeated, and what is undefined is left out", async () => {
  await using server = await scripted(reply(200, []));
  await server
    .client()
    .pets.list({ status: ["available", "sold"], id: [1, 2n ** 60n], name: "R & B", sort: undefined });
  assert.equal(
    server.arrivals[0]?.path,
    "/pets?status=available&status=sold&id=1&id=1152921504606846976&name=R+%26+B",
  );
});

test("a filter by no value at all is refused before anything is sent, and not taken for no filter", async () => {
  await using server = await scripted(reply(200, [rex]));
  const { pets, inventory } = server.client();
  await assert.rejects(pets.list({ id: [] }), (error) => {
    assert.ok(error instanceof TypeError);
    assert.equal(
      error.message,
      "GET /pets: id is an empty list, which would find everything. Leave it out, or do not ask.",
    );
    return true;
  });
  await assert.rejects(inventory.list({ status: [] }), /status is an empty list/);
  assert.equal(server.arrivals.length, 0);
});

test("a bigint is written as the integer that it is, in path and body", async () => {
  await using server = await scripted(reply(200, rex));
  const client = server.client();
  await client.pets.createMany([{ name: 'a "quoted" 1n', categoryId: 9007199254740993n }]);
  await client.store.pet(9223372036854775807n);
  assert.equal(server.arrivals[0]?.body, '[{"name":"a \\"quoted\\" 1n","categoryId":9007199254740993}]');
  assert.equal(server.arrivals[1]?.path, "/store/pets/9223372036854775807");
});

test("an id that is not exact is refused before anything is sent", async () => {
  await using server = await scripted(reply(200, rex));
  const { store } = server.client();
  await assert.rejects(store.pet(2 ** 53), /store\.pet: petId must be an integer/);
  await assert.rejects(store.pet("7" as unknown as number), /got string 7\./);
  assert.equal(server.arrivals.length, 0);
});

test("what JSON would make nothing of is refused before anything is sent, and not taken for null", async () => {
  await using server = await scripted(reply(200, rex));
  const { orders, pets } = server.client();
  const refused = (call: Promise<unknown>, message: string) =>
    assert.rejects(call, (error) => error instanceof TypeError && error.message === message);
  const order = "PATCH /store/orders/{orderId}";
  await refused(
    orders.update(1, { quantity: Number("five") }),
    `${order}: quantity is NaN, which is no JSON.`,
  );
  await refused(orders.update(1, { petId: 1 / 0 }), `${order}: petId is Infinity, which is no JSON.`);
  const never = new Date("never") as unknown as string;
  await refused(
    orders.update(1, { shipDate: never }),
    `${order}: shipDate is Invalid Date, which is no JSON.`,
  );
  const many = [rex, () => rex] as (typeof rex)[];
  await refused(pets.createMany(many as never), "POST /pets/batch: [1] is () => rex, which is no JSON.");
  assert.equal(server.arrivals.length, 0);
});

test("a base address may have a path before the API's", async () => {
  await using server = await scripted(reply(200, []));
  await server.client({ baseUrl: `${server.url}/petstore/` }).pets.list();
  assert.equal(server.arrivals[0]?.path, "/petstore/pets");
});

test("an empty key and an address that is none are refused when the client is made", () => {
  assert.throws(() => new PetstoreClass({ baseUrl: "http://x", apiKey: "" }), /apiKey is empty/);
  for (const baseUrl of ["ftp://x", "pets", "127.0.0.1:8080", "", "http://", undefined as unknown as string])
    assert.throws(() => new PetstoreClass({ baseUrl }), /baseUrl must be an http\(s\) address, got/);
});

test("a limit that is no number, as of a variable that is not set, is refused: nothing is above or below it", async () => {
  const numbers = { timeoutMs: NaN, maxRetries: NaN, maxRetryWaitMs: -1, maxPaceWaitMs: "60" as never };
  for (const [name, value] of Object.entries(numbers))
    assert.throws(
      () => new PetstoreClass({ baseUrl: "http://x", apiKey: "ps_live_test", [name]: value }),
      new TypeError(`${name} must be at least 0, got ${value}.`),
    );
  await using server = await scripted(reply(200, rex));
  const { store, events } = server.client();
  await assert.rejects(store.pet(7, { timeoutMs: NaN }), /timeoutMs must be at least 0, got NaN\./);
  await assert.rejects(store.pet(7, { maxRetries: NaN }), /maxRetries must be at least 0, got NaN\./);
  assert.throws(() => events.stream({}, { timeoutMs: NaN }), /timeoutMs must be at least 0/);
  assert.equal(server.arrivals.length, 0);
  await store.pet(7, { timeoutMs: Number.POSITIVE_INFINITY, maxRetries: 0 });
});

/** How many listeners a signal was given, and those that it has. */
function listenersOf(signal: AbortSignal): { given: number; readonly left: Set<unknown> } {
  const listeners = { given: 0, left: new Set<unknown>() };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.given += 1;
    listeners.left.add(given[1]);
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.left.delete(given[1]);
    remove(...given);
  };
  return listeners;
}

test("many calls that share a signal follow it by one listener, and all end with it", async () => {
  await using server = await scripted(slowHeaders);
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = listenersOf(signal);
  const client = server.client({ pace: false });
  const calls = Array.from({ length: 40 }, () => client.store.pet(7, { signal }));
  const outcomes = Promise.allSettled(calls);
  await server.clock.until(10_000);
  assert.equal(server.arrivals.length, 40);
  controller.abort();
  for (const outcome of await outcomes)
    assert.deepEqual(outcome, { status: "rejected", reason: signal.reason });
  assert.equal(listeners.given, 1);
  assert.equal(listeners.left.size, 0);
});

test("a signal has no listener left when its calls are over, however they ended", async () => {
  const lastOne = reply(200, rex, { ratelimit: '"minute";r=0;t=60' });
  await using server = await scripted([reply(200, rex), refuse(404, "pet_not_found"), slowHeaders, lastOne]);
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = listenersOf(signal);
  const { store } = server.client({ maxRetries: 0 });
  await store.pet(7, { signal });
  await assert.rejects(store.pet(7, { signal }), ApiError);
  await assert.rejects(store.pet(7, { signal }), TimeoutError);
  await store.pet(7, { signal });
  assert.ok(listeners.given > 0);
  assert.equal(listeners.left.size, 0);
  const waiting = store.pet(7, { signal });
  assert.equal(listeners.left.size, 1);
  controller.abort();
  await assert.rejects(waiting, (error) => error === signal.reason);
  assert.equal(listeners.left.size, 0);
  assert.equal(server.arrivals.length, 4);
});

test("what has no body answers undefined", async () => {
  await using server = await scripted(reply(204));
  assert.equal(await server.client().pets.remove(7), undefined);
});

test("a list that somebody between answers with nothing is unreadable, and not empty", async () => {
  await using server = await scripted(reply(204));
  await assert.rejects(server.client({ maxRetries: 0 }).pets.list(), UnreadableAnswerError);
});

test("a record that somebody between answers with nothing is unreadable, and not undefined", async () => {
  await using server = await scripted(reply(204));
  const { orders, store } = server.client({ maxRetries: 0 });
  await assert.rejects(store.pet(7), UnreadableAnswerError);
  await assert.rejects(orders.place({ petId: 7 }), UnreadableAnswerError);
  await assert.rejects(orders.update(1, { quantity: 2 }), UnreadableAnswerError);
});

test("the whole answer has status, headers, request id, ETag and rate limit", async () => {
  await using server = await scripted(reply(200, rex, { ...rates, etag: '"p3"', "x-request-id": "k-1" }));
  const { data, status, headers, requestId, etag, rateLimit } = await server
    .client()
    .store.pet(7)
    .withResponse();
  assert.deepEqual([data, status, requestId, etag], [rex, 200, "k-1", '"p3"']);
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(rateLimit?.limit, 60);
  assert.equal(rateLimit?.remaining, 59);
  assert.equal(rateLimit?.resetSeconds, 60);
  assert.deepEqual(rateLimit?.windows, [
    { name: "minute", limit: 60, remaining: 59, resetSeconds: 60 },
    { name: "day", limit: 1000, remaining: 999, resetSeconds: 3600 },
  ]);
});

test("the three plain rate headers are enough, counted from the server's own time", async () => {
  const date = new Date(1794744018000).toUTCString();
  const { ratelimit: _, "ratelimit-policy": __, ...plain } = rates;
  await using server = await scripted(reply(200, rex, { ...plain, date }));
  const { rateLimit } = await server.client().store.pet(7).withResponse();
  assert.deepEqual(rateLimit?.windows, [{ name: "limit", limit: 60, remaining: 59, resetSeconds: 42 }]);
});

test("a failed call is told once, to whoever takes the data or the whole answer", async () => {
  await using server = await scripted(refuse(404, "pet_not_found"));
  const client = server.client();
  await assert.rejects(client.store.pet(7).withResponse(), ApiError);
  const call = client.store.pet(7);
  await assert.rejects(call, ApiError);
  await assert.rejects(call.withResponse(), ApiError);
});

test("an error has class, code, status, details, request id and headers", async () => {
  const body = {
    code: "insufficient_stock",
    message: "Two are left.",
    status: 409,
    details: [{ field: "quantity", message: "too many" }],
  };
  await using server = await scripted(reply(409, body, { "x-request-id": "k-2", "x-should-retry": "false" }));
  const error = await server
    .client()
    .orders.place({ petId: 7, quantity: 3 })
    .catch((reason) => reason);
  assert.ok(error instanceof ConflictError && error instanceof ApiError && error instanceof Error);
  assert.equal(error.code === "insufficient_stock" && error.message, "Two are left.");
  assert.deepEqual([error.status, error.requestId, error.details], [409, "k-2", body.details]);
  assert.equal(error.headers.get("x-should-retry"), "false");
});

test("what something else than the API answered has a status and no code", async () => {
  await using server = await scripted(reply(404, "<h1>Nothing here</h1>"));
  const error = await server
    .client()
    .store.pet(7)
    .catch((reason) => reason);
  assert.deepEqual(
    [error.name, error.status, error.code, error.details],
    ["NotFoundError", 404, undefined, []],
  );
  assert.equal(error.message, "GET /store/pets/{petId} was answered with 404.");
});

const deprecation = {
  deprecation: "@1793491200",
  sunset: "Tue, 30 Nov 2027 23:59:59 GMT",
  link: '</store/pets/7>; rel="successor-version", </docs#deprecations>; rel="deprecation"',
};

test("a deprecated operation is told of once, with its end and what to use", async () => {
  await using server = await scripted(reply(200, rex, deprecation));
  const told: string[] = [];
  const client = server.client({ logger: { warn: (text) => void told.push(text) } });
  await Promise.all([client.pets.get(7), client.pets.get(8)]);
  await client.pets.get(9);
  assert.deepEqual(told, [
    "pets.get (GET /pets/{petId}) is deprecated since 2026-11-01 and ends on 2027-11-30. Use store.pet instead.",
  ]);
  await client.store.pet(7);
  assert.equal(
    told[1],
    "store.pet (GET /store/pets/{petId}) is deprecated since 2026-11-01 and ends on 2027-11-30. Use /store/pets/7 instead.",
  );
});

const points: readonly [
  string,
  readonly Step[],
  (client: Petstore, signal: AbortSignal) => Promise<unknown>,
][] = [
  ["before the headers", [slowHeaders], (client, signal) => client.pets.list({}, { signal })],
  ["in the body", [stalledBody], (client, signal) => client.pets.list({}, { signal })],
  [
    "in the wait before another try",
    [refuse(503, "unavailable", { "retry-after": "50" })],
    (client, signal) => client.pets.list({}, { signal }),
  ],
  ["in a second try", [resetMidBody, slowHeaders], (client, signal) => client.orders.place({}, { signal })],
  [
    "while it waits for its turn",
    [reply(200, [], { ratelimit: '"minute";r=0;t=60' })],
    async (client, signal) => {
      await client.pets.list();
      return client.pets.list({}, { signal });
    },
  ],
];

for (const [where, script, call] of points) {
  test(`a call can be aborted ${where}`, async () => {
    await using server = await scripted(script);
    const controller = new AbortController();
    const reason = new Error("enough");
    const client = server.client({ timeoutMs: 100_000 });
    const started = call(client, controller.signal);
    const outcome = assert.rejects(started, (error) => error === reason);
    await server.clock.until(10_000);
    const before = server.arrivals.length;
    controller.abort(reason);
    await outcome;
    assert.equal(server.clock.now(), 10_000);
    await server.clock.until(400_000);
    assert.equal(server.arrivals.length, before);
  });
}

test("a call with a signal that is aborted already sends nothing", async () => {
  await using server = await scripted(reply(200, []));
  await assert.rejects(
    server.client().pets.list({}, { signal: AbortSignal.abort(new Error("late")) }),
    /late/,
  );
  await assert.rejects(
    server.client({ pace: false }).pets.list({}, { signal: AbortSignal.abort(new Error("late")) }),
    /late/,
  );
  assert.equal(server.arrivals.length, 0);
});

test("a time-out can be set for one call", async () => {
  await using server = await scripted([slowHeaders, reply(200, [])]);
  await server.client().pets.list({}, { timeoutMs: 50 });
  assert.deepEqual(server.times(), [0, 300]);
});
