import { describe, expect, test } from "bun:test";
import type { BanRules } from "../../src/core/bans.ts";
import { ADDRESSES_IN_MEMORY, memoryLimits } from "../../src/limits/memory.ts";
import { aStore, NOON, type Person, type TestStore } from "../harness.ts";
import { ask, askTimes, DAY, eventsOf, MINUTE, PAST_GRACE, SECOND } from "./spending.ts";

/** Somebody without a key behind a proxy that is believed. */
function from(store: TestStore, address: string): Pick<Person, "get"> {
  return { get: (path) => store.nobody.get(path, { "x-forwarded-for": address }) };
}

async function times(person: Pick<Person, "get">, number: number): Promise<Record<string, number>> {
  return askTimes(person as Person, number);
}

describe("a request without a valid key", () => {
  test("is counted against its network address, 60 a minute, and says so", async () => {
    await using store = await aStore();
    const first = await store.nobody.get("/pets");
    expect(first.status).toBe(401);
    expect(first.headers.get("x-ratelimit-limit")).toBe("60");
    expect(first.headers.get("x-ratelimit-remaining")).toBe("59");
    expect(await times(store.nobody, 60)).toEqual({ 401: 59, 429: 1 });
    const { headers, body } = await store.nobody.get("/pets");
    expect(body.code).toBe("rate_limit_exceeded");
    expect(headers.get("retry-after")).toBe("60");
    store.clock.now += MINUTE;
    expect((await store.nobody.get("/pets")).status).toBe(401);
  });

  test("has 1,000 a day", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000" });
    expect(await times(store.nobody, 1001)).toEqual({ 401: 1000, 429: 1 });
    const { body, headers } = await store.nobody.get("/pets");
    expect(body.code).toBe("daily_quota_exceeded");
    expect(headers.get("x-should-retry")).toBe("false");
    store.clock.now += DAY / 2;
    expect((await store.nobody.get("/pets")).status).toBe(401);
  });

  test.each([
    ["a key that was never made", `ps_live_${"A".repeat(49)}`],
    ["no key at all", undefined],
    ["something that is no key", "password"],
  ])("with %s it costs the address", async (_, key) => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "3" });
    const headers: Record<string, string> = key === undefined ? {} : { "x-api-key": key };
    const statuses = [];
    for (let time = 0; time < 4; time++) statuses.push((await store.nobody.get("/pets", headers)).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  test("with a revoked key it costs the address and not the client", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "3" });
    const sibling = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 100 } });
    const revoked = await store.newPerson("customer", { clientId: sibling.clientId });
    await store.admin.delete(`/admin/keys/${revoked.keyId}`);
    expect(await askTimes(revoked, 5)).toEqual({ 401: 3, 429: 2 });
    expect(await askTimes(sibling, 6)).toEqual({ 200: 5, 429: 1 });
  });

  test("never blocks a valid key of the same address, and the key's requests do not cost the address", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "3" });
    expect(await askTimes(store.customer, 10)).toEqual({ 200: 10 });
    expect(await times(store.nobody, 10)).toEqual({ 401: 3, 429: 7 });
    expect(await askTimes(store.customer, 10)).toEqual({ 200: 10 });
  });

  test("never strikes: an address that asks on and on is refused and not banned", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "3" });
    await times(store.nobody, 4);
    store.clock.now += PAST_GRACE;
    expect(await times(store.nobody, 200)).toEqual({ 429: 200 });
    store.clock.now += MINUTE;
    expect(await times(store.nobody, 4)).toEqual({ 401: 3, 429: 1 });
    await eventsOf(store, "quota.warning", 1);
    expect((await store.events()).filter(({ type }) => /^(key|quota)\./.test(type))).toEqual([]);
    expect((await store.admin.get("/admin/bans")).body).toEqual([]);
  });

  test("addresses are counted apart, and an IPv6 network of 64 bits as one", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "2", TRUST_PROXY: "1" });
    expect(await times(from(store, "192.0.2.1"), 3)).toEqual({ 401: 2, 429: 1 });
    expect(await times(from(store, "192.0.2.2"), 3)).toEqual({ 401: 2, 429: 1 });
    expect(await times(from(store, "2001:db8:1:2::1"), 2)).toEqual({ 401: 2 });
    expect(await times(from(store, "2001:db8:1:2:ffff::9"), 1)).toEqual({ 429: 1 });
    expect(await times(from(store, "2001:db8:1:3::1"), 1)).toEqual({ 401: 1 });
  });

  test("a header that says another address is not believed without a proxy", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "2" });
    const statuses = [];
    for (let last = 1; last <= 3; last++)
      statuses.push((await from(store, `192.0.2.${last}`).get("/pets")).status);
    expect(statuses).toEqual([401, 401, 429]);
  });

  test("a minute that goes over midnight is counted to its end", async () => {
    await using store = await aStore({ ANONYMOUS_PER_MINUTE: "3" });
    store.clock.now = Date.parse("2026-11-15T23:59:50Z");
    expect(await times(store.nobody, 4)).toEqual({ 401: 3, 429: 1 });
    store.clock.now += 10 * SECOND;
    expect((await ask(store.nobody)).status).toBe(429);
  });
});

describe("with more addresses than the table holds", () => {
  const bans: BanRules = { strikes: 20, strikeWindowSeconds: 300, graceSeconds: 2, minutes: [5] };

  test("the rest share one bucket, the known keep their own, and the next day begins anew", async () => {
    const limits = memoryLimits({
      bans,
      anonymous: { perMinute: 3, perDay: 1000 },
      onBan: () => {
        throw new Error("an address was banned");
      },
      tell: () => {
        throw new Error("an address was told of");
      },
    });
    const admit = async (address: string, now = NOON) =>
      (await limits.admitAddress(address, now, false)).refusing;
    for (let address = 0; address < ADDRESSES_IN_MEMORY; address++) await admit(`known ${address}`);

    const shared = [];
    for (let address = 0; address < 5; address++) shared.push(await admit(`new ${address}`));
    expect(shared).toEqual([null, null, null, "minute", "minute"]);
    expect(await admit("known 0")).toBeNull();
    expect(await admit("known 99999")).toBeNull();
    expect([await admit("known 7"), await admit("known 7"), await admit("known 7")]).toEqual([
      null,
      null,
      "minute",
    ]);
    const tomorrow = NOON + DAY;
    for (let address = 0; address < 5; address++) expect(await admit(`new ${address}`, tomorrow)).toBeNull();
  });
});
