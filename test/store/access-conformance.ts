// What every engine owes the core about clients, keys, bans and counts; a part of the one suite.
import { expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { goodConduct } from "../../src/core/bans.ts";
import { perform } from "../../src/core/perform.ts";
import type { NewBanRecord, UsageRecord, Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { OpenedStore } from "./conformance.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const MINUTE_MS = 60_000;
const firstPage = { descending: false, limit: 1000 };

/** The cases about who may ask how much. */
export function accessCases(named: (name: string) => string, opened: () => OpenedStore): void {
  let made = 0;
  const addClient = (name = `client ${++made}`) =>
    opened().transact(async (s) =>
      s.addClient({ name, plan: "pro", perMinute: 300, perDay: 10_000 } as const, NOW),
    );
  const addKey = async (clientId: number) => {
    const hash = String(++made).padStart(64, "0");
    const key = { clientId, role: "staff", name: "till 1", hash, lastFour: "abcd", expiresAt: null } as const;
    return { ...(await opened().transact(async (s) => s.addKey(key, NOW))), hash };
  };
  const run = (work: (store: Writes) => unknown) =>
    opened().transact(async (s) => {
      await work(s);
    });

  test(named("a client is found by its id and by its name with its plan, until it is removed"), async () => {
    const { reads } = opened();
    const client = await addClient();
    expect(client).toEqual({
      id: client.id,
      name: client.name,
      plan: "pro",
      perMinute: 300,
      perDay: 10_000,
      createdAt: NOW,
      suspendedAt: null,
    });
    expect(await reads.client(client.id)).toEqual(client);
    expect(await reads.clientNamed(client.name, "pro")).toEqual(client);
    expect(await reads.clientNamed(client.name, "free")).toBeNull();
    const changed = { ...client, name: "Shop 2", plan: "free", perMinute: 60, suspendedAt: NOW } as const;
    await run((s) => s.changeClient(changed));
    expect(await reads.client(client.id)).toEqual(changed);
    const key = await addKey(client.id);
    await run((s) => s.removeClient(client.id, NOW + 5));
    expect(await reads.client(client.id)).toBeNull();
    expect(await reads.clientNamed("Shop 2", "free")).toBeNull();
    expect((await reads.clients(firstPage)).map(({ id }) => id)).not.toContain(client.id);
    expect(await reads.keyByHash(key.hash)).toMatchObject({ revokedAt: NOW + 5 });
  });

  test(named("clients are listed by id, a page after another"), async () => {
    const { reads } = opened();
    for (let each = 0; each < 5; each++) await addClient();
    const all = await reads.clients(firstPage);
    const ids = all.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    const walked: number[] = [];
    for (let after: { key: number; id: number } | undefined; walked.length < 1000; ) {
      const page = await reads.clients({ descending: false, limit: 2, after });
      walked.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last) break;
      after = { key: last.id, id: last.id };
    }
    expect(walked).toEqual(ids);
  });

  test(named("a client has open orders while one of its own is not complete"), async () => {
    const [busy, idle] = [await addClient(), await addClient()];
    await run((s) => s.addDraft({ clientId: busy.id, quantity: null, shipDate: null }, NOW));
    expect([
      await opened().reads.hasOpenOrders(busy.id),
      await opened().reads.hasOpenOrders(idle.id),
    ]).toEqual([true, false]);
  });

  test(named("a key is found by its hash alone, with what the limiter must know of it"), async () => {
    const { reads } = opened();
    const client = await addClient();
    const { hash, ...key } = await addKey(client.id);
    const known = {
      ...key,
      perMinute: 300,
      perDay: 10_000,
      clientSuspendedAt: null,
      lifts: 0,
      windows: null,
      conduct: null,
    };
    expect(await reads.keyByHash(hash)).toEqual(known);
    expect(await reads.keyByHash("f".repeat(64))).toBeNull();
    expect(await reads.key(key.id)).toEqual(key);
    expect(await reads.key(key.id + 1000)).toBeNull();
    expect(await reads.keys(client.id)).toEqual([key]);
    expect(await reads.keys(null)).toContainEqual(key);
    const page = { clientId: client.id, descending: false, limit: 2 };
    expect(await reads.keyPage({ ...page, roles: ["customer", key.role] })).toEqual([key]);
    expect(await reads.keyPage({ ...page, roles: ["admin"] })).toEqual([]);
    expect(await reads.keyPage({ ...page, roles: [key.role], after: { key: key.id, id: key.id } })).toEqual(
      [],
    );
    const windows = { minuteOpenedAt: 100, minuteCount: 2, day: 3, dayCount: 4 };
    const conduct = { ...goodConduct, strikes: [NOW, NOW + 1], level: 2 };
    await run(async (s) => {
      await s.keepWindows([{ clientId: client.id, ...windows }]);
      await s.keepConduct(key.id, conduct);
      await s.keepLastUses([{ keyId: key.id, at: NOW + 7 }]);
      await s.expireKey(key.id, NOW + 9);
      await s.changeClient({ ...client, perMinute: 1, suspendedAt: NOW });
    });
    expect(await reads.keyByHash(hash)).toEqual({
      ...known,
      perMinute: 1,
      clientSuspendedAt: NOW,
      windows,
      conduct,
      lastUsedAt: NOW + 7,
      expiresAt: NOW + 9,
    });
    expect(await reads.conduct(key.id)).toEqual(conduct);
  });

  test(named("a key's hash is its own, and its first revocation is the one that stays"), async () => {
    const { reads, transact } = opened();
    const { id: clientId } = await addClient();
    const { id, hash } = await addKey(clientId);
    await run((s) => s.revokeKey(id, NOW + 1));
    await run((s) => s.revokeKey(id, NOW + 2));
    expect(await reads.keyByHash(hash)).toMatchObject({ id, revokedAt: NOW + 1 });
    await run((s) => s.revokeKey(999_999, NOW));
    const again = { clientId, role: "staff", name: null, hash, lastFour: "abcd", expiresAt: null } as const;
    const twice = transact(async (s) => s.addKey(again, NOW));
    expect(await twice.catch((error: unknown) => error)).toBeInstanceOf(Error);
  });

  test(named("windows and conduct that are kept again take the place of what was kept"), async () => {
    const client = await addClient();
    const { id, hash } = await addKey(client.id);
    for (const count of [1, 2]) {
      const windows = { minuteOpenedAt: count, minuteCount: count, day: count, dayCount: count };
      await run((s) => s.keepWindows([{ clientId: client.id, ...windows }]));
      await run((s) => s.keepConduct(id, { ...goodConduct, level: count }));
      expect(await opened().reads.keyByHash(hash)).toMatchObject({ windows, conduct: { level: count } });
    }
    expect(await opened().reads.conduct(id + 1000)).toBeNull();
    const { id: revoked } = await addKey(client.id);
    await run((s) => s.keepConduct(revoked, { ...goodConduct, level: 7 }));
    await run((s) => s.revokeKey(revoked, NOW));
    const levels = (await opened().reads.conducts(client.id)).map(({ level }) => level);
    expect(levels.sort()).toEqual([2, 7]);
    expect(await opened().reads.conducts(client.id + 1000)).toEqual([]);
  });

  test(named("a ban is listed while it is in force, and a key has the longest of its bans"), async () => {
    const { reads } = opened();
    const { id: clientId } = await addClient();
    const key = await addKey(clientId);
    const ban = (minutes: number): NewBanRecord => ({
      keyId: key.id,
      clientId,
      cause: "admin",
      reason: minutes === 5 ? null : "Leaked",
      level: 0,
      since: NOW,
      until: NOW + minutes * MINUTE_MS,
    });
    const listed = async (now: number) =>
      (await reads.bans(firstPage, now))
        .filter(({ keyId }) => keyId === key.id)
        .map(({ id: _id, ...rest }) => rest)
        .sort((a, b) => a.until - b.until);
    await run((s) => s.addBan(ban(10)));
    await run((s) => s.addBan(ban(5)));
    expect(await reads.key(key.id)).toMatchObject({ bannedUntil: NOW + 10 * MINUTE_MS });
    expect(await reads.keyByHash(key.hash)).toMatchObject({ bannedUntil: NOW + 10 * MINUTE_MS });
    expect(await listed(NOW)).toEqual([ban(5), ban(10)]);
    expect(await reads.ban(key.id, NOW)).toMatchObject(ban(10));
    expect(await reads.ban(key.id, NOW + 10 * MINUTE_MS)).toBeNull();
    expect(await listed(NOW + 5 * MINUTE_MS)).toEqual([ban(10)]);
    expect(await listed(NOW + 10 * MINUTE_MS)).toEqual([]);
    expect(await opened().transact(async (s) => s.liftBan(key.id, NOW + 11 * MINUTE_MS))).toBe(false);
    expect(await opened().transact(async (s) => s.liftBan(key.id, NOW))).toBe(true);
    expect(await opened().transact(async (s) => s.liftBan(key.id, NOW))).toBe(false);
    expect(await listed(NOW)).toEqual([]);
    expect(await reads.ban(key.id, NOW)).toBeNull();
    expect(await reads.key(key.id)).toMatchObject({ bannedUntil: null });
    expect(await reads.keyByHash(key.hash)).toMatchObject({ lifts: 2 });
    await run((s) => s.addBan(ban(20)));
    await run((s) => s.liftBan(key.id, NOW + MINUTE_MS));
    expect(await reads.keyByHash(key.hash)).toMatchObject({ bannedUntil: null, lifts: 3 });
  });

  test(named("a ban that was earned is added once, and one that was lifted stays lifted"), async () => {
    const { reads, transact } = opened();
    const { id: clientId } = await addClient();
    const { id: keyId } = await addKey(clientId);
    const earned = {
      keyId,
      clientId,
      cause: "strikes",
      reason: null,
      level: 1,
      since: NOW,
      until: NOW + 1000,
    } as const;
    const add = () => transact(async (s) => s.addBan(earned));
    expect([await add(), await add()]).toEqual([true, false]);
    await run((s) => s.liftBan(keyId, NOW));
    expect(await add()).toBe(false);
    expect(await reads.ban(keyId, NOW)).toBeNull();
    expect(await transact(async (s) => s.addBan({ ...earned, since: NOW + 1 }))).toBe(true);
    expect(await transact(async (s) => s.addBan({ ...earned, cause: "admin" }))).toBe(true);
  });

  test(named("usage adds up by client, day, operation and status, and is forgotten by day"), async () => {
    const { reads } = opened();
    const [{ id: clientId }, { id: other }] = [await addClient(), await addClient()];
    const row = (day: number, requests: number, more: Partial<UsageRecord> = {}): UsageRecord => ({
      clientId,
      day,
      operation: "pets.list",
      statusClass: 2,
      requests,
      ...more,
    });
    await run((s) => s.addUsage([row(10, 1), row(11, 2), row(11, 1, { statusClass: 4 })]));
    await run((s) =>
      s.addUsage([row(11, 5), row(12, 1, { operation: "pets.get" }), row(11, 9, { clientId: other })]),
    );
    const asked = async (fromDay: number, toDay: number, client?: number) =>
      (await reads.usage({ clientId: client, fromDay, toDay })).sort(
        (a, b) => a.clientId - b.clientId || a.day - b.day || a.statusClass - b.statusClass,
      );
    expect(await asked(11, 11, clientId)).toEqual([row(11, 7), row(11, 1, { statusClass: 4 })]);
    expect(await asked(11, 11)).toEqual([
      row(11, 7),
      row(11, 1, { statusClass: 4 }),
      row(11, 9, { clientId: other }),
    ]);
    expect(await asked(10, 12, clientId)).toHaveLength(4);
    await run((s) => s.forgetUsage(12));
    expect(await asked(10, 12)).toEqual([row(12, 1, { operation: "pets.get" })]);
  });

  test(named("tallies are taken once, oldest first, and their usage is told until they are"), async () => {
    const { reads } = opened();
    const { id: clientId } = await addClient();
    const tally = (requests: number) => ({
      windows: Float64Array.of(clientId, 100, requests, 3, 4),
      usage: Float64Array.of(clientId, 50, 0, 2, requests),
      operations: ["pets.list"],
      lastUsed: Float64Array.of(7, NOW + 0.5),
    });
    for (const requests of [1, 2, 3]) await run((s) => s.addTally(tally(requests), false));
    await run((s) => s.addTally(tally(4), true));
    const told = async () =>
      (await reads.usage({ clientId, fromDay: 50, toDay: 50 })).map(({ requests }) => requests);
    expect((await told()).sort()).toEqual([1, 2, 3, 4]);
    expect(await reads.usage({ clientId: clientId + 1000, fromDay: 0, toDay: 100 })).toEqual([]);
    expect(await opened().transact(async (s) => s.takeTallies(false, 150))).toEqual([tally(1), tally(2)]);
    expect(await opened().transact(async (s) => s.takeTallies(false, 150))).toEqual([tally(3)]);
    expect(await opened().transact(async (s) => s.takeTallies(false, 150))).toEqual([]);
    expect(await told()).toEqual([4]);
    expect(await opened().transact(async (s) => s.takeTallies(true, 150))).toEqual([tally(4)]);
    expect(await told()).toEqual([]);
  });

  test(named("many rows at once are kept as one by one"), async () => {
    const { reads } = opened();
    const clients = Array.from({ length: 230 }, (_, index) => 5_000_000 + index);
    const rows = clients.map((clientId, index) => ({
      clientId,
      day: 70,
      operation: "pets.list",
      statusClass: 2,
      requests: index + 1,
    }));
    await run((s) => s.addUsage(rows));
    await run((s) => s.addUsage(rows.toReversed()));
    const found = await reads.usage({ fromDay: 70, toDay: 70 });
    expect(found.sort((a, b) => a.clientId - b.clientId)).toEqual(
      rows.map((row) => ({ ...row, requests: row.requests * 2 })),
    );
    await run((s) => s.forgetUsage(71));
  });

  test(
    named("many tallies are folded step by step, and at every step nothing is missing or there twice"),
    async () => {
      const { reads } = opened();
      const rules = rulesOf(readConfig({}));
      const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
      const command = { operation: "behind.fold", caller, input: { bytesAtOnce: 10_000_000 }, now: NOW };
      const fold = async () =>
        ((await opened().transact((s) => perform(s, command, rules))).body as { isDone: boolean }).isDone;
      const FIRST = 7_000_000;
      const CLIENTS = 6000;
      const { id: clientId } = await addClient();
      const { hash } = await addKey(clientId);
      while (!(await fold()));
      for (const round of [1, 2]) {
        const ids = [clientId, ...Array.from({ length: CLIENTS }, (_, index) => FIRST + index)];
        await run((s) =>
          s.addTally(
            {
              windows: Float64Array.from(ids.flatMap((id) => [id, 100, round, 20, round])),
              usage: Float64Array.from(ids.flatMap((id) => [id, 80, 0, 2, round])),
              operations: [round === 1 ? "pets.get" : "pets.list"],
              lastUsed: new Float64Array(),
            },
            false,
          ),
        );
      }
      const total = async () =>
        (await reads.usage({ fromDay: 80, toDay: 80 })).reduce((sum, { requests }) => sum + requests, 0);
      let steps = 0;
      do {
        expect(await total()).toBe(3 * (CLIENTS + 1));
        steps++;
      } while (!(await fold()));
      expect(steps).toBeGreaterThan(3);
      expect(await total()).toBe(3 * (CLIENTS + 1));
      const windows = { minuteOpenedAt: 100, minuteCount: 2, day: 20, dayCount: 2 };
      expect(await reads.keyByHash(hash)).toMatchObject({ windows });
      expect(await reads.usage({ clientId: FIRST + 5, fromDay: 80, toDay: 80 })).toHaveLength(2);
      await run((s) => s.forgetUsage(81));
    },
  );

  test(named("a part of a run is new once, and a later one after it"), async () => {
    const begin = (run: string, part: number) => opened().transact(async (s) => s.beginPart(run, part, NOW));
    expect([await begin("a", 1), await begin("a", 1), await begin("a", 2), await begin("b", 1)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(await begin("a", 1)).toBe(false);
    await run((s) => s.forgetParts(NOW + 1));
    expect(await begin("b", 1)).toBe(true);
  });

  test(named("the audit trail is read from its newest entry on, a page after another"), async () => {
    const entry = (at: number) => ({
      at,
      keyId: at % 2 === 0 ? null : 7,
      operation: "admin.clients.create",
      subject: "clients/2",
      input: "{}",
    });
    for (let at = 1; at <= 5; at++) await run((s) => s.addAudit(entry(at)));
    const { reads } = opened();
    const newest = await reads.audit({ descending: true, limit: 2 });
    expect(newest.map(({ id: _id, ...rest }) => rest)).toEqual([entry(5), entry(4)]);
    const { id } = newest[1] as { id: number };
    const older = await reads.audit({ descending: true, limit: 2, after: { key: id, id } });
    expect(older.map(({ at }) => at)).toEqual([3, 2]);
  });

  test(
    named("the revision of access rises by one each time, and is undone with its transaction"),
    async () => {
      const { reads, otherReads, transact } = opened();
      const before = await reads.accessRevision();
      await run((s) => s.raiseAccessRevision());
      expect([await reads.accessRevision(), await otherReads.accessRevision()]).toEqual([
        before + 1,
        before + 1,
      ]);
      const doomed = transact(async (s) => {
        await s.raiseAccessRevision();
        throw new RangeError("no such luck");
      });
      expect(await doomed.catch((error: unknown) => error)).toBeInstanceOf(RangeError);
      expect(await reads.accessRevision()).toBe(before + 1);
    },
  );

  test(named("a duty is one's own until its time is over, and then whoever comes first has it"), async () => {
    const take = (name: string, now: number, until: number) =>
      opened().transact(async (s) => s.takeDuty(name, now, until));
    expect(await take("sweep", 100, 200)).toBe(true);
    expect(await take("sweep", 150, 250)).toBe(false);
    expect(await take("other", 150, 250)).toBe(true);
    expect(await take("sweep", 200, 300)).toBe(true);
    expect(await take("sweep", 299, 400)).toBe(false);
  });

  test(named("a duty that was taken by a clock far ahead is taken back"), async () => {
    const take = (name: string, now: number, until: number) =>
      opened().transact(async (s) => s.takeDuty(name, now, until));
    expect(await take("ahead", 900_000, 900_100)).toBe(true);
    expect(await take("ahead", 100, 200)).toBe(true);
    // An instance whose clock is a little ahead of another's has it for its time.
    expect(await take("slightly", 160, 260)).toBe(true);
    expect(await take("slightly", 100, 200)).toBe(false);
  });
}
