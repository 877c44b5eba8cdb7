import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, PaceError } from "../../../client/src/index.ts";
import { refuse, reply, resetBeforeHeaders, type Step, scripted, slowHeaders } from "../scripted.ts";

const MINUTE = 60_000;

interface Limiter {
  readonly step: Step;
  /** Requests that were refused. */
  refused: number;
  /** Requests that others sent with the same key. */
  others(count: number): void;
}

/** A fixed window that opens at the whole second of its first request, as the server has it. */
function limiter(perMinute: number, perDay = 100_000, answerAfterMs: () => number = () => 0): Limiter {
  let openedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  let today = 0;
  const limits: Limiter = {
    refused: 0,
    others(sent) {
      count += sent;
    },
    step(exchange) {
      const seconds = Math.floor(exchange.clock.now() / 1000);
      if (seconds >= openedAt + 60) {
        openedAt = seconds;
        count = 0;
      }
      const isRefused = count >= perMinute || today >= perDay;
      if (isRefused) limits.refused += 1;
      else {
        count += 1;
        today += 1;
      }
      const reset = openedAt + 60 - seconds;
      const headers: Record<string, string> = {
        "ratelimit-policy": `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
        ratelimit: `"minute";r=${Math.max(0, perMinute - count)};t=${reset}, "day";r=${perDay - today};t=${86_400 - seconds}`,
      };
      if (isRefused) headers["retry-after"] = String(reset);
      const answer = isRefused ? refuse(429, "rate_limit_exceeded", headers) : reply(200, [], headers);
      setTimeout(() => answer(exchange), answerAfterMs());
    },
  };
  return limits;
}

test("the first call goes alone until its headers are known", async () => {
  let isAnswered = false;
  const limits = limiter(60);
  await using server = await scripted((exchange) => {
    if (exchange.arrival.path !== "/pets?limit=1") assert.ok(isAnswered);
    setTimeout(() => {
      isAnswered = true;
      limits.step(exchange);
    }, 20);
  });
  const client = server.client();
  await Promise.all([1, 2, 3, 4].map((limit) => client.pets.list({ limit })));
  assert.equal(server.arrivals.length, 4);
});

for (const [calls, perMinute] of [
  [200, 60],
  [7, 1],
  [61, 60],
  [60, 60],
] as const) {
  test(`${calls} calls at once with ${perMinute} a minute: none is refused, and none waits longer than it must`, async () => {
    const limits = limiter(perMinute, 100_000, () => Math.random() * 5);
    await using server = await scripted(limits.step);
    const client = server.client();
    await Promise.all(Array.from({ length: calls }, () => client.pets.list()));
    assert.equal(limits.refused, 0);
    assert.equal(server.arrivals.length, calls);
    const minutes = server.times().map((at) => Math.floor(at / MINUTE));
    assert.deepEqual(
      minutes,
      Array.from({ length: calls }, (_, index) => Math.floor(index / perMinute)),
    );
  });
}

test("a wait is counted from the answer's arrival, whatever the server's clock says", async () => {
  const lastOne = reply(200, [], {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "4102444830",
    date: new Date(4102444800_000).toUTCString(),
  });
  await using server = await scripted([lastOne, reply(200, [])]);
  const client = server.client();
  await client.pets.list();
  await client.pets.list();
  assert.deepEqual(server.times(), [0, 30_000]);
});

test("others with the same key are noticed: what is refused is waited for and tried again", async () => {
  const limits = limiter(10);
  await using server = await scripted(limits.step);
  const client = server.client();
  await client.pets.list();
  limits.others(9);
  await Promise.all([client.pets.list(), client.pets.list(), client.pets.list()]);
  assert.ok(limits.refused <= 3);
  assert.ok(
    server
      .times()
      .slice(4)
      .every((at) => at >= MINUTE),
  );
});

test("a spent day fails at once and says when to come back", async () => {
  const limits = limiter(60, 2);
  await using server = await scripted(limits.step);
  const client = server.client();
  await Promise.all([client.pets.list(), client.pets.list()]);
  await assert.rejects(client.pets.list(), (error) => {
    assert.ok(error instanceof PaceError);
    assert.match(
      error.message,
      /^GET \/pets was not sent: the rate limit is spent for 86400 s, .*maxPaceWaitMs \(600 s\)\. Come back at \d{4}-/,
    );
    assert.equal(error.retryAfterSeconds, 86_400);
    return true;
  });
  assert.equal(server.arrivals.length, 2);
});

test("a turn that does not come within maxPaceWaitMs is given up, and the others still come", async () => {
  const limits = limiter(1);
  await using server = await scripted(limits.step);
  const client = server.client({ maxPaceWaitMs: 130_000 });
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => client.pets.list()));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected", "rejected"],
  );
  assert.deepEqual(server.times(), [0, 60_000, 120_000]);
  assert.equal(limits.refused, 0);
});

test("a call that is given up in the queue lets the next one go", async () => {
  const limits = limiter(1);
  await using server = await scripted(limits.step);
  const client = server.client();
  await client.pets.list();
  const controller = new AbortController();
  const aborted = client.pets.list({}, { signal: controller.signal });
  const next = client.categories.list();
  controller.abort(new Error("enough"));
  await assert.rejects(aborted, /enough/);
  await next;
  assert.deepEqual(
    server.arrivals.map(({ path }) => path),
    ["/pets", "/categories"],
  );
});

test("what costs nothing waits for no turn", async () => {
  const limits = limiter(1);
  await using server = await scripted(limits.step);
  const client = server.client();
  await client.pets.list();
  const waiting = client.pets.list();
  await client.account.limits({ maxRetries: 0 }).catch(() => {});
  assert.equal(server.clock.now(), 0);
  await waiting;
  assert.equal(server.clock.now(), 60_000);
});

test("a server that tells of no limit is not held back", async () => {
  await using server = await scripted(reply(200, []));
  const client = server.client();
  await Promise.all(Array.from({ length: 20 }, () => client.pets.list()));
  assert.deepEqual(server.times(), Array(20).fill(0));
});

test("where only Retry-After can be read, it holds all calls", async () => {
  await using server = await scripted([
    reply(200, []),
    refuse(429, "rate_limit_exceeded", { "retry-after": "30" }),
    reply(200, []),
  ]);
  const client = server.client();
  await client.pets.list();
  const refused = client.pets.list();
  await server.clock.until(1000);
  await Promise.all([refused, client.pets.list(), client.pets.list()]);
  assert.ok(
    server
      .times()
      .slice(2)
      .every((at) => at >= 30_000),
  );
  assert.equal(server.arrivals.length, 5);
});

test("a scout that came to nothing is followed by two, then four: a dead server stops nobody for long", async () => {
  await using server = await scripted(slowHeaders);
  const client = server.client({ timeoutMs: 1000, maxRetries: 0 });
  const outcomes = await Promise.allSettled(Array.from({ length: 7 }, () => client.pets.list()));
  assert.ok(outcomes.every((each) => each.status === "rejected" && each.reason instanceof ConnectionError));
  assert.deepEqual(server.times(), [0, 1000, 1000, 2000, 2000, 2000, 2000]);
});

test("a window that ended while nobody asked is scouted anew", async () => {
  const limits = limiter(5);
  await using server = await scripted(limits.step);
  const client = server.client();
  await client.pets.list();
  await server.clock.until(10 * MINUTE);
  limits.others(0);
  await Promise.all(Array.from({ length: 6 }, () => client.pets.list()));
  assert.equal(limits.refused, 0);
  assert.deepEqual(server.times().slice(-1), [11 * MINUTE]);
});

test("a request that was lost may have been counted, so one less is sent", async () => {
  const limits = limiter(4);
  let lost = 0;
  await using server = await scripted((exchange) => {
    if (exchange.arrival.path === "/categories" && lost === 0) {
      lost += 1;
      limits.others(1);
      resetBeforeHeaders(exchange);
    } else limits.step(exchange);
  });
  const client = server.client();
  await client.pets.list();
  await client.categories.list();
  await Promise.all([client.pets.list(), client.pets.list()]);
  assert.equal(limits.refused, 0);
});

test("without pace every call goes at once, and what is refused is tried again", async () => {
  const limits = limiter(2);
  await using server = await scripted(limits.step);
  const client = server.client({ pace: false });
  await Promise.all([client.pets.list(), client.pets.list(), client.pets.list()]);
  assert.equal(limits.refused, 1);
  assert.deepEqual(server.times(), [0, 0, 0, 60_000]);
});
