import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import type { ErrorCode } from "../../src/contract/errors.ts";

import { type Endpoint, successStatus } from "../../src/contract/route.ts";
import { aCall, each, fieldsOf, refused, refusedCalls, theStore } from "../contract/calls.ts";
import { expectCost, Payer } from "../contract/windows.ts";
import { aStore, type Person, type Reply } from "../harness.ts";

const store = theStore();
const call = refusedCalls(store);
const QUOTA = { perMinute: 50, perDay: 500 };
const everywhere = ["rate_limit", "daily_quota", "ban", "unavailable"];
const codes: Readonly<Record<string, ErrorCode>> = {
  rate_limit: "rate_limit_exceeded",
  daily_quota: "daily_quota_exceeded",
  ban: "key_banned",
  unavailable: "unavailable",
  sunset: "operation_sunset",
  insufficient_stock: "insufficient_stock",
};

/** What can be rehearsed on an endpoint. */
function playsOf({ id, route }: Endpoint): string[] {
  const stock = id === "orders.place" || id === "orders.update" ? ["insufficient_stock"] : [];
  return [...everywhere, ...(route.successor ? ["sunset"] : []), ...stock];
}

function simulate(what: string): { prefer: string } {
  return { prefer: `simulate=${what}` };
}

async function aPerson(): Promise<{ person: Person; book: Payer }> {
  const person = await store.newPerson("admin", { quota: QUOTA });
  return { person, book: new Payer(QUOTA.perMinute, QUOTA.perDay) };
}

each(
  everyEndpoint,
  "rehearses each refusal that it can give, changes nothing and adds no strike",
  async (endpoint) => {
    const { person } = await aPerson();
    const { send } = await aCall(store, endpoint, person);
    for (const what of playsOf(endpoint)) {
      const reply = await refused(store, codes[what] as ErrorCode, () => send({ headers: simulate(what) }));
      expect(reply.headers.get("preference-applied")).toBe(`simulate=${what}`);
    }
    // Long after the grace, where the real thing would be a strike and then a ban.
    store.clock.now += 3_000;
    for (let each = 0; each < 25; each++) await send({ headers: simulate("rate_limit") });
    const { body } = await person.get("/account/limits");
    expect([body.strikes.count, body.banLevel, body.bannedUntil]).toEqual([0, 0, undefined]);
    expect((await send()).status).toBe(successStatus(endpoint.route));
  },
);

each(everyEndpoint, "costs one request for a rehearsal, like everything else", async (endpoint) => {
  const { person, book } = await aPerson();
  const { send } = await aCall(store, endpoint, person);
  const cost = endpoint.route.uncounted ? 0 : 1;
  for (const what of playsOf(endpoint)) {
    const reply = await send({ headers: simulate(what) });
    if (what === "rate_limit" || what === "daily_quota") book.pays(cost, store.clock.now);
    else expectCost(reply, book, cost, store.clock.now);
  }
  const unknown = await send({ headers: simulate("earthquake") });
  expect(unknown.status).toBe(400);
  expectCost(unknown, book, cost, store.clock.now);
});

each(
  everyEndpoint,
  "refuses a rehearsal that it does not know or cannot give, by the header's name",
  async (endpoint) => {
    const { send } = await call(endpoint);
    const possible = playsOf(endpoint);
    for (const what of ["sunset", "insufficient_stock", "earthquake", "rate-limit", "rate_limited", "500"]) {
      if (possible.includes(what)) continue;
      const reply = await refused(store, "invalid_parameter", () => send({ headers: simulate(what) }));
      expect(fieldsOf(reply)).toEqual(["Prefer"]);
      expect(reply.body.message).toContain(what);
      expect(reply.headers.get("preference-applied")).toBeNull();
    }
  },
);

each(everyEndpoint, "ignores every other preference", async (endpoint) => {
  for (const prefer of [
    "respond-async",
    "return=minimal",
    "handling=strict; wait=10",
    "x-simulate=ban",
    'foo="a, simulate=ban"',
    'foo="a\\", simulate=ban", wait=10',
    "",
  ]) {
    const { send } = await aCall(store, endpoint);
    const reply = await send({ headers: { prefer } });
    expect([prefer, reply.status]).toEqual([prefer, successStatus(endpoint.route)]);
    expect(reply.headers.get("preference-applied")).toBeNull();
  }
});

each(
  everyEndpoint,
  "rehearses only for who may ask, and only what the order of the checks lets through",
  async (endpoint) => {
    const { send } = await call(endpoint);
    const headers = simulate("unavailable");
    await refused(store, "missing_api_key", () => send({ by: store.nobody, headers }));
    await refused(store, "unsupported_version", () => send({ headers: { ...headers, "api-version": "2" } }));
    await refused(store, "not_acceptable", () => send({ headers: { ...headers, accept: "text/html" } }));
    if (endpoint.route.role !== "customer")
      await refused(store, "forbidden", () => send({ by: store.customer, headers }));
  },
);

