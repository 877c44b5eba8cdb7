// What requests cost while something is wrong with the server.
import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import type { Endpoint } from "../../src/contract/route.ts";
import { aStore } from "../harness.ts";
import { aCall, type Call, refused } from "./calls.ts";
import { halfSent } from "./raw.ts";
import { ANONYMOUS, env } from "./scenes.ts";
import { expectCost, Payer, ratesOf } from "./windows.ts";

test("every operation costs nothing when the server sheds it, and says what is left", async () => {
  await using busy = await aStore({ ...env, MAX_PENDING_REQUESTS: "1" });
  const calls: [Endpoint, Call][] = [];
  for (const endpoint of everyEndpoint) calls.push([endpoint, await aCall(busy, endpoint)]);
  const person = await busy.newPerson("admin", { quota: { perMinute: 5, perDay: 50 } });
  const [client, address] = [new Payer(5, 50), new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay)];
  // A server that sheds looks no key up, so it must know this one, and have noticed that it is new.
  await Bun.sleep(1000);
  expectCost(await person.get("/pets"), client, 1, busy.clock.now);
  using first = await halfSent(busy);
  for (let reply = await busy.admin.get("/pets"); reply.status !== 503; )
    reply = await busy.admin.get("/pets");
  const headers = { "x-forwarded-for": "10.2.0.1" };
  for (const [endpoint, call] of calls) {
    const reply = await refused(busy, "overloaded", () => call.send({ by: person }));
    expect([endpoint.id, ratesOf(reply)]).toEqual([endpoint.id, client.headers(busy.clock.now)]);
    const without = await refused(busy, "overloaded", () => call.send({ by: busy.nobody, headers }));
    expect([endpoint.id, ratesOf(without)]).toEqual([endpoint.id, address.headers(busy.clock.now)]);
  }
  await first.finish();
  expectCost(await person.get("/pets"), client, 1, busy.clock.now);
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
