import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ConnectionError, PetstoreError } from "../../../client/src/index.ts";
import { refuse, reply, resetBeforeHeaders, type Step, scripted, slowHeaders } from "../scripted.ts";

const event = (id: number) => ({ specversion: "1.0", id: String(id), type: "pet.created", data: { id } });
const frame = (id: number) => `id: ${id}\nevent: pet.created\ndata: ${JSON.stringify(event(id))}\n\n`;

/** Sends these pieces, and then ends, is cut off, or says no more. */
function stream(
  pieces: readonly (string | Uint8Array)[],
  then: "ends" | "is cut" | "is silent" = "ends",
): Step {
  return ({ response, clock }) => {
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
    if (then === "ends") response.end();
    else if (then === "is cut") setTimeout(() => response.socket?.destroy(), 20);
    else setTimeout(() => clock.hold(), 20);
  };
}

/** The first events that a client is given, and then it leaves. */
async function some(events: AsyncIterable<{ id: string }>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of events) if (ids.push(id) === count) break;
  return ids;
}

test("events are given as they come, whatever pieces they come in", async () => {
  const text = Buffer.from(`retry: 1000\nid: 6\n\n:\n\n${frame(7)}${frame(8).replaceAll("\n", "\r\n")}`);
  const pieces = Array.from(text, (byte) => new Uint8Array([byte]));
  await using server = await scripted([stream(pieces)]);
  const events = server.client().events.stream();
  assert.deepEqual(await some(events, 2), ["7", "8"]);
  assert.equal(events.lastEventId, "8");
});

test("an event is given whole, whatever its texts hold", async () => {
  const names = ["Rex\u2028", "\u2029Rex", "Rex: a dog", "Rex\u0085", ""];
  const data = names.map((name, at) => ({ ...event(at + 1), data: { name } }));
  // A carriage return is only space between the parts of JSON.
  const lines = data.map((each) => `id: ${each.id}\ndata: ${JSON.stringify(each).replace(",", ",\r ")}\n\n`);
  await using server = await scripted([stream(lines)]);
  const given: unknown[] = [];
  for await (const each of server.client().events.stream()) if (given.push(each) === names.length) break;
  assert.deepEqual(given, data);
});

test("a client asks for a stream with its filter, its key, and the event that it has", async () => {
  await using server = await scripted([stream([frame(7)])]);
  const query = { type: ["pet.created", "order.placed"], lastEventId: "6" } as const;
  await some(server.client().events.stream(query, { headers: { "x-request-id": "shop" } }), 1);
  const [{ path, headers } = server.arrivals[0] as never] = server.arrivals as [(typeof server.arrivals)[0]];
  assert.equal(path, "/events/stream?type=pet.created&type=order.placed");
  assert.equal(headers["last-event-id"], "6");
  assert.equal(headers.accept, "text/event-stream");
  assert.equal(headers.authorization, "Bearer ps_live_test");
  assert.equal(headers["x-request-id"], "shop");
});

test("an error of the one who is told of the connection is his own, and no reason to connect again", async () => {
  // He may have made a call of his own, which failed.
  for (const mistake of [new TypeError("my own"), new ConnectionError("my own")]) {
    await using server = await scripted([stream([frame(7)])]);
    const onConnection = () => {
      throw mistake;
    };
    const events = server.client().events.stream({}, { onConnection, maxRetries: 1 });
    await assert.rejects(some(events, 1), (error) => error === mistake);
    assert.equal(server.arrivals.length, 1);
  }
});

test("a fetch that throws at once cuts a stream off as one that rejects, and holds up no other call", async () => {
  await using server = await scripted(reply(200, []));
  const fetch = (url: string, init: RequestInit) => {
    if (url.endsWith("/events/stream")) throw new TypeError("no network");
    return server.clock.fetch(url, init);
  };
  const client = server.client({ fetch });
  await assert.rejects(some(client.events.stream({}, { maxRetries: 0 }), 1), {
    name: "ConnectionError",
    message: "GET /events/stream was cut off (TypeError: no network).",
  });
  await client.pets.list();
  assert.deepEqual(server.times(), [0]);
});

test("a stream with a header that is none ends before it is asked for, and holds up no other call", async () => {
  await using server = await scripted(reply(200, []));
  const client = server.client();
  const { events } = client;
  await assert.rejects(some(events.stream({ lastEventId: "6\n7" }), 1), TypeError);
  await assert.rejects(some(events.stream({}, { headers: { "x-request-id": "6\n7" } }), 1), TypeError);
  await client.pets.list();
  assert.deepEqual(server.times(), [0]);
});

test("a stream that ends, is cut off or falls silent goes on after the last event, half of one included", async () => {
  const half = frame(10).slice(0, 30);
  await using server = await scripted([
    stream([frame(7)]),
    stream([frame(8), half], "is cut"),
    stream(["id: 9\n\n"], "is silent"),
    resetBeforeHeaders,
    stream([frame(10)]),
  ]);
  const told: boolean[] = [];
  const onConnection = (isConnected: boolean) => told.push(isConnected);
  assert.deepEqual(await some(server.client().events.stream({}, { onConnection }), 3), ["7", "8", "10"]);
  assert.deepEqual(told, [true, false, true, false, true, false, false, true]);
  assert.deepEqual(
    server.arrivals.map(({ headers }) => headers["last-event-id"]),
    [undefined, "7", "8", "9", "9"],
  );
  // Chance takes the middle of the back-off: 250, 500, then 45 s of silence after which it begins anew.
  assert.deepEqual(server.times(), [0, 250, 750, 46_000, 46_500]);
});

