import { expect, test } from "bun:test";
import { CreatedKey } from "../../src/contract/access-shapes.ts";
import { everyEndpoint } from "../../src/contract/api.ts";
import { isWrite, successStatus, takesIfMatch } from "../../src/contract/route.ts";
import { CreatedWebhook } from "../../src/contract/webhook-shapes.ts";
import type { Reply } from "../harness.ts";
import { aCall, each, fieldsOf, refused, refusedCalls, theStore } from "./calls.ts";

const store = theStore();
const call = refusedCalls(store);
const writes = everyEndpoint.filter(({ method }) => isWrite(method));
const withBodies = writes.filter(({ route }) => route.body);
const DAY_MS = 24 * 60 * 60 * 1000;
const USED_KEY = "used-for-a-draft";
const secrets = writes.filter(
  ({ route }) => route.returns === CreatedKey || route.returns === CreatedWebhook,
);

let last = 0;
/** A key that was never used. */
function newKey(): string {
  return `key-${++last}`;
}

function keyed(key: string): { "idempotency-key": string } {
  return { "idempotency-key": key };
}

function isReplay(reply: Reply): boolean {
  return reply.headers.get("idempotency-replayed") === "true";
}

/** What a replay must repeat: all but a secret, which is told once. */
function lasting({ status, body, headers }: Reply) {
  const { key: _key, secret: _secret, ...rest } = body ?? {};
  return {
    status,
    body: Array.isArray(body) ? body : rest,
    etag: headers.get("etag"),
    location: headers.get("location"),
    type: headers.get("content-type"),
  };
}

each(writes, "is done once, and answers a repetition as it answered first", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  const first = await send({ headers });
  expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([
    successStatus(endpoint.route),
    null,
  ]);
  const after = await store.snapshot();
  for (const again of [await send({ headers }), await send({ headers })]) {
    expect(isReplay(again)).toBe(true);
    expect(lasting(again)).toEqual(lasting(first));
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id") as string);
  }
  expect((await store.snapshot()) === after).toBe(true);
});

each(writes, "refuses a key that was used with another path or method", async (endpoint) => {
  const { send, by } = await call(endpoint);
  expect((await by.post("/store/orders", {}, keyed(USED_KEY))).status).toBe(201);
  const { body } = await refused(store, "idempotency_key_reused", () => send({ headers: keyed(USED_KEY) }));
  expect(body.message).toContain(USED_KEY);
});

each(withBodies, "refuses a key that was used with another body, byte for byte", async (endpoint) => {
  const { send, body } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  expect((await send({ headers })).status).toBe(successStatus(endpoint.route));
  for (const raw of [`${JSON.stringify(body)} `, '{"colour":"red"}', "[]"])
    await refused(store, "idempotency_key_reused", () => send({ headers, raw }));
  expect(isReplay(await send({ headers }))).toBe(true);
});

each(withBodies, "keeps no refusal, so that a mended body is done under the same key", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  await refused(store, "invalid_body", () => send({ headers, raw: '{"colour":"red"}' }));
  await refused(store, "invalid_json", () => send({ headers, raw: "{" }));
  const reply = await send({ headers });
  expect([reply.status, isReplay(reply)]).toEqual([successStatus(endpoint.route), false]);
});

each(
  writes.filter(({ method, route }) => takesIfMatch(method, route)),
  "keeps no refusal, so that it is done under the same key once the ETag is right",
  async (endpoint) => {
    const { send } = await aCall(store, endpoint);
    const headers = keyed(newKey());
    await refused(store, "precondition_failed", () =>
      send({ headers: { ...headers, "if-match": '"other"' } }),
    );
    const reply = await send({ headers });
    expect([reply.status, isReplay(reply)]).toEqual([successStatus(endpoint.route), false]);
    expect(isReplay(await send({ headers: { ...headers, "if-match": '"other"' } }))).toBe(true);
  },
);

each(writes, "repeats its answer for 24 hours and not longer", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  const first = await send({ headers });
  store.clock.now += DAY_MS - 1;
  const again = await send({ headers });
  expect([isReplay(again), lasting(again)]).toEqual([true, lasting(first)]);
  store.clock.now += 1;
  const anew = await send({ headers });
  expect(isReplay(anew)).toBe(false);
  expect(anew.body?.code).not.toBe("idempotency_key_reused");
});

const ofOneKey = writes.filter(({ route }) => route.access);
const ofAllKeys = writes.filter(({ route }) => !route.access);

each(ofOneKey, "repeats its answer to the key that asked, and to no other", async (endpoint) => {
  const { send, by } = await aCall(store, endpoint);
  const colleague = await store.newPerson(endpoint.route.role, { clientId: by.clientId });
  const rival = await store.newPerson(endpoint.route.role);
  const headers = keyed(newKey());
  expect((await send({ headers })).status).toBe(successStatus(endpoint.route));
  await refused(store, "idempotency_key_reused", () => send({ by: colleague, headers }));
  const other = await send({ by: rival, headers });
  expect(other.body?.code).not.toBe("idempotency_key_reused");
  expect(isReplay(other)).toBe(false);
  expect(isReplay(await send({ headers }))).toBe(true);
});

