import { beforeAll, expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { type ErrorCode, errors } from "../../src/contract/errors.ts";
import { type Endpoint, isWrite, successStatus, takesIfMatch } from "../../src/contract/route.ts";
import { operator } from "../../src/core/clients.ts";
import { BODY_BYTES, LARGE_BODY_BYTES } from "../../src/http/body.ts";
import { follow } from "../following.ts";
import { aStore, NOON, type Person, type Reply, type TestStore } from "../harness.ts";
import { aCall, type Call, each, madeBeside, refused, theStore } from "./calls.ts";
import { expectCost, Payer, ratesOf } from "./windows.ts";

const ANONYMOUS = { perMinute: 400, perDay: 900 };
const env = {
  TRUST_PROXY: "1",
  ANONYMOUS_PER_MINUTE: String(ANONYMOUS.perMinute),
  ANONYMOUS_PER_DAY: String(ANONYMOUS.perDay),
};
const store = theStore(env);
const afterSunset = theStore({ ...env, PET_GET_SUNSET_AT: "2026-11-15T11:00:00Z" });
const counted = everyEndpoint.filter(({ route }) => !route.uncounted);

/** A minute that is tighter, a day that is tighter, and two that are equal. */
const quotas = [
  { perMinute: 300, perDay: 10_000 },
  { perMinute: 10_000, perDay: 300 },
  { perMinute: 500, perDay: 500 },
];

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

type Sent = NonNullable<Parameters<Call["send"]>[0]>;

/** Somebody with quotas and a network address of their own, and the book of both. */
interface Scene {
  readonly store: TestStore;
  readonly endpoint: Endpoint;
  readonly person: Person;
  newCall(): Promise<Call>;
  /** Sends a call, and holds status and headers against the book. */
  expect(
    call: Call,
    sent: Sent,
    status: number,
    payer?: "client" | "address",
    requests?: number,
  ): Promise<Reply>;
}

let scenes = 0;

async function aScene(endpoint: Endpoint, of: TestStore = store): Promise<Scene> {
  const quota = quotas[++scenes % quotas.length] as (typeof quotas)[number];
  const network = `10.1.${scenes >> 8}.${scenes & 255}`;
  const person = await of.newPerson("admin", { quota });
  const book = {
    client: new Payer(quota.perMinute, quota.perDay),
    address: new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay),
  };
  return {
    store: of,
    endpoint,
    person,
    newCall: () => aCall(of, endpoint, person),
    async expect(call, sent, status, payer = "client", requests) {
      // Not a whole second, so that windows are crossed at their edges and in between.
      of.clock.now += 1_300;
      const cost = requests ?? (payer === "client" && endpoint.route.uncounted ? 0 : 1);
      const reply = await call.send({ ...sent, headers: { "x-forwarded-for": network, ...sent.headers } });
      expect({ status: reply.status, text: reply.text }).toEqual({ status, text: reply.text });
      expectCost(reply, book[payer], cost, of.clock.now);
      return reply;
    },
  };
}

each(everyEndpoint, "costs what it must and says what is left, whatever it answers", async (endpoint) => {
  const scene = await aScene(endpoint);
  const { method, route } = endpoint;
  const success = successStatus(route);
  await scene.expect(await scene.newCall(), {}, success);
  const call = await scene.newCall();
  if (method === "GET") await scene.expect(call, { method: "HEAD" }, 200);
  if (method === "GET" && route.kind === "record") {
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
    const headers = { "idempotency-key": `key-${scenes}` };
    await scene.expect(call, { headers }, success);
    const replay = await scene.expect(call, { headers }, success);
    expect(replay.headers.get("idempotency-replayed")).toBe("true");
    await scene.expect(call, { headers, query: "?" }, 422);
  }
});

each(everyEndpoint, "costs the network address one request without a valid key", async (endpoint) => {
  const scene = await aScene(endpoint);
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
    const scene = await aScene(endpoint);
    const call = await scene.newCall();
    const clerk = await store.newPerson("customer", { clientId: scene.person.clientId });
    for (let each = 0; each < 2; each++) await scene.expect(call, { by: clerk }, 403);
  },
);

each(counted, "costs nothing while the key is banned, and one again afterwards", async (endpoint) => {
  const scene = await aScene(endpoint);
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
  const scene = await aScene(endpoint);
  const call = await scene.newCall();
  const [sent, code] = await collision(scene, call);
  const { body } = await scene.expect(call, sent, 409);
  expect(body.code).toBe(code);
});

each(
  everyEndpoint.filter(({ route }) => route.successor),
  "costs one request after its sunset",
  async (endpoint) => {
    const scene = await aScene(endpoint, afterSunset);
    const call = await scene.newCall();
    for (let each = 0; each < 2; each++) await scene.expect(call, {}, 410);
  },
);