test("a connection that lasted is followed by a short wait, one that did not by longer ones", async () => {
  await using server = await scripted(stream([]));
  const events = server.client().events.stream({}, { maxRetries: 5 });
  await assert.rejects(some(events, 1), { name: "ConnectionError" });
  assert.deepEqual(server.times(), [0, 250, 750, 1750, 3750, 7750]);
});

test("a host that says nothing is no good connection: the waits grow, and the tries come to an end", async () => {
  await using server = await scripted(slowHeaders);
  const told: boolean[] = [];
  const onConnection = (isConnected: boolean) => told.push(isConnected);
  const events = server.client().events.stream({}, { maxRetries: 3, timeoutMs: 30_000, onConnection });
  await assert.rejects(some(events, 1), { name: "TimeoutError" });
  assert.deepEqual(server.times(), [0, 30_250, 60_750, 91_750]);
  assert.deepEqual(told, [false, false, false]);
});

test("a refusal that will pass is waited out, never before Retry-After, however often", async () => {
  const refusals = [
    refuse(503, "overloaded", { "retry-after": "3" }),
    refuse(409, "too_many_streams", { "retry-after": "5" }),
    ...Array(6).fill(refuse(503, "unavailable", { "retry-after": "1" })),
  ];
  await using server = await scripted([...refusals, stream([frame(7)])]);
  assert.deepEqual(await some(server.client().events.stream(), 1), ["7"]);
  const [first = 0, second = 0, third = 0] = server.times();
  assert.deepEqual([second - first, third - second], [3250, 5500]);
  assert.equal(server.arrivals.length, refusals.length + 1);
});

for (const [status, code, name] of [
  [400, "invalid_parameter", "BadRequestError"],
  [401, "revoked_api_key", "AuthenticationError"],
  [403, "key_banned", "PermissionDeniedError"],
  [410, "events_expired", "GoneError"],
] as const)
  test(`a refusal where a retry cannot help is thrown: ${code}`, async () => {
    await using server = await scripted([
      stream([frame(7)]),
      refuse(status, code, { "x-should-retry": "false" }),
    ]);
    const ids: string[] = [];
    const reading = (async () => {
      for await (const { id } of server.client().events.stream()) ids.push(id);
    })();
    await assert.rejects(reading, (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.name, error.code], [name, code]);
      return true;
    });
    assert.deepEqual(ids, ["7"]);
    assert.equal(server.arrivals.length, 2);
  });

test("an answer that is no stream is thrown after so many tries as are allowed", async () => {
  await using server = await scripted(reply(200, []));
  const events = server.client().events.stream({}, { maxRetries: 1 });
  await assert.rejects(some(events, 1), (error) => error instanceof PetstoreError);
  assert.equal(server.arrivals.length, 2);
});

test("an event that cannot be read is asked for again, and not passed over", async () => {
  const broken = "id: 8\ndata: {\n\n";
  await using server = await scripted([stream([frame(7), broken]), stream([frame(8)])]);
  assert.deepEqual(await some(server.client().events.stream(), 2), ["7", "8"]);
  await using other = await scripted(stream([broken]));
  const events = other.client().events.stream({}, { maxRetries: 1 });
  await assert.rejects(some(events, 1), { name: "UnreadableAnswerError" });
  assert.equal(events.lastEventId, undefined);
});

test("an abort ends the loop quietly: while it waits for events, and while it waits to connect again", async () => {
  for (const script of [stream([frame(7)], "is silent"), [stream([frame(7)]), refuse(503, "unavailable")]]) {
    await using server = await scripted(script);
    const stopping = new AbortController();
    const ids: string[] = [];
    for await (const { id } of server.client().events.stream({}, { signal: stopping.signal })) {
      ids.push(id);
      setTimeout(() => stopping.abort(), 30);
    }
    assert.deepEqual([...new Set(ids)], ["7"]);
  }
});

test("an abort leaves out events that have come already", async () => {
  await using server = await scripted(stream([frame(7) + frame(8) + frame(9)], "is silent"));
  const stopping = new AbortController();
  const ids: string[] = [];
  for await (const { id } of server.client().events.stream({}, { signal: stopping.signal })) {
    ids.push(id);
    stopping.abort();
  }
  assert.deepEqual(ids, ["7"]);
});

test("an abort ends the loop where fetch does not listen to it", async () => {
  for (const script of [slowHeaders, stream([frame(7)], "is silent")]) {
    await using server = await scripted(script);
    const stopping = new AbortController();
    const deaf = (url: string, { signal, ...init }: RequestInit) => fetch(url, init);
    const client = server.client({ fetch: deaf, surroundings: {} });
    setTimeout(() => stopping.abort(), 50);
    for await (const { id } of client.events.stream({}, { signal: stopping.signal })) assert.equal(id, "7");
  }
});

test("a loop that is left lets go of its connection", async () => {
  let closed = () => {};
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  await using server = await scripted(({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame(7));
    response.on("close", () => closed());
  });
  assert.deepEqual(await some(server.client().events.stream(), 1), ["7"]);
  await gone;
});
