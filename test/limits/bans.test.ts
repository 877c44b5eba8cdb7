import { describe, expect, test } from "bun:test";
import { aStore, NOON, type Person, type TestStore } from "../harness.ts";
import {
  ask,
  askTimes,
  DAY,
  eventsOf,
  getBanned,
  limitsOf,
  MINUTE,
  oneAMinute,
  PAST_GRACE,
  SECOND,
  spendMinute,
} from "./spending.ts";

/** How long a ban that was earned now lasts. */
async function banMinutes(store: TestStore, person: Person): Promise<number> {
  const { bannedUntil } = await limitsOf(person);
  return (Date.parse(bannedUntil) - store.clock.now) / MINUTE;
}

/** Another process writes for a while: the ban holds in memory until it can be kept. */
async function bannedButNotKept(store: TestStore): Promise<Person> {
  const person = await oneAMinute(store);
  await ask(person);
  store.clock.now += MINUTE;
  await store.beside.db.holdUp();
  await getBanned(store, person);
  return person;
}

describe("a ban", () => {
  test("refuses everything but the question for the limits, and costs nothing", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    store.clock.now += 2 * MINUTE;
    const used = (await limitsOf(person)).day;
    for (const send of [
      () => person.get("/pets"),
      () => person.post("/store/orders", {}),
      () => person.get("/nowhere"),
      () => person.delete("/pets"),
      () => person.get("/account"),
    ])
      expect((await send()).body.code).toBe("key_banned");
    const { bannedUntil, day, minute } = await limitsOf(person);
    expect(bannedUntil).toBe(new Date(store.clock.now + 3 * MINUTE).toISOString());
    expect(day).toEqual(used);
    expect(minute.remaining).toBe(1);
  });

  test("is not lengthened by requests, and ends when it said", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    const end = store.clock.now + 5 * MINUTE;
    for (let minute = 0; minute < 5; minute++) {
      expect(await askTimes(person, 30)).toEqual({ 403: 30 });
      store.clock.now += 50 * SECOND;
    }
    store.clock.now = end - 1;
    const last = await ask(person);
    expect([last.status, last.headers.get("retry-after")]).toEqual([403, "1"]);
    store.clock.now = end;
    expect((await ask(person)).status).toBe(200);
    expect(await limitsOf(person)).toMatchObject({ strikes: { count: 0 }, banLevel: 1, nextBanMinutes: 15 });
  });

  test("says to the second how long it still lasts, and that is enough", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    store.clock.now += 1234;
    const wait = Number((await ask(person)).headers.get("retry-after"));
    expect(wait).toBe(299);
    store.clock.now += wait * SECOND;
    expect((await ask(person)).status).toBe(200);
  });

  test("is longer than the one before, up to a day, and each full good day takes a level off", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    const lengths: number[] = [];
    for (let ban = 0; ban < 5; ban++) {
      await getBanned(store, person);
      const minutes = await banMinutes(store, person);
      lengths.push(minutes);
      await eventsOf(store, "key.banned", ban + 1);
      store.clock.now += minutes * MINUTE;
    }
    expect(lengths).toEqual([5, 15, 60, 1440, 1440]);

    expect((await limitsOf(person)).banLevel).toBe(5);
    store.clock.now += DAY - 1;
    expect((await limitsOf(person)).banLevel).toBe(5);
    store.clock.now += 1;
    expect((await limitsOf(person)).banLevel).toBe(4);
    store.clock.now += 3 * DAY;
    expect(await limitsOf(person)).toMatchObject({ banLevel: 1, nextBanMinutes: 15 });
    await getBanned(store, person);
    expect(await banMinutes(store, person)).toBe(15);
  });

  test("earned on the daily quota ends with the day, and the key has its new day's requests", async () => {
    await using store = await aStore();
    const person = await store.newPerson("customer", { quota: { perMinute: 1000, perDay: 3 } });
    store.clock.now = Date.parse("2026-11-15T23:57:57.999Z");
    expect(await askTimes(person, 4)).toEqual({ 200: 3, 429: 1 });
    store.clock.now += PAST_GRACE;
    expect(await askTimes(person, 21)).toEqual({ 429: 20, 403: 1 });
    const { headers } = await ask(person);
    expect(headers.get("retry-after")).toBe("120");
    store.clock.now = Date.parse("2026-11-16T00:00:00Z");
    expect(await askTimes(person, 3)).toEqual({ 200: 3 });
  });

  test("is listed while it is in force, with its cause and level", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    await eventsOf(store, "key.banned", 1);
    const { body } = await store.admin.get("/admin/bans");
    expect(body).toEqual([
      {
        keyId: person.keyId,
        clientId: person.clientId,
        cause: "strikes",
        level: 1,
        since: new Date(store.clock.now).toISOString(),
        until: new Date(store.clock.now + 5 * MINUTE).toISOString(),
      },
    ]);
    store.clock.now += 5 * MINUTE;
    expect((await store.admin.get("/admin/bans")).body).toEqual([]);
  });

  test("that is kept late does not end the next one before that is kept too", async () => {
    await using store = await aStore();
    const person = await bannedButNotKept(store);
    await Bun.sleep(50);
    store.clock.now += 5 * MINUTE;
    await getBanned(store, person);
    const asking = Promise.all(Array.from({ length: 8 }, () => askTimes(person, 100)));
    await store.beside.db.letGo();
    for (const statuses of await asking) expect(statuses).toEqual({ 403: 100 });
    expect(await eventsOf(store, "key.banned", 2)).toHaveLength(2);
  });

  test("that cannot be kept holds up changes of access for a moment, not for as long as it takes", async () => {
    await using store = await aStore();
    await bannedButNotKept(store);
    const refused = await Promise.all(
      [1, 2, 3].map(() => store.admin.post("/admin/clients", { name: "Hasty", plan: "free" })),
    );
    await store.beside.db.letGo();
    for (const { status, body } of refused)
      expect({ status, code: body.code }).toEqual({ status: 503, code: "unavailable" });
    await eventsOf(store, "key.banned", 1);
    const { body: clients } = await store.admin.get("/admin/clients");
    expect(clients.map(({ name }: { name: string }) => name)).not.toContain("Hasty");
    expect((await store.admin.post("/admin/clients", { name: "Patient", plan: "free" })).status).toBe(201);
  });

  test("goes over to the key that takes the place of a banned one", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    await eventsOf(store, "key.banned", 1);
    const made = await store.admin.post(`/admin/keys/${person.keyId}/rotation`, { overlapDays: 0 });
    const headers = { "x-api-key": made.body.key };
    const limits = await (await fetch(`${store.url}/account/limits`, { headers })).json();
    expect(limits).toMatchObject({
      banLevel: 1,
      bannedUntil: new Date(store.clock.now + 5 * MINUTE).toISOString(),
    });
    expect((await fetch(`${store.url}/pets`, { headers })).status).toBe(403);
  });

  test("cannot be walked around with a new key of the same client", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    const other = await oneAMinute(store, person.clientId);
    await getBanned(store, person);
    await eventsOf(store, "key.banned", 1);
    store.clock.now += MINUTE;
    const { status, body } = await other.post("/account/keys", {});
    expect({ status, code: body.code }).toEqual({ status: 403, code: "key_banned" });
  });
});