for (const [path, [endpoint]] of Map.groupBy(everyEndpoint, (each) => each.path)) {
  test(`${path} costs one request for a method that it does not have, for OPTIONS, and for what is beyond it`, async () => {
    const scene = await aScene(endpoint!);
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

test("every operation costs nothing when the server sheds it, and says what is left", async () => {
  const { promise: answered, resolve: release } = Promise.withResolvers<void>();
  await using busy = await aStore({ ...env, MAX_PENDING_REQUESTS: "1" });
  const calls: [Endpoint, Call][] = [];
  for (const endpoint of everyEndpoint) calls.push([endpoint, await aCall(busy, endpoint)]);
  const person = await busy.newPerson("admin", { quota: { perMinute: 5, perDay: 50 } });
  const [client, address] = [new Payer(5, 50), new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay)];
  // A server that sheds looks no key up, so it must know this one, and have noticed that it is new.
  await Bun.sleep(1000);
  expectCost(await person.get("/pets"), client, 1, busy.clock.now);
  const { hostname, port, host } = new URL(busy.url);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { open() {}, data: () => release(), close: () => release() },
  });
  socket.write(
    `POST /categories HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${busy.staff.key}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"name":`,
  );
  for (let reply = await busy.admin.get("/pets"); reply.status !== 503; )
    reply = await busy.admin.get("/pets");
  const headers = { "x-forwarded-for": "10.2.0.1" };
  for (const [endpoint, call] of calls) {
    const reply = await refused(busy, "overloaded", () => call.send({ by: person }));
    expect([endpoint.id, ratesOf(reply)]).toEqual([endpoint.id, client.headers(busy.clock.now)]);
    const without = await refused(busy, "overloaded", () => call.send({ by: busy.nobody, headers }));
    expect([endpoint.id, ratesOf(without)]).toEqual([endpoint.id, address.headers(busy.clock.now)]);
  }
  socket.write('"Birds"    }');
  await answered;
  expectCost(await person.get("/pets"), client, 1, busy.clock.now);
  socket.end();
});

test("every operation costs one request when the data store fails, and says what is left", async () => {
  await using broken = await aStore(env);
  const client = new Payer(1000, 10_000);
  const person = await broken.newPerson("admin", { quota: { perMinute: 1000, perDay: 10_000 } });
  const calls: [Endpoint, Call][] = [];
  for (const endpoint of everyEndpoint) calls.push([endpoint, await aCall(broken, endpoint, person)]);
  expectCost(await person.get("/account/limits"), client, 0, broken.clock.now);
  // What keys are looked up with must stay, so these go on.
  const stillWork = [
    "account.limits",
    "account.keys.list",
    "account.keys.get",
    "admin.keys.get",
    "admin.bans.list",
    // It begins where the log ends, and then waits for it to go on.
    "events.stream",
  ];
  const tables = ["pets", "categories", "orders", "movements", "events", "webhooks", "audit", "usage"];
  for (const table of tables) await broken.beside.db.exec(`alter table ${table} rename to lost_${table}`);
  await broken.beside.db.exec("alter table clients rename column name to lost_name");
  for (const [{ id, route }, call] of calls) {
    const reply = await call.send();
    expect([id, reply.status >= 500]).toEqual([id, !stillWork.includes(id)]);
    expectCost(reply, client, route.uncounted ? 0 : 1, broken.clock.now);
  }
});

test("a preflight costs nothing", async () => {
  await using open = await aStore({ ...env, CORS_ORIGINS: "*" });
  const headers = {
    origin: "https://shop.example",
    "access-control-request-method": "GET",
    "x-forwarded-for": "10.3.0.1",
  };
  for (const { path } of everyEndpoint) {
    const preflight = await fetch(open.url + path.replace(/\{\w+\}/g, "1"), { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
  }
  const book = new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay);
  const first = await open.nobody.get("/pets", { "x-forwarded-for": "10.3.0.1" });
  expectCost(first, book, 1, open.clock.now);
});

test("the pages beside the API cost nothing, and a write to one costs one request", async () => {
  const headers = { "x-forwarded-for": "10.4.0.1" };
  for (const page of ["/", "/openapi.json", "/openapi.yaml", "/docs", "/llms.txt", "/livez", "/readyz"])
    for (const method of ["GET", "HEAD"])
      expect(
        (await fetch(store.url + page, { method, headers })).headers.get("x-ratelimit-limit"),
      ).toBeNull();
  const book = new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay);
  expectCost(await store.nobody.send("POST", "/livez", { headers }), book, 1, store.clock.now);
});

test("a window that is not open yet shows all of its requests", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 7, perDay: 70 } });
  const reply = await person.get("/account/limits");
  expectCost(reply, new Payer(7, 70), 0, store.clock.now);
  expect(reply.headers.get("x-ratelimit-remaining")).toBe("7");
  expect(reply.body.minute).toEqual({
    limit: 7,
    remaining: 7,
    resetAt: Math.floor(store.clock.now / 1000) + 60,
  });
});

