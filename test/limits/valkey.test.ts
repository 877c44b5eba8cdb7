import { afterAll, describe, expect, test } from "bun:test";
import { goodConduct } from "../../src/core/bans.ts";
import { openLog } from "../../src/http/log.ts";
import { start } from "../../src/main.ts";
import { eventually } from "../cli/command.ts";
import { aStore } from "../harness.ts";
import { aDoor } from "../servers/proxy.ts";
import { aValkey } from "../servers/valkey.ts";
import { inValkey } from "./in-valkey.ts";
import { instances, KEY, times } from "./instances.ts";
import { knownKey, RULES } from "./shop.ts";
import { DAY, MINUTE, PAST_GRACE, SECOND, todayLasts } from "./spending.ts";

const valkey = await aValkey();
afterAll(() => valkey[Symbol.asyncDispose]());
const STRIKES = 5;
const BACK_WITHIN_MS = 3000;

/** Two instances of which one reaches Valkey through a door, and has earned strikes while it was shut. */
async function oneCutOff() {
  const door = await aDoor(valkey.port);
  const shared = await instances(valkey, 1);
  const options = {
    bans: RULES,
    anonymous: { perMinute: 60, perDay: 1000 },
    onBan: () => {},
    tell: () => {},
    clock: () => shared.clock.now,
  };
  const alone = await inValkey({ url: `redis://127.0.0.1:${door.port}` }, shared.prefix, options);
  const key = { ...KEY, perMinute: 1 };
  await times(alone, key, 2, shared.clock.now);
  door.shut();
  expect(await eventually(() => alone.limits.state().isAway, 1000)).toBe(true);
  shared.clock.now += PAST_GRACE;
  expect(await times(alone, key, STRIKES, shared.clock.now)).toEqual({ minute: STRIKES });
  return {
    ...shared,
    alone,
    key,
    door,
    strikes: async () => (await shared.one.limits.ask(key, shared.clock.now)).standing.conduct.strikes.length,
    async [Symbol.asyncDispose]() {
      shared[Symbol.dispose]();
      alone.close();
      await door[Symbol.asyncDispose]();
    },
  };
}

