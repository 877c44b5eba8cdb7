import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, PaceError } from "../../../client/src/index.ts";
import { windowsSeen } from "../../../client/src/windows.ts";
import { limiter } from "../limiter.ts";
import { refuse, reply, resetBeforeHeaders, scripted, slowHeaders } from "../scripted.ts";

const MINUTE = 60_000;

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
    const limits = limiter(perMinute);
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
  await using server = await scripted((exchange) => {
    if (exchange.arrival.path !== "/categories") return limits.step(exchange);
    limits.others(1);
    resetBeforeHeaders(exchange);
  });
  const client = server.client();
  await client.pets.list();
  await assert.rejects(client.categories.list({}, { maxRetries: 0 }), ConnectionError);
  await Promise.all([client.pets.list(), client.pets.list(), client.pets.list()]);
  assert.equal(limits.refused, 0);
});

test("a call that was refused goes before those that have not been sent yet", async () => {
  const limits = limiter(2);
  await using server = await scripted(limits.step);
  const client = server.client();
  await client.pets.list();
  limits.others(1);
  const refused = client.categories.list();
  await server.clock.until(1000);
  const { account, inventory, orders, pets } = client;
  await Promise.all([refused, orders.list(), inventory.list(), account.get(), pets.list()]);
  assert.equal(limits.refused, 1);
  assert.deepEqual(server.arrivals.map(({ path }) => path).slice(2), [
    "/categories",
    "/store/orders",
    "/store/inventory",
    "/account",
    "/pets",
  ]);
});

test("a gateway's 429 without rate headers is forgotten when the server's own are back", async () => {
  const limits = limiter(60);
  let isBusy = true;
  await using server = await scripted((exchange) => {
    if (!isBusy) return setTimeout(() => limits.step(exchange), 10) as unknown as undefined;
    isBusy = false;
    refuse(429, "rate_limit_exceeded", { "retry-after": "10" })(exchange);
  });
  const client = server.client();
  await client.pets.list();
  let underWay = 0;
  let most = 0;
  const counted = server.client({
    fetch: async (url, init) => {
      underWay += 1;
      most = Math.max(most, underWay);
      return server.clock.fetch(url, init).finally(() => {
        underWay -= 1;
      });
    },
  });
  isBusy = true;
  await counted.pets.list();
  await server.clock.until(server.clock.now() + 20_000);
  await Promise.all(Array.from({ length: 5 }, () => counted.pets.list()));
  assert.equal(most, 5);
});

test("an answer that comes late tells nothing of the window that followed", () => {
  const windows = windowsSeen();
  const told = (minute: string) => new Response("[]", { headers: { ratelimit: `"minute";${minute}` } });
  windows.learn(told("r=50;t=60"), 70_000, 70_100);
  windows.learn(told("r=0;t=2"), 58_000, 75_000);
  assert.equal(windows.standing(75_000).remaining, 50);
  windows.learn(told("r=59;t=60"), 140_000, 140_100);
  assert.equal(windows.standing(140_100).remaining, 59);
});

test("an answer that was asked for after the last one may tell of more room; one under way may not", () => {
  const windows = windowsSeen();
  const told = (remaining: number) =>
    new Response("[]", { headers: { ratelimit: `"day";r=${remaining};t=5000` } });
  windows.learn(told(0), 1000, 1100);
  windows.learn(told(3), 1050, 1200);
  assert.ok(windows.standing(1200).spentUntil > 1200);
  windows.learn(told(90), 1300, 1400);
  assert.equal(windows.standing(1400).remaining, 90);
});

test("nothing is left waiting when a call is over", async () => {
  await using server = await scripted([resetBeforeHeaders, refuse(503, "overloaded"), reply(200, [])]);
  await server.client().pets.list();
  assert.equal(server.clock.sleepers(), 0);
});

test("without pace every call goes at once, and what is refused is tried again", async () => {
  const limits = limiter(2);
  await using server = await scripted(limits.step);
  const client = server.client({ pace: false });
  await Promise.all([client.pets.list(), client.pets.list(), client.pets.list()]);
  assert.equal(limits.refused, 1);
  assert.deepEqual(server.times(), [0, 0, 0, 60_000]);
});
