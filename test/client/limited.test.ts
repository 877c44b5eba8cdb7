// The client against a real server that limits it, or rehearses that it does.
import { expect, test } from "bun:test";
import { ApiError, Petstore } from "../../client/src/index.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { movedClock } from "./moved-clock.ts";

const FREE = { perMinute: 60, perDay: 1000 };

/** The statuses of everything that a key was answered with, from the server's log. */
function statusesOf(on: TestStore, { keyId }: Person): number[] {
  return on
    .logged()
    .split("\n")
    .filter((line) => line.includes(`"keyId":${keyId},`) || line.includes(`"keyId":${keyId}}`))
    .map((line) => JSON.parse(line).status);
}

for (const calls of [200, 500]) {
  test(`${calls} calls at once on a Free key all succeed: no strike, and no request more than needed`, async () => {
    await using own = await aStore();
    const person = await own.newPerson("customer", { quota: FREE });
    const started = own.clock.now;
    const { fetch, surroundings } = movedClock(own.clock);
    const client = new Petstore({ baseUrl: own.url, apiKey: person.key, fetch, surroundings });
    const pages = await Promise.all(Array.from({ length: calls }, () => client.pets.list()));

    expect(pages).toHaveLength(calls);
    expect(statusesOf(own, person)).toEqual(Array(calls).fill(200));
    const { strikes, day, bannedUntil } = await client.account.limits();
    expect([strikes.count, bannedUntil]).toEqual([0, undefined]);
    expect(day.remaining).toBe(FREE.perDay - calls);
    const windows = Math.ceil(calls / FREE.perMinute);
    expect(own.clock.now - started).toBeLessThan(windows * 61_000);
  });
}

test("writes wait for their turn as well, and each is done once", async () => {
  await using own = await aStore();
  const pet = await own.aPet(1000);
  const person = await own.newPerson("customer", { quota: FREE });
  const { fetch, surroundings } = movedClock(own.clock);
  const client = new Petstore({ baseUrl: own.url, apiKey: person.key, fetch, surroundings });
  const orders = await Promise.all(Array.from({ length: 130 }, () => client.orders.place({ petId: pet.id })));
  expect(new Set(orders.map(({ id }) => id)).size).toBe(130);
  expect((await client.inventory.get(pet.id)).quantity).toBe(870);
  expect(new Set(statusesOf(own, person))).toEqual(new Set([201, 200]));
  expect(await own.findings()).toEqual([]);
});

test("the daily quota is met with an error that says when to come back, and with no strike", async () => {
  await using own = await aStore();
  const person = await own.newPerson("customer", { quota: { perMinute: 60, perDay: 10 } });
  const { fetch, surroundings } = movedClock(own.clock);
  const client = new Petstore({ baseUrl: own.url, apiKey: person.key, fetch, surroundings });
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => client.pets.list()));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  for (const outcome of outcomes)
    if (outcome.status === "rejected")
      expect(outcome.reason.message).toMatch(/spent for 43200 s.*Come back at/);
  expect(statusesOf(own, person)).toEqual(Array(10).fill(200));
});

test("a rehearsed fault is met as the real one", async () => {
  await using own = await aStore();
  const { fetch, surroundings } = movedClock(own.clock);
  const started = own.clock.now;
  const tries: string[] = [];
  const logger = { warn: () => {}, debug: (text: string) => void tries.push(text) };
  const client = new Petstore({ baseUrl: own.url, apiKey: own.customer.key, fetch, surroundings, logger });
  const rehearsal = (simulate: string) => ({ headers: { Prefer: `simulate=${simulate}` }, maxRetries: 2 });
  const error = await client.pets.list({}, rehearsal("unavailable")).catch((reason) => reason);
  expect([error.name, error.code, tries.length]).toEqual(["ServerError", "unavailable", 2]);
  expect(own.clock.now - started).toBe(2000 + 250 + 500);
  const banned = await client.pets.list({}, rehearsal("ban")).catch((reason) => reason);
  expect([banned.code, banned.retryAfterSeconds, tries.length]).toEqual(["key_banned", 300, 2]);
  const stock = await client.orders.place({}, rehearsal("insufficient_stock")).catch((reason) => reason);
  expect(stock instanceof ApiError && stock.code).toBe("insufficient_stock");
  const limited = await client.pets.list({}, rehearsal("rate_limit")).catch((reason) => reason);
  expect([limited.name, tries.length]).toEqual(["RateLimitError", 4]);
});

test("a rehearsal holds up no other call", async () => {
  await using own = await aStore();
  const person = await own.newPerson("customer", { quota: FREE });
  const { fetch, surroundings } = movedClock(own.clock);
  const started = own.clock.now;
  const client = new Petstore({ baseUrl: own.url, apiKey: person.key, fetch, surroundings });
  for (const simulate of ["daily_quota", "rate_limit"]) {
    const rehearsal = { headers: { Prefer: `simulate=${simulate}` }, maxRetries: 0 };
    const limited = await client.pets.list({}, rehearsal).catch((reason) => reason);
    expect(limited.name).toBe("RateLimitError");
    await client.pets.list();
    const asked = await client.account.limits(rehearsal).catch((reason) => reason);
    expect(asked.name).toBe("RateLimitError");
    await client.pets.list();
  }
  expect(own.clock.now).toBe(started);

  // What was rehearsed is counted all the same: the rest of the minute is sent, and not one more.
  await Promise.all(Array.from({ length: FREE.perMinute - 5 }, () => client.pets.list()));
  expect(statusesOf(own, person).filter((status) => status === 429)).toHaveLength(4);
  expect((await client.account.limits()).strikes.count).toBe(0);
});

test("a client that spent its day goes on when its plan gives it more, as soon as it asks for its limits", async () => {
  await using own = await aStore();
  const { client, raise } = await aSpentDay(own);
  await raise();
  own.clock.now += 1;
  expect((await client.account.limits()).day.remaining).toBe(90);
  await Promise.all(Array.from({ length: 50 }, () => client.pets.list()));
});

test("a client that spent its day asks now and then whether that still holds, at no cost", async () => {
  await using own = await aStore();
  const { client, person, raise } = await aSpentDay(own);
  const sent = () => statusesOf(own, person).length;
  own.clock.now += 61_000;
  for (let calls = 0; calls < 3; calls += 1)
    expect((await client.pets.list().catch((reason) => reason)).name).toBe("PaceError");
  expect(sent()).toBe(11);
  await raise();
  own.clock.now += 61_000;
  await client.pets.list();
  await Promise.all(Array.from({ length: 49 }, () => client.pets.list()));
  expect(statusesOf(own, person)).toEqual(Array(62).fill(200));
  expect((await client.account.limits()).strikes.count).toBe(0);
});

/** A client that has sent the ten requests of its day, and what makes them a hundred. */
async function aSpentDay(own: TestStore) {
  const person = await own.newPerson("customer", { quota: { perMinute: 60, perDay: 10 } });
  const { fetch, surroundings } = movedClock(own.clock);
  const client = new Petstore({ baseUrl: own.url, apiKey: person.key, fetch, surroundings });
  await Promise.all(Array.from({ length: 10 }, () => client.pets.list()));
  expect((await client.pets.list().catch((reason) => reason)).name).toBe("PaceError");
  const raise = () => own.admin.patch(`/admin/clients/${person.clientId}`, { perMinute: 60, perDay: 100 });
  return { client, person, raise };
}