for (const name of ["constructor", "__proto__", "hasownproperty", "valueof"]) {
  test(`${name} is no rehearsal, whatever the language means by it`, async () => {
    const reply = await refused(store, "invalid_parameter", () =>
      store.customer.get("/pets", simulate(name)),
    );
    expect(fieldsOf(reply)).toEqual(["Prefer"]);
  });
}

test("a rehearsal without a value is refused, so that nothing is done by mistake", async () => {
  for (const prefer of ["simulate=", 'simulate=""', "simulate", "simulate=, respond-async"]) {
    const before = await store.snapshot();
    const { status } = await store.staff.post("/categories", { name: "Birds" }, { prefer });
    expect([prefer, status]).toEqual([prefer, 400]);
    expect((await store.snapshot()) === before).toBe(true);
  }
});

test("a rehearsal is asked for in any case, in quotes, among other preferences and in a line of its own", async () => {
  for (const prefer of [
    "simulate=ban",
    "Simulate=BAN",
    'simulate="ban"',
    "respond-async, simulate=ban",
    "simulate=ban,respond-async",
    "simulate=ban; when=now",
    "return=minimal,simulate=ban",
    'foo="a, b", simulate="ban"',
  ]) {
    const reply = await store.customer.get("/pets", { prefer });
    expect([prefer, reply.body.code]).toEqual([prefer, "key_banned"]);
    expect(reply.headers.get("preference-applied")).toBe("simulate=ban");
  }
});

test("a rehearsed write is not kept for its idempotency key, and does not use the key up", async () => {
  const headers = { "idempotency-key": "rehearsed" };
  const place = (more = {}) => store.staff.post("/categories", { name: "Birds" }, { ...headers, ...more });
  await refused(store, "unavailable", () => place(simulate("unavailable")));
  const done = await place();
  expect([done.status, done.headers.get("idempotency-replayed")]).toEqual([201, null]);
  await refused(store, "unavailable", () => place(simulate("unavailable")));
});

test("HEAD is rehearsed like GET, without the body", async () => {
  const reply = await store.customer.send("HEAD", "/pets", { headers: simulate("rate_limit") });
  expect([reply.status, reply.text]).toEqual([429, ""]);
  expect(reply.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
});

/** What must be equal between the rehearsal and the real thing. */
function shapeOf(reply: Reply) {
  const {
    "x-request-id": _id,
    date: _date,
    "preference-applied": _applied,
    ...rest
  } = Object.fromEntries(reply.headers);
  const body = Object.fromEntries(Object.entries(reply.body).map(([name, value]) => [name, typeof value]));
  return {
    status: reply.status,
    code: reply.body.code,
    names: Object.keys(rest).sort(),
    retry: rest["x-should-retry"],
    cache: rest["cache-control"],
    body,
  };
}

test("a rehearsed 429 is the real one, on the minute", async () => {
  const quota = { perMinute: 3, perDay: 30 };
  const [rehearsing, real] = [
    await store.newPerson("customer", { quota }),
    await store.newPerson("customer", { quota }),
  ];
  await rehearsing.get("/pets");
  const played = await rehearsing.get("/pets", simulate("rate_limit"));
  for (let each = 0; each < 3; each++) await real.get("/pets");
  const met = await real.get("/pets");
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.text).toBe(met.text);
  expect(played.headers.get("retry-after")).toBe(met.headers.get("retry-after") as string);
  const names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-policy"];
  for (const name of names) expect([name, played.headers.get(name)]).toEqual([name, met.headers.get(name)]);
  expect(played.headers.get("ratelimit")).toStartWith('"minute";r=0;t=60, ');
});

test("a rehearsed 429 is the real one, on the day", async () => {
  const quota = { perMinute: 3, perDay: 3 };
  const [rehearsing, real] = [
    await store.newPerson("customer", { quota }),
    await store.newPerson("customer", { quota }),
  ];
  const played = await rehearsing.get("/pets", simulate("daily_quota"));
  for (let each = 0; each < 3; each++) await real.get("/pets");
  const met = await real.get("/pets");
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.text).toBe(met.text);
  for (const name of ["retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    expect([name, played.headers.get(name)]).toEqual([name, met.headers.get(name)]);
});

test("a rehearsed spent window is the one that the headers show, even when the other is as good as spent", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 1 } });
  const { headers, body } = await person.get("/pets", simulate("rate_limit"));
  expect(body.code).toBe("rate_limit_exceeded");
  const wait = Number(headers.get("x-ratelimit-reset")) - Math.floor(store.clock.now / 1000);
  expect(headers.get("retry-after")).toBe(String(wait));
});