describe("instances that share a Valkey", () => {
  test("admit exactly as many as the plan says, over 50 connections at once", async () => {
    using shared = await instances(valkey, 50);
    const { all, clock } = shared;
    const answers = await Promise.all(
      all.flatMap(({ limits }, index) =>
        Array.from({ length: 10 }, () => limits.admit({ ...KEY, keyId: index }, clock.now, false)),
      ),
    );
    const admitted = answers.filter(({ refusing }) => refusing === null);
    expect(admitted).toHaveLength(60);
    expect(new Set(admitted.map(({ state }) => state.day.remaining)).size).toBe(60);
  });

  test("admit exactly the day's quota, and tell once that it runs out", async () => {
    using shared = await instances(valkey, 10);
    const key = { ...KEY, perMinute: 100_000, perDay: 2000 };
    const answers = await Promise.all(
      shared.all.flatMap(({ limits }) =>
        Array.from({ length: 300 }, () => limits.admit(key, shared.clock.now, false)),
      ),
    );
    expect(answers.filter(({ refusing }) => refusing === null)).toHaveLength(2000);
    expect(answers.filter(({ refusing }) => refusing === "day")).toHaveLength(1000);
    expect(shared.events).toMatchObject([{ type: "quota.warning", data: { used: 1600 } }]);
  });

  test("count strikes together: one instance hears of the ban, and all refuse at once", async () => {
    using shared = await instances(valkey, 4);
    const { all, one, clock, bans, events } = shared;
    const key = { ...KEY, perMinute: 1 };
    expect(await times(one, key, 2, clock.now)).toEqual({ ok: 1, minute: 1 });
    clock.now += PAST_GRACE;
    for (const each of all) expect(await times(each, key, 5, clock.now)).toEqual({ minute: 5 });
    expect(bans).toHaveLength(1);
    expect(events.filter(({ type }) => type === "key.strike_warning")).toHaveLength(1);
    for (const each of all)
      expect(await each.limits.admit(key, clock.now, false)).toMatchObject({
        refusing: "ban",
        bannedUntil: clock.now + 5 * MINUTE,
      });
    const { standing } = await shared.other.limits.ask(key, clock.now);
    expect(standing).toMatchObject({
      bannedUntil: clock.now + 5 * MINUTE,
      conduct: { level: 1, strikes: [] },
    });
  });

  test("read a key's conduct once and keep it once for all that one turn refuses, and judge each by those before", async () => {
    using shared = await instances(valkey, 1);
    const { one, clock, bans } = shared;
    const key = { ...KEY, perMinute: 1 };
    expect(await times(one, key, 2, clock.now)).toEqual({ ok: 1, minute: 1 });
    clock.now += PAST_GRACE;
    const calls = async (command: string) =>
      Number(
        new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await valkey.client().info("commandstats"))?.[1],
      );
    const inOneTurn = async (number: number) => {
      const before = [await calls("hmget"), await calls("hset")] as const;
      // Each request knows its caller by itself.
      const all = Array.from({ length: number }, async () => one.limits.admit({ ...key }, clock.now, false));
      const refusing = (await Promise.all(all)).map((each) => each.refusing);
      const [read, kept] = [(await calls("hmget")) - before[0], (await calls("hset")) - before[1]];
      return { refusing, read, kept };
    };
    // The windows are read beside it.
    expect(await inOneTurn(12)).toEqual({ refusing: Array(12).fill("minute"), read: 2, kept: 1 });
    const { standing } = await one.limits.ask(key, clock.now);
    expect(standing.conduct.strikes).toEqual(Array(12).fill(clock.now));
    // And the ban is kept beside it.
    const refusing = [...Array(8).fill("minute"), ...Array(4).fill("ban")];
    expect(await inOneTurn(12)).toEqual({ refusing, read: 2, kept: 2 });
    expect(bans).toHaveLength(1);
  });

  test("one that learns of a lift frees all, and what others still believe brings nothing back", async () => {
    using shared = await instances(valkey, 2);
    const { one, other, clock } = shared;
    const key = { ...KEY, perMinute: 1 };
    await times(one, key, 2, clock.now);
    clock.now += PAST_GRACE;
    expect(await times(one, key, 21, clock.now)).toEqual({ minute: 20, ban: 1 });
    const until = clock.now + 5 * MINUTE;
    clock.now += MINUTE;

    one.limits.introduce(knownKey(key, { lifts: 1 }));
    expect(await times(one, { ...key, lifts: 1 }, 1, clock.now)).toEqual({ ok: 1 });
    // The other has not looked yet: it refuses by what it believes, and changes nothing for the first.
    const believed = { ...key, bannedUntil: until };
    other.limits.introduce(knownKey(believed, { lifts: 0 }));
    expect(await times(other, believed, 5, clock.now)).toEqual({ ban: 5 });
    expect(await times(one, { ...key, lifts: 1 }, 1, clock.now)).toEqual({ minute: 1 });

    // A ban that is earned after the lift is no business of that lift, whoever tells of it again.
    clock.now += PAST_GRACE;
    expect(await times(one, { ...key, lifts: 1 }, 21, clock.now)).toEqual({ minute: 20, ban: 1 });
    for (const each of [one, other]) {
      each.limits.introduce(knownKey(key, { lifts: 1 }));
      expect(await times(each, { ...key, lifts: 1 }, 1, clock.now)).toEqual({ ban: 1 });
    }
  });

  test("do not get strikes back that were lifted while the one that counted them was cut off", async () => {
    await using shop = await oneCutOff();
    const { one, alone, key, clock, door } = shop;
    const lifted = { ...knownKey(key, { lifts: 1 }), conduct: { ...goodConduct, goodSince: clock.now } };
    one.limits.introduce(lifted);
    expect(await shop.strikes()).toBe(0);
    door.open();
    expect(await eventually(() => alone.said.at(-1) === "back", BACK_WITHIN_MS)).toBe(true);
    // What is sent on the way back is there before the first request.
    await alone.limits.ask(key, clock.now);
    expect(await shop.strikes()).toBe(0);
    // The next strike is the first.
    expect(await times(one, { ...key, lifts: 1 }, 1, clock.now)).toEqual({ minute: 1 });
    expect(await shop.strikes()).toBe(1);
  });

  test("hear of strikes that could not be told at once", async () => {
    await using shop = await oneCutOff();
    const { alone, key, door, prefix } = shop;
    const name = `${prefix}:{client:${key.clientId}}:key:${key.keyId}`;
    await valkey.client().set(name, "what no script can add to");
    door.open();
    const wentAway = () => alone.said.filter((text) => text.includes("WRONGTYPE")).length > 0;
    expect(await eventually(wentAway, BACK_WITHIN_MS)).toBe(true);
    await valkey.client().del(name);
    expect(await eventually(async () => (await shop.strikes()) === STRIKES, BACK_WITHIN_MS)).toBe(true);
  });

  test("share the questions of a key and the windows of an address", async () => {
    using shared = await instances(valkey, 2);
    const { one, other, clock } = shared;
    for (let time = 0; time < 30; time++) {
      expect((await one.limits.ask(KEY, clock.now)).waitSeconds).toBeNull();
      expect((await other.limits.ask(KEY, clock.now)).waitSeconds).toBeNull();
      expect((await one.limits.admitAddress("192.0.2.7", clock.now, false)).refusing).toBeNull();
      expect((await other.limits.admitAddress("192.0.2.7", clock.now, false)).refusing).toBeNull();
    }
    expect((await one.limits.ask(KEY, clock.now)).waitSeconds).toBe(60);
    expect((await other.limits.admitAddress("192.0.2.7", clock.now, false)).refusing).toBe("minute");
  });
});

