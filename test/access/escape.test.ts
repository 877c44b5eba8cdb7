import { describe, expect, test } from "bun:test";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { aClient, aKey, bansInForce, DAY_MS, denied, holder, MINUTE_MS, strike } from "./trail.ts";

const STRIKES = 4;
const BAN_MINUTES = [5, 15, 60];

async function aStrictStore(): Promise<TestStore> {
  return aStore({
    BAN_STRIKES: String(STRIKES),
    BAN_MINUTES: BAN_MINUTES.join(),
    ANONYMOUS_PER_MINUTE: "1000000",
  });
}

/** A client of ten requests a minute, with two keys. */
async function aBusyClient(store: TestStore) {
  const { id } = await aClient(store, { plan: "enterprise", perMinute: 10, perDay: 100_000 });
  const { person: wild } = await aKey(store, id, { name: "wild" });
  const { person: calm } = await aKey(store, id, { name: "calm" });
  return { id, wild, calm };
}

async function standing(person: Person) {
  const { status, body } = await person.get("/account/limits");
  expect(status).toBe(200);
  const { strikes, banLevel, nextBanMinutes, bannedUntil } = body;
  return { strikes: strikes.count, banLevel, nextBanMinutes, bannedUntil };
}

/** Until when the key is refused by a ban, or `null`. */
async function refusedFor(person: Person): Promise<number | null> {
  const { status, body, headers } = await person.get("/pets");
  if (status === 200) return null;
  expect([status, body.code]).toEqual([403, "key_banned"]);
  expect(headers.get("x-should-retry")).toBe("false");
  return Number(headers.get("retry-after"));
}

describe("while a key of a client is banned", () => {
  test("that key does nothing but ask how it stands", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await strike(store, wild, STRIKES);
    expect(await refusedFor(wild)).toBe(240);
    const sends = [
      () => wild.post("/account/keys", {}),
      () => wild.post(`/account/keys/${wild.keyId}/rotation`, { overlapDays: 30 }),
      () => wild.delete(`/account/keys/${wild.keyId}`),
      () => wild.get("/account"),
    ];
    for (const send of sends) expect((await denied(store, send)).body.code).toBe("key_banned");
    expect(await standing(wild)).toMatchObject({ strikes: 0, banLevel: 1, nextBanMinutes: 15 });
    expect(await refusedFor(calm)).toBe(null);
  });

  test("its other keys make and rotate none, until the ban is over", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await strike(store, wild, STRIKES);
    const sends = [
      () => calm.post("/account/keys", {}),
      () => calm.post(`/account/keys/${calm.keyId}/rotation`, {}),
      () => calm.post(`/account/keys/${wild.keyId}/rotation`, { overlapDays: 1 }),
    ];
    for (const send of sends) {
      const { status, body, headers } = await denied(store, send);
      expect([status, body.code]).toEqual([403, "key_banned"]);
      expect([headers.get("retry-after"), headers.get("x-should-retry")]).toEqual(["240", "false"]);
      expect(body.message).toContain(`Key ${wild.keyId} `);
    }
    store.clock.now += 4 * MINUTE_MS;
    expect(await refusedFor(wild)).toBe(null);
    expect((await calm.post("/account/keys", {})).status).toBe(201);
    expect((await calm.post(`/account/keys/${calm.keyId}/rotation`, {})).status).toBe(201);
  });

  test("revoking that key does not help", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await strike(store, wild, STRIKES);
    expect((await calm.delete(`/account/keys/${wild.keyId}`)).status).toBe(204);
    expect((await denied(store, () => calm.post("/account/keys", {}))).body.code).toBe("key_banned");
  });

  test("a ban by an admin holds the client's keys in the same way, and lifting it lets go", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await store.admin.put(`/admin/keys/${wild.keyId}/ban`, { minutes: 60, reason: "Leaked" });
    expect((await denied(store, () => calm.post("/account/keys", {}))).body.code).toBe("key_banned");
    expect((await store.admin.delete(`/admin/keys/${wild.keyId}/ban`)).status).toBe(204);
    expect((await calm.post("/account/keys", {})).status).toBe(201);
  });

  test("the keys of other clients are made and rotated as ever", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await strike(store, wild, STRIKES);
    expect((await store.customer.post("/account/keys", {})).status).toBe(201);
    expect((await store.stranger.post(`/account/keys/${store.stranger.keyId}/rotation`, {})).status).toBe(
      201,
    );
  });
});