test("a rehearsed ban is the real first one", async () => {
  const [rehearsing, real] = [await store.newPerson("customer"), await store.newPerson("customer")];
  await store.admin.put(`/admin/keys/${real.keyId}/ban`, { minutes: store.config.banMinutes[0] });
  const [played, met] = [await rehearsing.get("/pets", simulate("ban")), await real.get("/pets")];
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.text).toBe(met.text);
  expect(played.headers.get("retry-after")).toBe("300");
  expect((await rehearsing.get("/pets")).status).toBe(200);
});

test("a rehearsed end of stock is the real one, of the pet and the units that were asked for, and takes no stock", async () => {
  const [{ id: petId }, { id: otherId }] = [await store.aPet(2), await store.aPet(1)];
  const asked = (units: number, pet: number, more = "") =>
    `Asked for ${units} of pet ${pet}${more}, 0 in stock. Staff restock with PUT /store/inventory/${pet}.`;
  const place = (body: object, headers = {}) => store.customer.post("/store/orders", body, headers);
  const short = simulate("insufficient_stock");
  const met = await place({ petId, quantity: 3 });
  const played = await place({ petId, quantity: 3 }, short);
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.body.message).toBe(met.body.message.replace("2 in stock", "0 in stock"));
  expect((await place({ petId }, short)).body.message).toBe(asked(1, petId));

  const { body: order } = await place({ petId });
  const change = (body: object) => store.customer.patch(`/store/orders/${order.id}`, body, short);
  expect((await change({ quantity: 3 })).body.message).toBe(asked(3, petId, ", 2 more than the order has"));
  expect((await change({ petId: otherId, quantity: 4 })).body.message).toBe(asked(4, otherId));
  expect((await store.customer.get(`/store/inventory/${petId}`)).body.quantity).toBe(1);
});

test("a rehearsed end of stock wants an order that could be placed or changed, as the real one does", async () => {
  const short = simulate("insufficient_stock");
  const place = (sent: object) => store.customer.send("POST", "/store/orders", { headers: short, ...sent });
  await refused(store, "invalid_json", () => place({ raw: "{" }));
  await refused(store, "invalid_body", () => place({ body: { quantity: 0 } }));
  await refused(store, "order_not_found", () => store.customer.patch("/store/orders/999999", {}, short));
  await refused(store, "unsupported_media_type", () =>
    place({ raw: "{}", headers: { ...short, "content-type": "text/plain" } }),
  );
});

test("a rehearsed sunset is the real one, with the same notice", async () => {
  await using over = await aStore({ PET_GET_SUNSET_AT: "2026-11-15T11:00:00Z" });
  const [mine, theirs] = [await store.aPet(), await over.aPet()];
  const played = await store.customer.get(`/pets/${mine.id}`, simulate("sunset"));
  const met = await over.customer.get(`/pets/${theirs.id}`);
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.body.message).toContain("GET /store/pets/{petId}");
  expect(played.headers.get("link")).toContain('rel="successor-version"');
});

test("a rehearsed outage has what every fault of the server has", async () => {
  await using broken = await aStore();
  const played = await broken.staff.post("/categories", { name: "Birds" }, simulate("unavailable"));
  await broken.beside.db.exec("alter table categories rename to lost_categories");
  const met = await broken.staff.post("/categories", { name: "Birds" });
  expect(met.status).toBeGreaterThanOrEqual(500);
  expect(shapeOf(played)).toEqual({ ...shapeOf(met), status: 503, code: "unavailable" });
});

test("a limited or banned key gets the real refusal, not the rehearsed one", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 10 } });
  await person.get("/pets");
  const limited = await person.get("/pets", simulate("unavailable"));
  expect([limited.body.code, limited.headers.get("preference-applied")]).toEqual([
    "rate_limit_exceeded",
    null,
  ]);
  await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
  const banned = await person.get("/pets", simulate("unavailable"));
  expect([banned.body.code, banned.headers.get("preference-applied")]).toEqual(["key_banned", null]);
});

test("a page may ask for a rehearsal and read that it was one", async () => {
  await using open = await aStore({ CORS_ORIGINS: "https://shop.example" });
  const origin = { origin: "https://shop.example" };
  const asked = await fetch(`${open.url}/pets`, {
    method: "OPTIONS",
    headers: {
      ...origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "prefer",
    },
  });
  expect(asked.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("prefer");
  const { headers } = await open.customer.get("/pets", { ...origin, ...simulate("ban") });
  expect(headers.get("access-control-expose-headers")?.toLowerCase()).toContain("preference-applied");
});
