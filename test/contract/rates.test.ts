import { beforeAll, expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { type ErrorCode, errors } from "../../src/contract/errors.ts";
import { isWrite, successStatus, takesIfMatch, takesIfNoneMatch } from "../../src/contract/route.ts";
import { operator } from "../../src/core/clients.ts";
import { BODY_BYTES, LARGE_BODY_BYTES } from "../../src/http/body.ts";
import { follow } from "../following.ts";
import { NOON, type Person, type Reply, type TestStore } from "../harness.ts";
import { aCall, type Call, each, madeBeside, refused, theStore } from "./calls.ts";
import { aScene, env, type Scene, type Sent } from "./scenes.ts";
import { expectCost, Payer, ratesOf } from "./windows.ts";

const store = theStore(env);
const afterSunset = theStore({ ...env, PET_GET_SUNSET_AT: "2026-11-15T11:00:00Z" });
const counted = everyEndpoint.filter(({ route }) => !route.uncounted);
let revoked: Person;
let expired: Person;
let suspended: Person;

beforeAll(async () => {
  revoked = await store.newPerson("admin");
  expired = await store.newPerson("admin", { expiresAt: NOON });
  suspended = await store.newPerson("admin");
  await store.admin.delete(`/admin/keys/${revoked.keyId}`);
  await store.admin.patch(`/admin/clients/${suspended.clientId}`, { suspended: true });
});

each(everyEndpoint, "costs what it must and says what is left, whatever it answers", async (endpoint) => {
  const scene = await aScene(store, endpoint);
  const { method, route } = endpoint;
  const success = successStatus(route);
  await scene.expect(await scene.newCall(), {}, success);
  const call = await scene.newCall();
  if (method === "GET") await scene.expect(call, { method: "HEAD" }, 200);
  if (takesIfNoneMatch(method, route)) {
    const { headers } = await scene.expect(call, {}, 200);
    await scene.expect(call, { headers: { "if-none-match": headers.get("etag") as string } }, 304);
  }
  await scene.expect(call, { headers: { "api-version": "2" } }, 400);
  await scene.expect(call, { query: "?colour=red" }, 400);
  await scene.expect(call, { headers: { accept: "text/html" } }, 406);
  await scene.expect(call, { query: `?x=${"a".repeat(8200)}` }, 414);
  if (route.params) {
    await scene.expect(call, { path: call.path.replace(/\d+/, "seven") }, 400);
    await scene.expect(call, { path: call.path.replace(/\d+/, "9007199254740993") }, 404);
  }
  if (route.body) {
    await scene.expect(call, { raw: "{" }, 400);
    await scene.expect(call, { headers: { "content-type": "text/plain" } }, 415);
    await scene.expect(call, { raw: '{"colour":"red"}' }, 422);
    const most = route.large ? LARGE_BODY_BYTES : BODY_BYTES;
    await scene.expect(call, { raw: " ".repeat(most + 1) }, 413);
  }
  if (takesIfMatch(method, route)) await scene.expect(call, { headers: { "if-match": '"other"' } }, 412);
  if (isWrite(method)) {
    const headers = { "idempotency-key": "key-1" };
    await scene.expect(call, { headers }, success);
    const replay = await scene.expect(call, { headers }, success);
    expect(replay.headers.get("idempotency-replayed")).toBe("true");
    await scene.expect(call, { headers, query: "?" }, 422);
  }
});

each(everyEndpoint, "costs the network address one request without a valid key", async (endpoint) => {
  const scene = await aScene(store, endpoint);
  const call = await scene.newCall();
  await scene.expect(call, { by: store.nobody }, 401, "address");
  await scene.expect(call, { headers: { "x-api-key": `${call.by.key.slice(0, -1)}!` } }, 401, "address");
  await scene.expect(call, { query: `?key=${call.by.key}` }, 401, "address");
  await scene.expect(call, { by: revoked }, 401, "address");
  await scene.expect(call, { by: expired }, 401, "address");
  await scene.expect(call, { by: suspended }, 403, "address");
  await scene.expect(call, {}, successStatus(endpoint.route));
});

each(
  everyEndpoint.filter(({ route }) => route.role !== "customer"),
  "costs a client one request whose role is too low",
  async (endpoint) => {
    const scene = await aScene(store, endpoint);
    const call = await scene.newCall();
    const clerk = await store.newPerson("customer", { clientId: scene.person.clientId });
    for (let each = 0; each < 2; each++) await scene.expect(call, { by: clerk }, 403);
  },
);

each(counted, "costs nothing while the key is banned, and one again afterwards", async (endpoint) => {
  const scene = await aScene(store, endpoint);
  const call = await scene.newCall();
  const colleague = await store.newPerson("admin", { clientId: scene.person.clientId });
  await scene.expect(call, { by: colleague, headers: { accept: "text/html" } }, 406);
  const ban = `/admin/keys/${colleague.keyId}/ban`;
  expect((await store.admin.put(ban, { minutes: 1 })).status).toBe(200);
  for (let each = 0; each < 2; each++) {
    const { headers, body } = await scene.expect(call, { by: colleague }, 403, "client", 0);
    expect(body.code).toBe("key_banned");
    const until = Date.parse(/until (\S+Z)/.exec(body.message)?.[1] as string);
    expect(headers.get("retry-after")).toBe(String(Math.ceil((until - store.clock.now) / 1000)));
  }
  store.clock.now += 60_000;
  await scene.expect(call, { by: colleague, headers: { accept: "text/html" } }, 406);
});

each(counted, "costs nothing when the minute is spent, and is answered when it is over", async (endpoint) => {
  const person = await store.newPerson("admin", { quota: { perMinute: 2, perDay: 10 } });
  const book = new Payer(2, 10);
  const call = await aCall(store, endpoint, person);
  const send = (accept: string) => call.send({ headers: { accept } });
  for (let each = 0; each < 2; each++) expectCost(await send("text/html"), book, 1, store.clock.now);
  store.clock.now += 900;
  for (let each = 0; each < 3; each++) {
    const reply = await refused(store, "rate_limit_exceeded", () => send("*/*"));
    expectCost(reply, book, 0, store.clock.now);
    const wait = Number(reply.headers.get("x-ratelimit-reset")) - Math.floor(store.clock.now / 1000);
    expect(reply.headers.get("retry-after")).toBe(String(wait));
    expect(reply.body.message).toContain(`Wait ${wait} s`);
  }
  store.clock.now = Number(ratesOf(await send("*/*"))["x-ratelimit-reset"]) * 1000 - 1;
  const last = await refused(store, "rate_limit_exceeded", () => send("*/*"));
  expect(last.headers.get("retry-after")).toBe("1");
  store.clock.now += 1;
  const reply = await send("*/*");
  expect(reply.status).toBe(successStatus(endpoint.route));
  expectCost(reply, book, 1, store.clock.now);
});

each(counted, "costs nothing when the day is spent, and says that a retry is no use", async (endpoint) => {
  const person = await store.newPerson("admin", { quota: { perMinute: 1, perDay: 1 } });
  const book = new Payer(1, 1);
  const call = await aCall(store, endpoint, person);
  expectCost(await call.send({ headers: { accept: "text/html" } }), book, 1, store.clock.now);
  const reply = await refused(store, "daily_quota_exceeded", () => call.send());
  expectCost(reply, book, 0, store.clock.now);
  const midnight = (Math.floor(store.clock.now / 86_400_000) + 1) * 86_400;
  expect(reply.headers.get("x-ratelimit-reset")).toBe(String(midnight));
  expect(reply.headers.get("retry-after")).toBe(String(midnight - Math.floor(store.clock.now / 1000)));
});

/** How each operation that can collide is made to: what is sent instead of its own call. */
const collisions: Readonly<
  Partial<Record<string, (scene: Scene, call: Call) => Promise<[Sent, ErrorCode]>>>
> = {
  "pets.replace": heldByAnOrder({ status: "sold" }),
  "pets.update": heldByAnOrder({ status: "sold" }),
  "pets.remove": heldByAnOrder(),
  "categories.remove": async ({ store: { staff } }, { path }) => {
    await staff.post("/pets", { name: "Rex", categoryId: Number(path.split("/").at(-1)) });
    return [{}, "category_in_use"];
  },
  "orders.place": async ({ store: of }) => {
    const { id: petId } = await of.aPet(1);
    return [{ raw: JSON.stringify({ petId, quantity: 2 }) }, "insufficient_stock"];
  },
  "orders.update": async () => [{ raw: '{"quantity":1000}' }, "insufficient_stock"],
  "orders.cancel": async ({ store: { staff } }, { path }) => {
    expect((await staff.patch(path, { complete: true })).status).toBe(200);
    return [{}, "order_complete"];
  },
  "webhooks.create": async ({ store: of, person }, { body }) => {
    for (let each = 0; each < 20; each++) await madeBeside(of, person, "webhooks.create", { body });
    return [{}, "too_many_webhooks"];
  },
  "webhooks.update": operatorsWebhook,
  "webhooks.remove": operatorsWebhook,
  "webhooks.ping": disabledWebhook,
  "webhooks.replay": disabledWebhook,
  "webhooks.deliveries.resend": disabledWebhook,
  "account.keys.create": async ({ store: of, person }) => [{}, await withAllKeys(of, person.clientId)],
  "account.keys.rotate": async ({ store: of, person }) => [{}, await withAllKeys(of, person.clientId)],
  "admin.keys.create": async ({ store: of }, { path }) => [
    {},
    await withAllKeys(of, Number(path.split("/")[3])),
  ],
  "admin.keys.rotate": async ({ store: of }, { path }) => {
    const { body } = await of.admin.get(path.replace("/rotation", ""));
    return [{}, await withAllKeys(of, body.clientId)];
  },
  "events.stream": async (scene, call) => {
    const hold = async (): Promise<Reply> => {
      const { response } = await follow(scene.store.url, scene.person);
      return { status: response.status, headers: response.headers, text: "", body: undefined };
    };
    const most = scene.store.config.maxStreamsPerClient;
    for (let each = 0; each < most; each++) await scene.expect({ ...call, send: hold }, {}, 200);
    return [{}, "too_many_streams"];
  },
  "admin.clients.create": async () => [{ raw: '{"name":"operator"}' }, "operator_client"],
  "admin.clients.update": async ({ store: { beside, clock } }) => {
    const { id } = await beside.transact((writes) => operator(writes, clock.now));
    return [{ path: `/admin/clients/${id}`, raw: '{"suspended":true}' }, "operator_client"];
  },
  "admin.clients.remove": async ({ store: of }, { path }) => {
    const owner = await of.newPerson("customer", { clientId: Number(path.split("/").at(-1)) });
    await owner.post("/store/orders", {});
    return [{}, "client_has_open_orders"];
  },
};

async function disabledWebhook({ store: of, person }: Scene, { path }: Call): Promise<[Sent, ErrorCode]> {
  const webhookId = Number(path.split("/")[2]);
  await madeBeside(of, person, "webhooks.update", { webhookId, body: { enabled: false } });
  return [{}, "webhook_disabled"];
}

async function operatorsWebhook({ store: of, person }: Scene, { path }: Call): Promise<[Sent, ErrorCode]> {
  const webhookId = Number(path.split("/")[2]);
  await madeBeside(of, person, "admin.webhooks.update", { webhookId, body: { enabled: false } });
  return [{}, "webhook_disabled_by_operator"];
}

function heldByAnOrder(change?: object) {
  return async ({ store: of }: Scene, { path, body }: Call): Promise<[Sent, ErrorCode]> => {
    const petId = Number(path.split("/").at(-1));
    expect((await of.customer.post("/store/orders", { petId })).status).toBe(201);
    const raw = change && { raw: JSON.stringify({ ...(body as object), ...change }) };
    return [raw ?? {}, "pet_has_open_orders"];
  };
}

/** Gives a client all the keys that it may have. */
async function withAllKeys({ beside }: TestStore, clientId: number): Promise<ErrorCode> {
  const working = (await beside.db.value(
    `select count(*) from api_keys where client_id = ${clientId}`,
  )) as number;
  for (let each = working; each < 100; each++)
    await beside.db.exec(`insert into api_keys (client_id, role, hash, last_four, created_at)
      values (${clientId}, 'customer', '${clientId}/${each}', 'abcd', ${NOON})`);
  return "too_many_keys";
}

const colliding = everyEndpoint.filter(({ route }) =>
  route.errors.some((code) => errors[code].status === 409),
);

each(colliding, "costs one request that the store's rules refuse", async (endpoint) => {
  const collision = collisions[endpoint.id];
  if (!collision) throw new Error(`Say in test/contract/rates.test.ts how ${endpoint.id} collides.`);
  const scene = await aScene(store, endpoint);
  const call = await scene.newCall();
  const [sent, code] = await collision(scene, call);
  const { body } = await scene.expect(call, sent, 409);
  expect(body.code).toBe(code);
});

each(
  everyEndpoint.filter(({ route }) => route.successor),
  "costs one request after its sunset",
  async (endpoint) => {
    const scene = await aScene(afterSunset, endpoint);
    const call = await scene.newCall();
    for (let each = 0; each < 2; each++) await scene.expect(call, {}, 410);
  },
);

for (const [path, [endpoint]] of Map.groupBy(everyEndpoint, (each) => each.path)) {
  test(`${path} costs one request for a method that it does not have, for OPTIONS, and for what is beyond it`, async () => {
    const scene = await aScene(store, endpoint!);
    const call = await scene.newCall();
    await scene.expect(call, { method: missingMethod(path), raw: "" }, 405, "client", 1);
    await scene.expect(call, { method: "OPTIONS", raw: "" }, 204, "client", 1);
    await scene.expect(call, { path: `${call.path}/nothing/here` }, 404, "client", 1);
    await scene.expect(call, { by: store.nobody, path: `${call.path}/nothing/here` }, 404, "address");
    await scene.expect(call, { by: store.nobody, method: "OPTIONS", raw: "" }, 204, "address");
  });
}

/** A method that the path does not have. */
function missingMethod(path: string): string {
  const has = new Set<string>(everyEndpoint.filter((each) => each.path === path).map(({ method }) => method));
  return ["PUT", "DELETE", "PATCH", "POST"].find((method) => !has.has(method)) as string;
}
