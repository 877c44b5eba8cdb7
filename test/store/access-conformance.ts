// What every engine owes the core about clients, keys, their trail and duties; a part of the one suite.
import { expect, test } from "bun:test";
import { goodConduct } from "../../src/core/bans.ts";
import { addClient, addKey, run } from "./members.ts";
import { NOW, type OpenedStore } from "./opened.ts";

const firstPage = { descending: false, limit: 1000 };

/** The cases about who may ask. */
export function accessCases(named: (name: string) => string, opened: () => OpenedStore): void {
  test(named("a client is found by its id and by its name with its plan, until it is removed"), async () => {
    const { reads } = opened();
    const client = await addClient(opened());
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
    await run(opened(), (s) => s.changeClient(changed));
    expect(await reads.client(client.id)).toEqual(changed);
    const key = await addKey(opened(), client.id);
    await run(opened(), (s) => s.removeClient(client.id, NOW + 5));
    expect(await reads.client(client.id)).toBeNull();
    expect(await reads.clientNamed("Shop 2", "free")).toBeNull();
    expect((await reads.clients(firstPage)).map(({ id }) => id)).not.toContain(client.id);
    expect(await reads.keyByHash(key.hash)).toMatchObject({ revokedAt: NOW + 5 });
  });

  test(named("clients are listed by id, a page after another"), async () => {
    const { reads } = opened();
    for (let each = 0; each < 5; each++) await addClient(opened());
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

  test(named("a key is found by its hash alone, with what the limiter must know of it"), async () => {
    const { reads } = opened();
    const client = await addClient(opened());
    const { hash, ...key } = await addKey(opened(), client.id);
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
    await run(opened(), async (s) => {
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
    const { id: clientId } = await addClient(opened());
    const { id, hash } = await addKey(opened(), clientId);
    await run(opened(), (s) => s.revokeKey(id, NOW + 1));
    await run(opened(), (s) => s.revokeKey(id, NOW + 2));
    expect(await reads.keyByHash(hash)).toMatchObject({ id, revokedAt: NOW + 1 });
    await run(opened(), (s) => s.revokeKey(999_999, NOW));
    const again = { clientId, role: "staff", name: null, hash, lastFour: "abcd", expiresAt: null } as const;
    const twice = transact(async (s) => s.addKey(again, NOW));
    expect(await twice.catch((error: unknown) => error)).toBeInstanceOf(Error);
  });

  test(named("the audit trail is read from its newest entry on, a page after another"), async () => {
    const entry = (at: number) => ({
      at,
      keyId: at % 2 === 0 ? null : 7,
      operation: "admin.clients.create",
      subject: "clients/2",
      input: "{}",
    });
    for (let at = 1; at <= 5; at++) await run(opened(), (s) => s.addAudit(entry(at)));
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
      await run(opened(), (s) => s.raiseAccessRevision());
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
