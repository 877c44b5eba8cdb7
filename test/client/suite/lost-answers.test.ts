import assert from "node:assert/strict";
import { test } from "node:test";
import { PetstoreError, UnreadableAnswerError } from "../../../client/src/index.ts";
import { refuse, reply, resetBeforeHeaders, resetMidBody, scripted } from "../scripted.ts";

const date = "Sun, 15 Nov 2026 12:00:00 GMT";

test("a list that is no array is unreadable", async () => {
  await using server = await scripted(reply(200, { welcome: true }));
  await assert.rejects(async () => {
    for await (const _ of server.client({ maxRetries: 0 }).pets.list()) assert.fail("there is no pet");
  }, UnreadableAnswerError);
});

test("of a write whose answer was lost the error says that its outcome is not known, of a read it does not", async () => {
  for (const lost of [resetBeforeHeaders, resetMidBody, reply(201, ""), reply(201, '{"id":1,')]) {
    await using server = await scripted(lost);
    const client = server.client({ maxRetries: 1 });
    const says = /Whether it was done is not known\.$/;
    await assert.rejects(client.orders.place({ petId: 7 }), { message: says });
    assert.equal(server.arrivals.length, 2);
    await assert.rejects(client.pets.list(), (error) => !says.test(String(error)));
  }
});

test("of a write whose answer was lost so says every later error but one for what was asked", async () => {
  const spent = {
    "x-ratelimit-limit": "9",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1794830400",
    date,
  };
  for (const [then, name, isDoubtful] of [
    [refuse(503, "unavailable"), "ServerError", true],
    [refuse(503, "unavailable", { ...spent, "x-should-retry": "true" }), "PaceError", true],
    [refuse(401, "revoked_api_key"), "AuthenticationError", true],
    [refuse(403, "key_banned"), "PermissionDeniedError", true],
    [refuse(429, "rate_limit_exceeded", { "retry-after": "3600" }), "RateLimitError", true],
    [refuse(409, "idempotency_in_progress"), "ConflictError", true],
    [refuse(409, "insufficient_stock"), "ConflictError", false],
    [refuse(412, "precondition_failed"), "PreconditionFailedError", false],
  ] as const) {
    await using server = await scripted([resetBeforeHeaders, then]);
    const client = server.client({ maxRetries: 2, maxPaceWaitMs: 1000 });
    await assert.rejects(client.orders.place({ petId: 7 }), (error) => {
      assert.ok(error instanceof PetstoreError);
      assert.equal(error.name, name);
      assert.equal(/Whether it was done is not known\.$/.test(error.message), isDoubtful, error.message);
      return true;
    });
  }
});
