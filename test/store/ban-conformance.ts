// What every engine owes the core about bans and what leads to them; a part of the one suite.
import { expect, test } from "bun:test";
import { goodConduct } from "../../src/core/bans.ts";
import type { NewBanRecord } from "../../src/core/ports.ts";
import { addClient, addKey, run } from "./members.ts";
import { NOW, type OpenedStore } from "./opened.ts";

const MINUTE_MS = 60_000;
const firstPage = { descending: false, limit: 1000 };

/** The cases about who may not ask for now. */
export function banCases(named: (name: string) => string, opened: () => OpenedStore): void {
  test(named("windows and conduct that are kept again take the place of what was kept"), async () => {
    const client = await addClient(opened());
    const { id, hash } = await addKey(opened(), client.id);
    for (const count of [1, 2]) {
      const windows = { minuteOpenedAt: count, minuteCount: count, day: count, dayCount: count };
      await run(opened(), (s) => s.keepWindows([{ clientId: client.id, ...windows }]));
      await run(opened(), (s) => s.keepConduct(id, { ...goodConduct, level: count }));
      expect(await opened().reads.keyByHash(hash)).toMatchObject({ windows, conduct: { level: count } });
    }
    expect(await opened().reads.conduct(id + 1000)).toBeNull();
    const { id: revoked } = await addKey(opened(), client.id);
    await run(opened(), (s) => s.keepConduct(revoked, { ...goodConduct, level: 7 }));
    await run(opened(), (s) => s.revokeKey(revoked, NOW));
    const levels = (await opened().reads.conducts(client.id)).map(({ level }) => level);
    expect(levels.sort()).toEqual([2, 7]);
    expect(await opened().reads.conducts(client.id + 1000)).toEqual([]);
  });

  test(named("a ban is listed while it is in force, and a key has the longest of its bans"), async () => {
    const { reads } = opened();
    const { id: clientId } = await addClient(opened());
    const key = await addKey(opened(), clientId);
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
    await run(opened(), (s) => s.addBan(ban(10)));
    await run(opened(), (s) => s.addBan(ban(5)));
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
    await run(opened(), (s) => s.addBan(ban(20)));
    await run(opened(), (s) => s.liftBan(key.id, NOW + MINUTE_MS));
    expect(await reads.keyByHash(key.hash)).toMatchObject({ bannedUntil: null, lifts: 3 });
  });

  test(named("a ban that was earned is added once, and one that was lifted stays lifted"), async () => {
    const { reads, transact } = opened();
    const { id: clientId } = await addClient(opened());
    const { id: keyId } = await addKey(opened(), clientId);
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
    await run(opened(), (s) => s.liftBan(keyId, NOW));
    expect(await add()).toBe(false);
    expect(await reads.ban(keyId, NOW)).toBeNull();
    expect(await transact(async (s) => s.addBan({ ...earned, since: NOW + 1 }))).toBe(true);
    expect(await transact(async (s) => s.addBan({ ...earned, cause: "admin" }))).toBe(true);
  });
}
