// What every engine owes the core about who is signed in; a part of the one suite.
import { expect, test } from "bun:test";
import type { Writes } from "../../src/core/ports.ts";
import type { OpenedStore } from "./opened.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const HOUR_MS = 60 * 60 * 1000;
const MANY = 100;

/** The cases about sessions and links. */
export function sessionCases(named: (name: string) => string, opened: () => OpenedStore): void {
  let made = 0;
  const run = (work: (store: Writes) => unknown) =>
    opened().transact(async (s) => {
      await work(s);
    });
  const addKey = () =>
    opened().transact(async (s) => {
      const name = `signed in ${++made}`;
      const client = await s.addClient({ name, plan: "pro", perMinute: 300, perDay: 10_000 } as const, NOW);
      const hash = `of the key ${made}`.padEnd(64, "0");
      const key = {
        clientId: client.id,
        role: "staff",
        name,
        hash,
        lastFour: "abcd",
        expiresAt: null,
      } as const;
      return { ...(await s.addKey(key, NOW)), hash };
    });
  const begin = (hash: string, keyId: number, most = MANY, now = NOW) =>
    run((s) => s.addSession({ hash, keyId, endsAt: now + HOUR_MS }, most, now));

  test(named("a session is found with all that is known of its key, until it ends"), async () => {
    const { reads } = opened();
    const key = await addKey();
    await begin("one", key.id);
    expect(await reads.session("one")).toEqual({
      key: (await reads.keyByHash(key.hash)) as never,
      usedAt: NOW,
      endsAt: NOW + HOUR_MS,
    });
    expect(await reads.session("another")).toBeNull();
    await run((s) => s.endSession("one"));
    expect(await reads.session("one")).toBeNull();
  });

  test(named("the last use of a session never goes back"), async () => {
    const key = await addKey();
    await begin("used", key.id);
    for (const at of [NOW + 5, NOW + 3]) await run((s) => s.useSession("used", at));
    expect((await opened().reads.session("used"))?.usedAt).toBe(NOW + 5);
  });

  test(named("of a key's sessions only the newest are kept, and no other key's are touched"), async () => {
    const [mine, other] = [await addKey(), await addKey()];
    await begin("of another", other.id, 2, NOW - 1);
    for (const each of [1, 2, 3]) await begin(`mine ${each}`, mine.id, 2, NOW + each);
    const { reads } = opened();
    expect(await reads.session("mine 1")).toBeNull();
    for (const hash of ["mine 2", "mine 3", "of another"])
      expect((await reads.session(hash))?.key).toBeDefined();
  });

  test(named("sessions and links that are over are forgotten, others are not"), async () => {
    const key = await addKey();
    await begin("over", key.id, MANY, NOW - HOUR_MS);
    await begin("going on", key.id, MANY, NOW + 1);
    await run((s) => s.addSignInLink({ hash: "late", keyId: key.id, endsAt: NOW }));
    await run((s) => s.addSignInLink({ hash: "early", keyId: key.id, endsAt: NOW + 1 }));
    expect(await opened().transact(async (s) => s.forgetSessions(NOW))).toBe(false);
    expect(await opened().reads.session("over")).toBeNull();
    expect(await opened().reads.session("going on")).not.toBeNull();
    const take = (hash: string) => opened().transact(async (s) => s.takeSignInLink(hash, NOW - 1));
    expect([await take("late"), await take("early")]).toEqual([null, key.id]);
  });

  test(named("a link is taken once, and not when its time is over"), async () => {
    const key = await addKey();
    for (const hash of ["link", "stale"])
      await run((s) => s.addSignInLink({ hash, keyId: key.id, endsAt: NOW + 10 }));
    const taken: (number | null)[] = [];
    for (let each = 0; each < 3; each++)
      taken.push(await opened().transact(async (s) => s.takeSignInLink("link", NOW)));
    expect(taken).toEqual([key.id, null, null]);
    expect(await opened().transact(async (s) => s.takeSignInLink("stale", NOW + 10))).toBeNull();
  });
}