describe("what is told of it", () => {
  test("a warning at the tenth strike, then the ban, each once and to the client alone", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    const { keyId, clientId } = person;
    await spendMinute(store, person);
    await askTimes(person, 9);
    expect(await eventsOf(store, "key.strike_warning", 1)).toEqual([]);
    await ask(person);
    expect(await eventsOf(store, "key.strike_warning", 1)).toEqual([
      {
        type: "key.strike_warning",
        subject: `keys/${keyId}`,
        clientId,
        data: { keyId, clientId, strikes: 10, threshold: 20 },
      },
    ]);
    await askTimes(person, 30);
    const until = new Date(store.clock.now + 5 * MINUTE).toISOString();
    expect(await eventsOf(store, "key.banned", 1)).toEqual([
      {
        type: "key.banned",
        subject: `keys/${keyId}`,
        clientId,
        data: { keyId, clientId, cause: "strikes", level: 1, until },
      },
    ]);
    expect(await eventsOf(store, "key.strike_warning", 1)).toHaveLength(1);
  });

  test("a warning when 80 % of the day are used, once a day", async () => {
    await using store = await aStore();
    const person = await store.newPerson("customer", { quota: { perMinute: 1000, perDay: 10 } });
    const { clientId } = person;
    await askTimes(person, 7);
    expect(await eventsOf(store, "quota.warning", 1)).toEqual([]);
    await askTimes(person, 5);
    const resetAt = Date.parse("2026-11-16T00:00:00Z") / 1000;
    const warning = {
      type: "quota.warning",
      subject: `clients/${clientId}`,
      clientId,
      data: { clientId, limit: 10, used: 8, resetAt },
    };
    expect(await eventsOf(store, "quota.warning", 1)).toEqual([warning]);
    store.clock.now += DAY;
    await askTimes(person, 9);
    const all = await eventsOf(store, "quota.warning", 2);
    expect(all.map(({ data }) => data.resetAt)).toEqual([resetAt, resetAt + 86_400]);
  });

  test("a key that was let go again", async () => {
    await using store = await aStore();
    const { keyId, clientId } = store.customer;
    await store.admin.put(`/admin/keys/${keyId}/ban`, { minutes: 10, reason: "leaked" });
    await store.admin.delete(`/admin/keys/${keyId}/ban`);
    const until = new Date(NOON + 10 * MINUTE).toISOString();
    expect((await store.events()).filter(({ type }) => type.startsWith("key."))).toEqual([
      {
        type: "key.banned",
        subject: `keys/${keyId}`,
        clientId,
        data: { keyId, clientId, cause: "admin", level: 0, until },
      },
      { type: "key.unbanned", subject: `keys/${keyId}`, clientId, data: { keyId, clientId } },
    ]);
  });
});

test("the settings make another rule", async () => {
  await using store = await aStore({
    BAN_STRIKES: "3",
    BAN_GRACE_SECONDS: "10",
    BAN_STRIKE_WINDOW_SECONDS: "20",
    BAN_MINUTES: "1,2",
  });
  const person = await oneAMinute(store);
  await askTimes(person, 2);
  store.clock.now += 10 * SECOND;
  expect(await askTimes(person, 10)).toEqual({ 429: 10 });
  expect(await limitsOf(person)).toMatchObject({
    strikes: { count: 0, threshold: 3, windowSeconds: 20, graceSeconds: 10 },
    nextBanMinutes: 1,
  });
  store.clock.now += 1;
  await askTimes(person, 2);
  store.clock.now += 20 * SECOND;
  expect((await limitsOf(person)).strikes.count).toBe(0);
  expect(await askTimes(person, 4)).toEqual({ 429: 3, 403: 1 });
  expect(await banMinutes(store, person)).toBe(1);
  for (const [kept, minutes] of [
    [1, 2],
    [2, 2],
  ] as const) {
    await eventsOf(store, "key.banned", kept);
    store.clock.now += 2 * MINUTE;
    await askTimes(person, 2);
    store.clock.now += 10 * SECOND + 1;
    expect(await askTimes(person, 4)).toEqual({ 429: 3, 403: 1 });
    expect(await banMinutes(store, person)).toBe(minutes);
  }
});