describe("a key that an admin rotates out of a ban", () => {
  test("inherits an earned ban with its end and level", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await strike(store, wild, STRIKES);
    const [ban] = await bansInForce(store, 1);
    expect(ban).toMatchObject({ keyId: wild.keyId, cause: "strikes", level: 1 });
    const { status, body } = await store.admin.post(`/admin/keys/${wild.keyId}/rotation`, { overlapDays: 1 });
    expect([status, body.bannedUntil]).toEqual([201, ban.until]);
    const next = holder(store, body);
    expect(await refusedFor(next)).toBe(240);
    expect(await refusedFor(wild)).toBe(240);
    expect(await standing(next)).toEqual(await standing(wild));
    expect((await bansInForce(store, 2)).map((each: { until: string }) => each.until)).toEqual([
      ban.until,
      ban.until,
    ]);
    store.clock.now += 4 * MINUTE_MS;
    expect(await refusedFor(next)).toBe(null);
    expect(await standing(next)).toMatchObject({ banLevel: 1, nextBanMinutes: 15 });
  });

  test("inherits an imposed ban", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await store.admin.put(`/admin/keys/${wild.keyId}/ban`, { minutes: 60 });
    const { body } = await store.admin.post(`/admin/keys/${wild.keyId}/rotation`, {});
    expect(await refusedFor(holder(store, body))).toBe(3600);
  });

  test("inherits no ban that is over or was lifted", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await store.admin.put(`/admin/keys/${wild.keyId}/ban`, { minutes: 1 });
    await store.admin.put(`/admin/keys/${calm.keyId}/ban`, { minutes: 60 });
    await store.admin.delete(`/admin/keys/${calm.keyId}/ban`);
    store.clock.now += MINUTE_MS;
    for (const old of [wild, calm]) {
      const { body } = await store.admin.post(`/admin/keys/${old.keyId}/rotation`, {});
      expect(await refusedFor(holder(store, body))).toBe(null);
    }
  });
});

describe("strikes and level", () => {
  test("go with a key that its client rotates: the strike that bans is the same", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await strike(store, wild, STRIKES - 1);
    expect(await standing(wild)).toMatchObject({ strikes: STRIKES - 1 });
    const { body } = await calm.post(`/account/keys/${wild.keyId}/rotation`, {});
    const next = holder(store, body);
    expect(await standing(next)).toMatchObject({ strikes: STRIKES - 1, banLevel: 0 });
    await strike(store, next, 1);
    expect(await refusedFor(next)).toBe(240);
  });

  test("of the client's worst key go to a key that any of its keys makes", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    await strike(store, wild, STRIKES - 1);
    const made = holder(store, (await wild.post("/account/keys", {})).body);
    expect(await standing(made)).toMatchObject({ strikes: STRIKES - 1 });
    const quiet = holder(store, (await calm.post("/account/keys", {})).body);
    expect(await standing(quiet)).toMatchObject({ strikes: STRIKES - 1, banLevel: 0 });
    expect(await standing(calm)).toMatchObject({ strikes: 0 });
    await strike(store, made, 1);
    expect(await refusedFor(made)).toBe(240);
    expect(await refusedFor(wild)).toBe(null);
  });

  test("of a served ban stay with rotated and new keys, and good days take them off", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await strike(store, wild, STRIKES);
    store.clock.now += 4 * MINUTE_MS;
    const made = holder(store, (await wild.post("/account/keys", {})).body);
    const { body } = await wild.post(`/account/keys/${wild.keyId}/rotation`, {});
    const rotated = holder(store, body);
    for (const each of [made, rotated])
      expect(await standing(each)).toMatchObject({ strikes: 0, banLevel: 1, nextBanMinutes: 15 });
    await strike(store, rotated, STRIKES);
    expect(await refusedFor(rotated)).toBe(14 * 60);
    store.clock.now += DAY_MS;
    expect(await standing(made)).toMatchObject({ banLevel: 0, nextBanMinutes: 5 });
  });

  test("are not left behind by a rotation that an admin makes", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await strike(store, wild, 2);
    const { body } = await store.admin.post(`/admin/keys/${wild.keyId}/rotation`, {});
    expect(await standing(holder(store, body))).toMatchObject({ strikes: 2 });
  });

  test("are not shed while they cannot be written down: until then no key is rotated", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await store.beside.db.exec("alter table written_parts rename to lost_parts");
    await strike(store, wild, 2);
    const rotate = () => store.admin.post(`/admin/keys/${wild.keyId}/rotation`, {});
    for (let time = 0; time < 2; time++) {
      const { status, body } = await denied(store, rotate);
      expect([status, body.code]).toEqual([503, "unavailable"]);
    }
    expect(store.logged()).toContain("What was counted could not be written down.");
    await store.beside.db.exec("alter table lost_parts rename to written_parts");
    const { status, body } = await rotate();
    expect(status).toBe(201);
    expect(await standing(holder(store, body))).toMatchObject({ strikes: 2 });
  });

  test("are clear after a lift, and the level stays", async () => {
    await using store = await aStrictStore();
    const { wild } = await aBusyClient(store);
    await strike(store, wild, 2);
    await store.admin.put(`/admin/keys/${wild.keyId}/ban`, { minutes: 5 });
    expect((await store.admin.delete(`/admin/keys/${wild.keyId}/ban`)).status).toBe(204);
    expect(await standing(wild)).toMatchObject({ strikes: 0, banLevel: 0 });
    await strike(store, wild, STRIKES);
    await bansInForce(store, 1);
    await store.admin.delete(`/admin/keys/${wild.keyId}/ban`);
    expect(await refusedFor(wild)).toBe(null);
    expect(await standing(wild)).toMatchObject({ strikes: 0, banLevel: 1, nextBanMinutes: 15 });
    expect(await standing(wild)).not.toHaveProperty("bannedUntil", expect.any(String));
  });
});