test("of two windows with as much left, the headers show the one that resets later", async () => {
  await using late = await aStore();
  late.clock.now = Date.parse("2026-11-15T23:59:30.500Z");
  const person = await late.newPerson("customer", { quota: { perMinute: 5, perDay: 5 } });
  const book = new Payer(5, 5);
  const reply = await person.get("/pets");
  expectCost(reply, book, 1, late.clock.now);
  // The minute reaches over midnight, the day ends there.
  expect(reply.headers.get("x-ratelimit-reset")).toBe(String(Date.parse("2026-11-16T00:00:30Z") / 1000));
  late.clock.now = Date.parse("2026-11-16T00:00:00.000Z");
  expectCost(await person.get("/pets"), book, 1, late.clock.now);
  late.clock.now = Date.parse("2026-11-16T00:00:30.000Z");
  expectCost(await person.get("/pets"), book, 1, late.clock.now);
});

test("what tells of the limits answers while the client is limited and the key banned", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 5 } });
  const book = new Payer(1, 5);
  expectCost(await person.get("/pets"), book, 1, store.clock.now);
  expectCost(await person.get("/pets"), book, 0, store.clock.now);
  const limited = await person.get("/account/limits");
  expect([limited.status, limited.body.minute.remaining]).toEqual([200, 0]);
  expectCost(limited, book, 0, store.clock.now);
  await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
  expect((await person.get("/pets")).body.code).toBe("key_banned");
  const banned = await person.get("/account/limits");
  expect([banned.status, Date.parse(banned.body.bannedUntil)]).toEqual([200, store.clock.now + 300_000]);
  expectCost(banned, book, 0, store.clock.now);
});

test("a key may ask for its limits 60 times a minute, and another key of the client as often", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 50 } });
  const colleague = await store.newPerson("customer", { clientId: person.clientId });
  const book = new Payer(5, 50);
  const opened = store.clock.now;
  for (let each = 1; each <= 60; each++) {
    const reply = await person.get("/account/limits");
    expect([each, reply.status]).toEqual([each, 200]);
    expectCost(reply, book, 0, store.clock.now);
  }
  store.clock.now = opened + 20_000;
  const reply = await refused(store, "rate_limit_exceeded", () => person.get("/account/limits"));
  expectCost(reply, book, 0, store.clock.now);
  const wait = Number(reply.headers.get("retry-after"));
  expect(wait).toBeGreaterThanOrEqual(40);
  expect((await colleague.get("/account/limits")).status).toBe(200);
  expectCost(await person.get("/pets"), book, 1, store.clock.now);
  store.clock.now += wait * 1000;
  expect((await person.get("/account/limits")).status).toBe(200);
});

test("a key that is asked too often for its limits gets no strike for it", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 50 } });
  for (let each = 0; each < 61; each++) await person.get("/account/limits");
  store.clock.now += 3_000;
  for (let each = 0; each < 30; each++)
    expect((await person.get("/account/limits")).body.code).toBe("rate_limit_exceeded");
  expect((await person.get("/pets")).status).toBe(200);
  store.clock.now += 60_000;
  expect((await person.get("/account/limits")).body.strikes.count).toBe(0);
});

test("all keys of a client draw on one count, and another client on its own", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 30 } });
  const colleague = await store.newPerson("staff", { clientId: person.clientId });
  const other = await store.newPerson("customer", { quota: { perMinute: 3, perDay: 30 } });
  const book = new Payer(3, 30);
  for (const each of [person, colleague, person])
    expectCost(await each.get("/pets"), book, 1, store.clock.now);
  for (const each of [person, colleague])
    await refused(store, "rate_limit_exceeded", () => each.get("/pets"));
  expectCost(await other.get("/pets"), new Payer(3, 30), 1, store.clock.now);
});

test("a spent network address does not hinder a valid key, and gets no ban", async () => {
  await using small = await aStore({ ANONYMOUS_PER_MINUTE: "2", ANONYMOUS_PER_DAY: "50" });
  const book = new Payer(2, 50);
  for (let each = 0; each < 2; each++) expectCost(await small.nobody.get("/pets"), book, 1, small.clock.now);
  small.clock.now += 10_000;
  for (let each = 0; each < 50; each++) {
    const reply = await refused(small, "rate_limit_exceeded", () => small.nobody.get("/pets"));
    expectCost(reply, book, 0, small.clock.now);
  }
  expect((await small.customer.get("/pets")).status).toBe(200);
  small.clock.now += 50_000;
  expect((await small.nobody.get("/pets")).body.code).toBe("missing_api_key");
});

test("a request whose key cannot be looked up costs its network address, and says what is left", async () => {
  await using broken = await aStore(env);
  const person = await broken.newPerson("customer");
  await broken.beside.db.exec("alter table api_keys rename to lost_api_keys");
  const headers = { "x-forwarded-for": "10.5.0.1" };
  const reply = await fetch(`${broken.url}/pets`, { headers: { ...headers, "x-api-key": person.key } });
  expect(reply.status).toBeGreaterThanOrEqual(500);
  const book = new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay);
  book.pays(1, broken.clock.now);
  expect(Object.fromEntries(reply.headers)).toMatchObject(book.headers(broken.clock.now));
  for (let time = 1; time < ANONYMOUS.perMinute; time++)
    await fetch(`${broken.url}/pets`, { headers: { ...headers, "x-api-key": person.key } });
  const one = await fetch(`${broken.url}/pets`, { headers: { ...headers, "x-api-key": person.key } });
  expect(one.status).toBeGreaterThanOrEqual(500);
});
