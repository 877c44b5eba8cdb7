import { describe, expect, test } from "bun:test";
import { eventually, petstore } from "../cli/command.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import {
  ask,
  askTimes,
  DAY,
  eventsOf,
  getBanned,
  limitsOf,
  MINUTE,
  oneAMinute,
  TWO_WRITES_MS,
} from "./spending.ts";

/** What another process changes is seen within this time. */
const SEEN_MS = 1000;

/** A store whose clock stands at the real time, which is what the command goes by. */
async function storeOfNow(): Promise<TestStore> {
  const store = await aStore();
  store.clock.now = Date.now();
  return store;
}

function bans(store: TestStore, ...args: string[]) {
  return petstore(["bans", ...args, "--json", "--database-url", store.config.databaseUrl]);
}

function answers(person: Person, status: number): Promise<boolean> {
  return eventually(async () => (await ask(person)).status === status, SEEN_MS);
}

describe("an admin", () => {
  test("lifts a ban at once, with its strikes, and the level stays", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    const lifted = await store.admin.delete(`/admin/keys/${person.keyId}/ban`);
    expect(lifted.status).toBe(204);
    // The ban is over, and the minute is still spent.
    expect((await ask(person)).body.code).toBe("rate_limit_exceeded");
    const { bannedUntil, strikes, banLevel } = await limitsOf(person);
    expect([bannedUntil, banLevel]).toEqual([undefined, 1]);
    expect(strikes.count).toBeLessThanOrEqual(1);
    store.clock.now += MINUTE;
    expect((await ask(person)).status).toBe(200);
    expect((await store.admin.get("/admin/bans")).body).toEqual([]);
  });

  test("imposes one at once, on one key and for as long as was said", async () => {
    await using store = await aStore();
    const { customer, admin } = store;
    const sibling = await store.newPerson("customer", { clientId: customer.clientId });
    const { status, body } = await admin.put(`/admin/keys/${customer.keyId}/ban`, {
      minutes: 7,
      reason: "Leaked in a repository",
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ cause: "admin", level: 0, reason: "Leaked in a repository" });
    const refused = await ask(customer);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([403, "420"]);
    expect((await ask(sibling)).status).toBe(200);
    store.clock.now += 7 * MINUTE;
    expect((await ask(customer)).status).toBe(200);
    expect((await limitsOf(customer)).banLevel).toBe(0);
  });

  test("puts a shorter ban in the place of a longer one", async () => {
    await using store = await aStore();
    const { customer, admin } = store;
    await admin.put(`/admin/keys/${customer.keyId}/ban`, { minutes: 600 });
    await admin.put(`/admin/keys/${customer.keyId}/ban`, { minutes: 1 });
    expect((await admin.get("/admin/bans")).body).toHaveLength(1);
    expect((await ask(customer)).headers.get("retry-after")).toBe("60");
    store.clock.now += MINUTE;
    expect((await ask(customer)).status).toBe(200);
  });

  test("cannot lift what is not there", async () => {
    await using store = await aStore();
    const { customer, admin } = store;
    expect((await admin.delete(`/admin/keys/${customer.keyId}/ban`)).body.code).toBe("ban_not_found");
    expect((await admin.delete("/admin/keys/999999/ban")).body.code).toBe("key_not_found");
    await admin.put(`/admin/keys/${customer.keyId}/ban`, { minutes: 1 });
    store.clock.now += MINUTE;
    expect((await admin.delete(`/admin/keys/${customer.keyId}/ban`)).body.code).toBe("ban_not_found");
  });

  test("who lifts an imposed ban takes nothing of what good days have gained", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    await eventsOf(store, "key.banned", 1);
    store.clock.now += 5 * MINUTE;
    await getBanned(store, person);
    store.clock.now += 15 * MINUTE + 2 * DAY;
    expect((await limitsOf(person)).banLevel).toBe(0);
    await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
    await store.admin.delete(`/admin/keys/${person.keyId}/ban`);
    expect(await limitsOf(person)).toMatchObject({ banLevel: 0, nextBanMinutes: 5 });
  });
});

describe("the command beside a running server", () => {
  test("lifts a ban within a second", async () => {
    await using store = await storeOfNow();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    await eventsOf(store, "key.banned", 1);
    store.clock.now += MINUTE;
    expect((await ask(person)).status).toBe(403);
    const { code, stderr } = await bans(store, "lift", String(person.keyId));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await answers(person, 200)).toBe(true);
    expect((await limitsOf(person)).strikes.count).toBe(0);
    expect(await eventsOf(store, "key.unbanned", 1)).toHaveLength(1);
  });

  test("imposes one within a second and lists it", async () => {
    await using store = await storeOfNow();
    const { customer } = store;
    expect((await ask(customer)).status).toBe(200);
    const imposed = await bans(
      store,
      "impose",
      String(customer.keyId),
      "--minutes",
      "60",
      "--reason",
      "leak",
    );
    expect(imposed.code).toBe(0);
    expect(await answers(customer, 403)).toBe(true);
    const { stdout } = await bans(store, "list");
    expect(JSON.parse(stdout)).toMatchObject([{ keyId: customer.keyId, cause: "admin", reason: "leak" }]);
  });

  test("says that a key is not banned, and changes nothing", async () => {
    await using store = await storeOfNow();
    const before = await store.snapshot();
    const { code, stderr } = await bans(store, "lift", String(store.customer.keyId));
    expect(code).toBe(1);
    expect(stderr).toContain("is not banned");
    expect(await store.snapshot()).toBe(before);
  });
});

describe("nothing that is written behind brings a lifted ban back", () => {
  test.each([
    [
      "by the API",
      async (store: TestStore, person: Person) =>
        (await store.admin.delete(`/admin/keys/${person.keyId}/ban`)).status === 204,
    ],
    [
      "by the command",
      async (store: TestStore, person: Person) =>
        (await bans(store, "lift", String(person.keyId))).code === 0 && answers(person, 200),
    ],
  ])("lifted %s it stays lifted over two writes and a restart", async (_, lift) => {
    await using store = await storeOfNow();
    const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 1_000_000 } });
    await getBanned(store, person);
    store.clock.now += MINUTE;
    // Requests go on while it is lifted, so that there is always something to write.
    const others = (async () => {
      for (let time = 0; time < 40; time++) await ask(store.customer);
    })();
    await eventsOf(store, "key.banned", 1);
    expect(await lift(store, person)).toBe(true);
    await others;
    await Bun.sleep(TWO_WRITES_MS);
    store.clock.now += MINUTE;
    expect((await ask(person)).status).toBe(200);
    await store.restart();
    store.clock.now += MINUTE;
    expect((await ask(person)).status).toBe(200);
    expect(await limitsOf(person)).toMatchObject({ strikes: { count: 0 }, banLevel: 1 });
    expect((await limitsOf(person)).bannedUntil).toBeUndefined();
    expect((await store.admin.get("/admin/bans")).body).toEqual([]);
  });

  test("a key that asks on and on until the very moment of the lift is free after it", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    store.clock.now += MINUTE;
    const asking = Promise.all(Array.from({ length: 10 }, () => askTimes(person, 20)));
    const { status } = await store.admin.delete(`/admin/keys/${person.keyId}/ban`);
    expect(status).toBe(204);
    await asking;
    await Bun.sleep(TWO_WRITES_MS);
    expect((await limitsOf(person)).bannedUntil).toBeUndefined();
    store.clock.now += MINUTE;
    expect((await ask(person)).status).toBe(200);
  });
});