describe("bans by hand", () => {
  test("are listed in pages until they end, the newest taking the place of one in force", async () => {
    await using store = await aStrictStore();
    const { wild, calm } = await aBusyClient(store);
    const impose = (keyId: number, body: Record<string, unknown>) =>
      store.admin.put(`/admin/keys/${keyId}/ban`, body);
    await impose(wild.keyId, { minutes: 60 });
    const { body } = await impose(wild.keyId, { minutes: 5, reason: "Leaked" });
    const since = new Date(store.clock.now).toISOString();
    const until = new Date(store.clock.now + 5 * MINUTE_MS).toISOString();
    const { keyId, clientId } = wild;
    expect(body).toEqual({ keyId, clientId, cause: "admin", reason: "Leaked", level: 0, since, until });
    await impose(calm.keyId, { minutes: 10 });
    const first = await store.admin.get("/admin/bans?limit=1");
    expect(first.body).toEqual([body]);
    expect(first.headers.get("link")).toContain('rel="next"');
    expect((await store.admin.get("/admin/bans")).body).toHaveLength(2);
    expect((await store.admin.get(`/admin/keys/${keyId}`)).body.bannedUntil).toBe(until);
    store.clock.now += 5 * MINUTE_MS;
    expect(await refusedFor(wild)).toBe(null);
    expect((await store.admin.get("/admin/bans")).body).toMatchObject([{ keyId: calm.keyId }]);
    expect((await store.admin.get(`/admin/keys/${keyId}`)).body).not.toHaveProperty("bannedUntil");
  });

  test("cannot be lifted where there is none", async () => {
    await using store = await aStrictStore();
    const lift = () => store.admin.delete(`/admin/keys/${store.customer.keyId}/ban`);
    const { status, body } = await denied(store, lift);
    expect([status, body.code]).toEqual([404, "ban_not_found"]);
    await store.admin.put(`/admin/keys/${store.customer.keyId}/ban`, { minutes: 1 });
    store.clock.now += MINUTE_MS;
    expect((await denied(store, lift)).body.code).toBe("ban_not_found");
  });

  test.each([
    [{}, "minutes"],
    [{ minutes: 0 }, "minutes"],
    [{ minutes: 525_601 }, "minutes"],
    [{ minutes: 1, reason: "x".repeat(501) }, "reason"],
    [{ minutes: 1, until: "2030-01-01" }, "until"],
  ])("with %j are refused by the name of the field", async (fields, field) => {
    await using store = await aStrictStore();
    const { body } = await denied(store, () =>
      store.admin.put(`/admin/keys/${store.customer.keyId}/ban`, fields),
    );
    expect(body).toMatchObject({ code: "invalid_body", details: [{ field }] });
  });
});
