// The rules are written twice, in TypeScript and in Lua. Long random histories go through both, and all that is told is compared.
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { BanRules } from "../../src/core/bans.ts";
import { memoryLimits } from "../../src/limits/memory.ts";
import { seed } from "../seed.ts";
import { aValkey } from "../servers/valkey.ts";
import { inValkey } from "./in-valkey.ts";
import { aShop, type Shop, type ShopKey } from "./shop.ts";
import { DAY, MINUTE, SECOND } from "./spending.ts";

const HISTORIES = 60;
const STEPS = 400;

/** Small, so that a short history has bans of every length. */
const rules: BanRules = { strikes: 3, strikeWindowSeconds: 30, graceSeconds: 1, minutes: [1, 2, 5] };
const CLIENTS = 2;
const KEYS_EACH = 2;
const quotas = [
  { perMinute: 1, perDay: 4 },
  { perMinute: 2, perDay: 1000 },
  { perMinute: 3, perDay: 6 },
  { perMinute: 10, perDay: 12 },
];

type Step =
  | { readonly does: "request" | "look" | "question" | "lift" | "settle"; readonly key: number }
  | { readonly does: "address"; readonly key: number; readonly isFree: boolean }
  | { readonly does: "wait"; readonly ms: number }
  | { readonly does: "plan"; readonly client: number; readonly quota: number }
  | { readonly does: "impose"; readonly key: number; readonly minutes: number }
  | { readonly does: "burst"; readonly key: number; readonly times: number };

const key = fc.nat(CLIENTS * KEYS_EACH - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant("request" as const), key }) },
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant("burst" as const), key, times: fc.integer({ min: 2, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom("look" as const, "question" as const, "settle" as const),
      key,
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("lift" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("impose" as const),
      key,
      minutes: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("address" as const), key, isFree: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("plan" as const),
      client: fc.nat(CLIENTS - 1),
      quota: fc.nat(quotas.length - 1),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      ms: fc.oneof(
        fc.constantFrom(1, SECOND, SECOND + 1, 2 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE),
        fc.constantFrom(MINUTE, DAY / 24, DAY / 2, DAY),
        fc.integer({ min: 1, max: 3 * MINUTE }),
        // A clock that is set back.
        fc.integer({ min: -2 * MINUTE, max: -1 }),
        fc.constantFrom(-MINUTE, -MINUTE, -DAY, -DAY, -2 * DAY, -3 * DAY),
      ),
    }),
  },
);

/** Does one step in a shop and gives all that was told. */
async function told(shop: Shop, keys: readonly ShopKey[], each: Step): Promise<unknown> {
  const plain = ({ judgedAt: _, ...rest }: { judgedAt?: number }) => rest;
  switch (each.does) {
    case "request":
      return plain(await (keys[each.key] as ShopKey).request());
    case "burst": {
      const key = keys[each.key] as ShopKey;
      const isOneTurn = each.times % 2 === 0;
      return isOneTurn ? (await key.atOnce(each.times)).map(plain) : key.times(each.times);
    }
    case "look":
      return plain(await (keys[each.key] as ShopKey).look());
    case "question": {
      const { standing, waitSeconds } = await (keys[each.key] as ShopKey).question();
      return { standing: plain(standing), waitSeconds };
    }
    case "address":
      return plain(await shop.address(`192.0.2.${each.key}`, each.isFree));
    case "lift":
      return shop.lift(each.key + 1);
    case "impose":
      return shop.impose(each.key + 1, each.minutes);
    case "settle":
      return shop.settle();
    case "plan":
      for (let index = 0; index < KEYS_EACH; index++)
        (keys[each.client * KEYS_EACH + index] as ShopKey).quota = quotas[
          each.quota
        ] as (typeof quotas)[number];
      return null;
    case "wait":
      shop.clock.now += each.ms;
      return null;
  }
}

const valkey = await aValkey();
afterAll(() => valkey[Symbol.asyncDispose]());

test("memory and Valkey tell the same of every history", async () => {
  const seen = { ok: 0, minute: 0, day: 0, ban: 0, bans: 0, levels: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: "max" }), async (steps) => {
      await using one = await aShop(async (options) => ({ limits: memoryLimits(options), close: () => {} }), {
        rules,
      });
      await using other = await aShop((options, { name }) => inValkey(valkey, name, options), { rules });
      const shops = [one, other].map((shop) => ({
        shop,
        keys: Array.from({ length: CLIENTS * KEYS_EACH }, (_, index) =>
          shop.key(index + 1, Math.floor(index / KEYS_EACH) + 1, quotas[0] as (typeof quotas)[number]),
        ),
      }));
      for (const each of steps) {
        const answers: unknown[] = [];
        for (const { shop, keys } of shops) answers.push(await told(shop, keys, each));
        expect({ each, told: answers[1] }).toEqual({ each, told: answers[0] });
        const refusing = (answers[0] as { refusing?: keyof typeof seen | null } | null)?.refusing;
        if (refusing !== undefined) seen[refusing ?? "ok"] += 1;
      }
      expect(other.bans).toEqual(one.bans);
      expect(other.events).toEqual(one.events);
      seen.bans += one.bans.length;
      seen.levels = Math.max(seen.levels, ...one.bans.map(({ level }) => level));
    }),
    { seed, numRuns: HISTORIES, endOnFailure: true },
  );
  // The histories must have been worth it.
  expect(seen.bans).toBeGreaterThan(HISTORIES);
  expect(seen.levels).toBeGreaterThan(rules.minutes.length);
  for (const answer of ["ok", "minute", "day", "ban"] as const)
    expect(seen[answer]).toBeGreaterThan(HISTORIES);
}, 60_000);
