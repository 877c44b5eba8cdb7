import { describe, expect, test } from "bun:test";
import type { BanRules, Conduct } from "../../src/core/bans.ts";
import type { LimitedKey, NewBanRecord, NewEvent } from "../../src/core/ports.ts";
import { windowRows } from "../../src/core/tally.ts";
import { type Changed, memoryLimits } from "../../src/limits/memory.ts";
import { aStore, NOON } from "../harness.ts";
import { knownKey } from "./shop.ts";
import { ask, askTimes, limitsOf, MINUTE, oneAMinute, PAST_GRACE, spendMinute } from "./spending.ts";

const RULES: BanRules = {
  strikes: 20,
  strikeWindowSeconds: 300,
  graceSeconds: 2,
  minutes: [5, 15, 60, 1440],
};
const KEY: LimitedKey = { keyId: 1, clientId: 1, perMinute: 1, perDay: 1000, bannedUntil: null };

/** Limits with nothing behind them, and what they told. */
function someLimits(size: { clientsInMemory?: number } = {}) {
  const bans: NewBanRecord[] = [];
  const events: NewEvent[] = [];
  const limits = memoryLimits({
    bans: RULES,
    anonymous: { perMinute: 60, perDay: 1000 },
    onBan: (ban) => void bans.push(ban),
    tell: (event) => void events.push(event),
    ...size,
  });
  return { limits, bans, events };
}

type Row = ReturnType<typeof windowRows>[number];

function windowsIn({ windows }: Changed): Row[] {
  return windowRows(windows);
}

const today = Math.floor(NOON / 86_400_000);

describe("what the database knows of a key", () => {
  test("is taken over where memory knows nothing: windows and strikes", async () => {
    const { limits } = someLimits();
    const windows = { minuteOpenedAt: NOON / 1000 - 10, minuteCount: 1, day: today, dayCount: 999 };
    const conduct: Conduct = {
      windowResetAt: NOON + 50_000,
      firstRefusedAt: NOON - 5000,
      strikes: [NOON - 1000],
      level: 2,
      goodSince: NOON - 1000,
    };
    limits.introduce(knownKey(KEY, { windows, conduct }));
    const { standing } = await limits.ask(KEY, NOON);
    expect(standing.state.minute).toEqual({ limit: 1, remaining: 0, resetAt: NOON / 1000 + 50 });
    expect(standing.state.day.remaining).toBe(1);
    expect(standing.conduct).toEqual(conduct);
    await limits.admit(KEY, NOON, false);
    expect((await limits.ask(KEY, NOON)).standing.conduct.strikes).toHaveLength(2);
  });

  test("does not take the place of windows that were counted here since", async () => {
    const { limits } = someLimits();
    await limits.admit(KEY, NOON, false);
    limits.introduce(
      knownKey(KEY, { windows: { minuteOpenedAt: 0, minuteCount: 0, day: today, dayCount: 0 } }),
    );
    expect((await limits.admit(KEY, NOON, false)).refusing).toBe("minute");
  });

  test("does not take the place of strikes that are not written down yet", async () => {
    const { limits } = someLimits();
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON + PAST_GRACE, false);
    limits.introduce(knownKey(KEY));
    expect((await limits.ask(KEY, NOON + PAST_GRACE)).standing.conduct.strikes).toHaveLength(1);
  });

  test("does not take the place of strikes that are just being written down", async () => {
    const { limits } = someLimits();
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON + PAST_GRACE, false);
    const underWay = limits.takeChanged(500);
    expect(underWay.conduct).toHaveLength(1);
    limits.introduce(knownKey(KEY));
    expect((await limits.ask(KEY, NOON + PAST_GRACE)).standing.conduct.strikes).toHaveLength(1);
  });

  test("takes their place once they are written down: a lift clears them here too", async () => {
    const { limits } = someLimits();
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON + PAST_GRACE, false);
    const taken = limits.takeChanged(500);
    limits.areKept(taken);
    const [written] = taken.conduct;
    limits.introduce(knownKey(KEY, { conduct: { ...(written?.conduct as Conduct), strikes: [] } }));
    expect((await limits.ask(KEY, NOON + PAST_GRACE)).standing.conduct.strikes).toEqual([]);
  });

  test("that was asked for before newer strikes were written down does not take their place", async () => {
    const { limits } = someLimits();
    const askedAt = performance.now();
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON, false);
    await limits.admit(KEY, NOON + PAST_GRACE, false);
    limits.areKept(limits.takeChanged(500));
    limits.introduce(knownKey(KEY), askedAt);
    expect((await limits.ask(KEY, NOON + PAST_GRACE)).standing.conduct.strikes).toHaveLength(1);
  });
});

