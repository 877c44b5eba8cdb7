// What limits owe about strikes and bans, whoever judges them; a part of the one suite.
import { describe, expect, test } from "bun:test";
import type { Conduct } from "../../src/core/bans.ts";
import { NOON } from "../harness.ts";
import type { OpenShop, Shop, ShopKey } from "./shop.ts";
import { DAY, MINUTE, PAST_GRACE, SECOND } from "./spending.ts";

/** Spends the only request of a minute, gets the first 429, lets the grace pass, and strikes so often. */
export async function strike(shop: Shop, key: ShopKey, times: number): Promise<void> {
  expect(await key.times(2)).toEqual({ ok: 1, minute: 1 });
  shop.clock.now += PAST_GRACE;
  expect(await key.times(times)).toEqual({ minute: times });
}

/** The cases about who is banned, and for how long. */
export function banCases(name: string, opened: OpenShop): void {
  describe(`limits in ${name}: bans`, () => {
    test("what follows the first 429 within the grace is forgiven; then it strikes, and the last strike bans", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1000 });
      expect(await key.times(30)).toEqual({ ok: 1, minute: 29 });
      shop.clock.now += 2 * SECOND;
      expect(await key.times(30)).toEqual({ minute: 30 });
      shop.clock.now += 1;
      expect(await key.times(19)).toEqual({ minute: 19 });
      expect(shop.bans).toEqual([]);
      expect(await key.times(21)).toEqual({ minute: 1, ban: 20 });
      const { now } = shop.clock;
      expect(shop.bans).toMatchObject([
        { keyId: 1, clientId: 1, level: 1, since: now, until: now + 5 * MINUTE },
      ]);
      expect(await key.request()).toMatchObject({ refusing: "ban", bannedUntil: now + 5 * MINUTE });
      shop.clock.now += 5 * MINUTE - 1;
      expect(await key.times(1)).toEqual({ ban: 1 });
      shop.clock.now += 1;
      expect(await key.times(2)).toEqual({ ok: 1, minute: 1 });
    });

    test("two keys of a client are judged apart", async () => {
      await using shop = await opened();
      const quota = { perMinute: 1, perDay: 1000 };
      const [first, second] = [shop.key(1, 1, quota), shop.key(2, 1, quota)];
      await strike(shop, first, 20);
      expect(await second.times(5)).toEqual({ minute: 5 });
      expect((await second.standing()).conduct.strikes).toEqual([]);
      expect(await first.times(1)).toEqual({ ban: 1 });
      shop.clock.now += MINUTE;
      expect(await second.times(1)).toEqual({ ok: 1 });
    });

    test("each ban is longer, up to the last, and each good day takes a level off", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1_000_000 });
      for (const [index, minutes] of [5, 15, 60, 1440, 1440].entries()) {
        await strike(shop, key, 20);
        expect(shop.bans.at(-1)).toMatchObject({
          level: index + 1,
          until: shop.clock.now + minutes * MINUTE,
        });
        shop.clock.now += minutes * MINUTE;
      }
      shop.clock.now += 3 * DAY - MINUTE;
      await strike(shop, key, 20);
      expect(shop.bans.at(-1)?.level).toBe(4);
      shop.clock.now += 1440 * MINUTE + 10 * DAY;
      await strike(shop, key, 20);
      expect(shop.bans.at(-1)?.level).toBe(1);
    });

    test("strikes count for five minutes", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1_000_000 });
      await strike(shop, key, 19);
      shop.clock.now += 5 * MINUTE;
      await strike(shop, key, 19);
      expect(shop.bans).toEqual([]);
      expect((await key.standing()).conduct.strikes).toHaveLength(19);
    });

    test("a ban earned on the daily quota ends with the day", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 100, perDay: 1 });
      const midnight = NOON + DAY / 2;
      shop.clock.now = midnight - 3 * MINUTE;
      expect(await key.times(2)).toEqual({ ok: 1, day: 1 });
      shop.clock.now += PAST_GRACE;
      expect(await key.times(21)).toEqual({ day: 20, ban: 1 });
      expect(shop.bans.at(-1)?.until).toBe(midnight);
      shop.clock.now = midnight;
      expect(await key.times(1)).toEqual({ ok: 1 });
    });

    test("a ban that the database knows refuses, costs nothing, and ends when it says", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 5, perDay: 100 });
      shop.impose(1, 7);
      expect(await key.times(3)).toEqual({ ban: 3 });
      expect((await key.standing()).bannedUntil).toBe(NOON + 7 * MINUTE);
      shop.clock.now += 7 * MINUTE;
      const { refusing, state } = await key.request();
      expect([refusing, state.day.remaining]).toEqual([null, 99]);
    });

    test("a lift ends it at once, strikes are gone and the level stays", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1_000_000 });
      await strike(shop, key, 20);
      expect(await key.times(1)).toEqual({ ban: 1 });
      shop.clock.now += SECOND;
      shop.lift(1);
      expect((await key.request()).refusing).toBe("minute");
      const { conduct, bannedUntil } = await key.standing();
      expect([conduct.level, conduct.goodSince >= shop.clock.now, bannedUntil]).toEqual([1, true, null]);
      expect(conduct.strikes.length).toBeLessThanOrEqual(1);
      shop.clock.now += MINUTE;
      expect(await key.times(1)).toEqual({ ok: 1 });
      shop.clock.now += 10 * MINUTE;
      await strike(shop, key, 20);
      expect(shop.bans.at(-1)?.level).toBe(2);
      expect(await key.times(1)).toEqual({ ban: 1 });
    });

    test("what the database knows of a key's conduct is where it starts", async () => {
      await using shop = await opened();
      const conduct: Conduct = {
        windowResetAt: NOON + MINUTE,
        firstRefusedAt: NOON - 5 * SECOND,
        strikes: Array.from({ length: 19 }, (_, index) => NOON - index),
        level: 2,
        goodSince: NOON,
      };
      shop.inherit(1, conduct);
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1000 });
      expect((await key.standing()).conduct).toEqual(conduct);
      expect(await key.times(3)).toEqual({ ok: 1, minute: 1, ban: 1 });
      expect(shop.bans).toMatchObject([{ level: 3, until: NOON + 60 * MINUTE }]);
    });
  });
}