each(ofAllKeys, "repeats its answer to all keys of the client, and to no other client", async (endpoint) => {
  const { send, by } = await aCall(store, endpoint);
  const colleague = await store.newPerson(endpoint.route.role, { clientId: by.clientId });
  const rival = await store.newPerson(endpoint.route.role);
  const headers = keyed(newKey());
  expect((await send({ headers })).status).toBe(successStatus(endpoint.route));
  expect(isReplay(await send({ by: colleague, headers }))).toBe(true);
  const other = await send({ by: rival, headers });
  expect(isReplay(other)).toBe(false);
  expect(other.body?.code).not.toBe("idempotency_key_reused");
});

each(writes, "takes a key of 1 to 255 visible characters and no other", async (endpoint) => {
  const { send } = await call(endpoint);
  for (const key of ["", "x".repeat(256), "two words", "tab\there", "\u00e9"]) {
    const reply = await refused(store, "invalid_parameter", () => send({ headers: keyed(key) }));
    expect(fieldsOf(reply)).toEqual(["Idempotency-Key"]);
  }
  for (const key of [`${newKey()}!"#$%&'()*+,-./:;<=>?@[]^_{|}~`, newKey().padEnd(255, "x")]) {
    const fresh = await aCall(store, endpoint);
    expect((await fresh.send({ headers: keyed(key) })).status).toBe(successStatus(endpoint.route));
  }
});

each(
  everyEndpoint.filter(({ method }) => !isWrite(method)),
  "is a read and needs no idempotency key",
  async (endpoint) => {
    const { send } = await aCall(store, endpoint);
    const headers = keyed(USED_KEY);
    for (const reply of [await send({ headers }), await send({ headers })])
      expect([reply.status, isReplay(reply)]).toEqual([200, false]);
  },
);

each(writes, "is done once however many repetitions arrive together", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  const kept = async () =>
    store.beside.db.value(`select count(*) from kept_answers where key = '${headers["idempotency-key"]}'`);
  const replies = await Promise.all(Array.from({ length: 20 }, () => send({ headers })));
  const done = replies.filter(({ status }) => status === successStatus(endpoint.route));
  expect(done.filter((reply) => !isReplay(reply))).toHaveLength(1);
  expect(new Set(done.map((reply) => JSON.stringify(lasting(reply)))).size).toBe(1);
  for (const { body } of replies.filter((reply) => !done.includes(reply)))
    expect(body.code).toBe("idempotency_in_progress");
  expect(await kept()).toBe(1);
  expect(await store.findings()).toEqual([]);
});

test("what returns a secret is what makes or rotates a key, or the secret of a webhook", () => {
  expect(secrets.map(({ id }) => id)).toEqual([
    "webhooks.create",
    "webhooks.rotate",
    "account.keys.create",
    "account.keys.rotate",
    "admin.keys.create",
    "admin.keys.rotate",
  ]);
});

each(secrets, "tells its secret once: a repetition has all but that, and none is kept", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  const first = await send({ headers });
  const { key, secret = key, ...rest } = first.body;
  if (key) expect((await store.nobody.get("/account", { "x-api-key": key })).status).toBe(200);
  for (const again of [await send({ headers }), await send({ headers })]) {
    expect([again.status, isReplay(again)]).toEqual([successStatus(endpoint.route), true]);
    expect(again.body).toEqual(rest);
    expect(again.text).not.toMatch(/ps_live_|whsec_/);
  }
  expect(secret).toMatch(/^(ps_live_|whsec_)/);
  expect(await store.snapshot()).not.toContain(secret);
  expect(store.logged()).not.toContain(secret);
});

each(secrets, "says in its description that a repetition has no secret", async ({ route }) => {
  expect(route.description).toMatch(
    /a repetition with the same `Idempotency-Key` (gives its record without|not again)/,
  );
});

each(secrets, "tells its secret to one of many repetitions that arrive together", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const headers = keyed(newKey());
  const replies = await Promise.all(Array.from({ length: 10 }, () => send({ headers })));
  expect(replies.filter(({ body }) => (body.key ?? body.secret) !== undefined)).toHaveLength(1);
});

test("a key that was used to replace a record is not good to change it with the same body", async () => {
  const { id, categoryId } = await store.aPet();
  for (const [path, body] of [
    [`/pets/${id}`, { name: "Max", categoryId }],
    [`/categories/${categoryId}`, { name: "Hounds" }],
  ] as const) {
    const headers = keyed(newKey());
    expect((await store.staff.put(path, body, headers)).status).toBe(200);
    await refused(store, "idempotency_key_reused", () => store.staff.patch(path, body, headers));
  }
});

test("an order that the stock refused is placed by the same request once there is stock", async () => {
  const { id: petId } = await store.aPet(1);
  const headers = keyed(newKey());
  const place = () => store.customer.post("/store/orders", { petId, quantity: 2 }, headers);
  await refused(store, "insufficient_stock", place);
  await store.staff.put(`/store/inventory/${petId}`, { quantity: 2 });
  const placed = await place();
  expect([placed.status, isReplay(placed)]).toEqual([201, false]);
  expect((await place()).text).toBe(placed.text);
});