describe("a ban", () => {
  test("holds before the database has it, and is told once", async () => {
    const { limits, bans } = someLimits();
    for (let time = 0; time < 2; time++) await limits.admit(KEY, NOON, false);
    const now = NOON + PAST_GRACE;
    for (let time = 0; time < 20; time++)
      expect((await limits.admit(KEY, now, false)).refusing).toBe("minute");
    for (let time = 0; time < 20; time++)
      expect(await limits.admit(KEY, now, false)).toMatchObject({
        refusing: "ban",
        bannedUntil: now + 5 * MINUTE,
      });
    expect(bans).toEqual([
      {
        keyId: 1,
        clientId: 1,
        cause: "strikes",
        reason: null,
        level: 1,
        since: now,
        until: now + 5 * MINUTE,
      },
    ]);
    const kept = { ...KEY, keyId: 2, bannedUntil: now + 5 * MINUTE };
    expect(await limits.admit(kept, now, false)).toMatchObject({
      refusing: "ban",
      bannedUntil: now + 5 * MINUTE,
    });
  });
});

describe("with more clients than memory is for", () => {
  test("what is written down is forgotten, what is not is kept, and what is forgotten can be read again", async () => {
    const { limits } = someLimits({ clientsInMemory: 100 });
    const key = (id: number) => ({ ...KEY, keyId: id, clientId: id, perMinute: 2 });
    for (let id = 1; id <= 100; id++) await limits.admit(key(id), NOON, false);
    expect(limits.isCrowded()).toBe(false);
    await limits.admit(key(101), NOON, false);
    const written = limits.takeChanged(500);
    limits.areKept(written);
    await limits.admit(key(7), NOON, false);
    for (let time = 0; time < 2; time++) await limits.admit(key(102), NOON, false);
    expect(limits.isCrowded()).toBe(true);
    limits.trim();

    expect((await limits.admit(key(7), NOON, false)).refusing).toBe("minute");
    expect((await limits.admit(key(102), NOON, false)).refusing).toBe("minute");
    const { clientId: _clientId, ...windows } = windowsIn(written).find(
      ({ clientId }) => clientId === 50,
    ) as Row;
    limits.introduce(knownKey(key(50), { windows }));
    expect((await limits.admit(key(50), NOON, false)).refusing).toBeNull();
    expect((await limits.admit(key(50), NOON, false)).refusing).toBe("minute");
    const left = windowsIn(limits.takeChanged(500)).map(({ clientId }) => clientId);
    expect(left.sort((a, b) => a - b)).toEqual([7, 50, 102]);
  });

  test("a ban that the database does not have yet holds on", async () => {
    const { limits } = someLimits({ clientsInMemory: 1 });
    for (let time = 0; time < 2; time++) await limits.admit(KEY, NOON, false);
    for (let time = 0; time < 20; time++) await limits.admit(KEY, NOON + PAST_GRACE, false);
    await limits.admit({ ...KEY, keyId: 2, clientId: 2 }, NOON, false);
    limits.areKept(limits.takeChanged(500));
    expect(limits.isCrowded()).toBe(true);
    limits.trim();
    expect((await limits.admit(KEY, NOON + PAST_GRACE, false)).refusing).toBe("ban");
  });
});

test("no strike is lost while admins change other clients", async () => {
  await using store = await aStore({ BAN_STRIKES: "10000" });
  const person = await oneAMinute(store);
  const other = await store.newPerson("customer");
  await spendMinute(store, person);
  let isOver = false;
  const changing = Array.from({ length: 4 }, async () => {
    while (!isOver) await store.admin.patch(`/admin/clients/${other.clientId}`, { name: "Shop" });
  });
  expect(await askTimes(person, 500)).toEqual({ 429: 500 });
  isOver = true;
  await Promise.all(changing);
  expect((await limitsOf(person)).strikes.count).toBe(500);
  expect((await ask(person)).status).toBe(429);
});
