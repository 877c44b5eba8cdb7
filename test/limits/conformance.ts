// What limits owe, whoever keeps the counts. Memory and Valkey go through the same cases.
import { describe, expect, test } from "bun:test";
import { banCases, strike } from "./ban-conformance.ts";
import { aShop, type OpenLimits, type OpenShop, RULES } from "./shop.ts";
import { MINUTE, PAST_GRACE } from "./spending.ts";
import { windowCases } from "./window-conformance.ts";

const MANY = { perMinute: 1_000_000, perDay: 1_000_000 };

export function limitsConform(name: string, open: OpenLimits): void {
  const opened: OpenShop = (options) => aShop(open, options);

  windowCases(name, opened);
  banCases(name, opened);

  describe(`limits in ${name}: the rest`, () => {
    test("a restart changes nothing: counts, the grace that has begun, strikes and bans", async () => {
      await using shop = await opened();
      const quota = { perMinute: 1, perDay: 10 };
      const [counted, struck, banned] = [
        shop.key(1, 1, { perMinute: 7, perDay: 10 }),
        shop.key(2, 2, quota),
        shop.key(3, 3, quota),
      ];
      expect(await counted.times(5)).toEqual({ ok: 5 });
      await strike(shop, struck, 19);
      await strike(shop, banned, 20);
      await shop.restart();
      expect((await counted.look()).state).toMatchObject({ minute: { remaining: 2 }, day: { remaining: 5 } });
      expect(await counted.times(3)).toEqual({ ok: 2, minute: 1 });
      expect(await banned.times(1)).toEqual({ ban: 1 });
      expect((await struck.standing()).conduct.strikes).toHaveLength(19);
      shop.clock.now += PAST_GRACE;
      await counted.request();
      expect((await counted.standing()).conduct.strikes).toHaveLength(1);
    });

    test("a key may ask 60 questions a minute, which cost nothing", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 1, perDay: 1000 });
      const waits = [];
      for (let time = 0; time < 61; time++) waits.push((await key.question()).waitSeconds);
      expect(waits.slice(0, 60)).toEqual(new Array(60).fill(null));
      expect(waits[60]).toBe(60);
      expect(await shop.key(2, 1, MANY).question()).toMatchObject({ waitSeconds: null });
      expect(await key.times(1)).toEqual({ ok: 1 });
      shop.clock.now += MINUTE;
      expect((await key.question()).waitSeconds).toBeNull();
    });

    test("addresses have windows of their own and never strike", async () => {
      await using shop = await opened();
      const spent: (string | null)[] = [];
      for (let time = 0; time < 4; time++) spent.push((await shop.address("192.0.2.1")).refusing);
      expect(spent).toEqual([null, null, null, "minute"]);
      expect((await shop.address("192.0.2.1", true)).refusing).toBeNull();
      expect((await shop.address("2001:db8:1:2::/64")).state.minute).toMatchObject({
        limit: 3,
        remaining: 2,
      });
      shop.clock.now += MINUTE;
      expect((await shop.address("192.0.2.1")).state).toMatchObject({
        minute: { remaining: 2 },
        day: { limit: 20, remaining: 16 },
      });
    });

    test("who is about to run out is told once, at 80 % of the day and at half the strikes", async () => {
      await using shop = await opened();
      const key = shop.key(1, 1, { perMinute: 10, perDay: 10 });
      await key.times(7);
      expect(shop.events).toEqual([]);
      await key.times(3);
      expect(shop.events).toMatchObject([{ type: "quota.warning", data: { used: 8, limit: 10 } }]);
      expect(await key.times(1)).toEqual({ day: 1 });
      shop.clock.now += PAST_GRACE;
      await key.times(15);
      expect(shop.events.slice(1)).toMatchObject([
        { type: "key.strike_warning", data: { strikes: RULES.strikes / 2 } },
      ]);
    });
  });
}