test("Valkey's own clock judges, whatever the instance believes", async () => {
  await todayLasts(10);
  using shared = await instances(valkey, 2, true);
  const { one, other } = shared;
  const key = { ...KEY, perMinute: 2 };
  const wrong = Date.parse("2001-01-01T00:00:00Z");
  for (const [each, now] of [
    [one, wrong],
    [other, Date.now() + DAY],
  ] as const) {
    const { refusing, judgedAt, state } = await each.limits.admit(key, now, false);
    expect(refusing).toBeNull();
    expect(Math.abs((judgedAt ?? 0) - Date.now())).toBeLessThan(2 * SECOND);
    expect(Math.abs(state.minute.resetAt * SECOND - Date.now() - MINUTE)).toBeLessThan(3 * SECOND);
  }
  expect((await one.limits.admit(key, wrong, false)).refusing).toBe("minute");
});

test("what an instance tells of limits is told by Valkey's clock, however far ahead its own is", async () => {
  await todayLasts(10);
  await using store = await aStore({ VALKEY_URL: valkey.url, BAN_GRACE_SECONDS: "0" });
  const person = await store.newPerson("customer", { quota: { perMinute: 2, perDay: 100 } });
  const ahead = await start(
    { ...store.config, port: 0 },
    { clock: () => Date.now() + 6 * MINUTE, log: openLog("silent", false, () => {}, Date.now) },
  );
  const headers = { "x-api-key": person.key };
  const asking = (extra = {}) => fetch(`${ahead.url}/pets`, { headers: { ...headers, ...extra } });
  const rehearsed = await asking({ prefer: "simulate=rate_limit" });
  const wait = Number(rehearsed.headers.get("retry-after"));
  expect(wait).toBeWithin(1, 61);
  expect(rehearsed.headers.get("ratelimit")).toContain(`"minute";r=0;t=${wait}`);
  for (let asked = 0; asked < 4; asked++) {
    await asking();
    await Bun.sleep(2);
  }
  const answer = await fetch(`${ahead.url}/account/limits`, { headers });
  const limits = (await answer.json()) as { strikes: { count: number } };
  await ahead.stop();
  expect(limits.strikes.count).toBeGreaterThan(0);
});
