import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import type { ErrorCode } from "../../src/contract/errors.ts";
import { type Endpoint, successStatus } from "../../src/contract/route.ts";
import { aCall, each, fieldsOf, refused, refusedCalls, theStore } from "../contract/calls.ts";
import { expectCost, Payer } from "../contract/windows.ts";
import { aStore, type Person } from "../harness.ts";
import { QUOTA, simulate } from "./rehearsing.ts";

const store = theStore();
const call = refusedCalls(store);
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
