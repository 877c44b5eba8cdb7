import { afterAll, describe, expect, test } from "bun:test";
import { ADDRESSES_IN_MEMORY } from "../../src/limits/memory.ts";
import { ownersAt, urlAt } from "../../src/limits/valkey/owners.ts";
import { eventually } from "../cli/command.ts";
import { NOON } from "../harness.ts";
import { aFreePort } from "../servers/port.ts";
import { aValkey } from "../servers/valkey.ts";
import { inValkey } from "./in-valkey.ts";
import { instances, KEY, times } from "./instances.ts";
import { knownKey, RULES } from "./shop.ts";
import { DAY, MINUTE, PAST_GRACE, SECOND } from "./spending.ts";

const valkey = await aValkey();
afterAll(() => valkey[Symbol.asyncDispose]());

describe("what is kept in Valkey", () => {
  test("expires by itself, each key, when nothing is left of it", async () => {
    using shared = await instances(valkey, 1);
    const { one, clock, prefix } = shared;
    const key = { ...KEY, perMinute: 1 };
    await times(one, key, 2, clock.now);
    clock.now += PAST_GRACE;
    await times(one, key, 20, clock.now);
    await one.limits.ask(key, clock.now);
    await one.limits.admitAddress("192.0.2.7", clock.now, false);
    const client = valkey.client();
    const keys = (await client.keys(`${prefix}:*`)).sort();
    const seconds: Record<string, number> = {};
    for (const each of keys) seconds[each.slice(prefix.length + 1)] = await client.ttl(each);
    const expected = {
      "{address:192.0.2.7}:windows": DAY / 2 / SECOND + 60,
      "{client:1}:key:1": (5 * MINUTE + DAY) / SECOND + 60,
      "{client:1}:key:1:questions": 120,
      "{client:1}:windows": (DAY / 2 + DAY) / SECOND,
      "{probe}": 10,
    };
    expect(Object.keys(seconds)).toEqual(Object.keys(expected));
    for (const [each, ttl] of Object.entries(expected))
      expect(Math.abs((seconds[each] as number) - ttl)).toBeLessThanOrEqual(5);
  });

  test("is bounded for addresses: when there are too many the rest share one count", async () => {
    using shared = await instances(valkey, 1);
    const { one, clock, prefix } = shared;
    const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    for (let first = 0; first < ADDRESSES_IN_MEMORY; first += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          one.limits.admitAddress(address(first + index), clock.now, false),
        ),
      );
    for (let index = 0; index < 70; index++)
      await one.limits.admitAddress(address(ADDRESSES_IN_MEMORY + index), clock.now, false);
    const late = await one.limits.admitAddress("192.0.2.1", clock.now, false);
    expect(late).toMatchObject({ refusing: "minute" });
    expect((await one.limits.admitAddress(address(7), clock.now, false)).state.minute.remaining).toBe(58);
    expect(await valkey.client().exists(`${prefix}:{address:192.0.2.1}:windows`)).toBe(0);
    expect(one.said).toEqual([]);
  }, 60_000);

  test("is found in a cluster: no script touches two slots", async () => {
    await using cluster = await aValkey({ bus: aFreePort() });
    await cluster.client().call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    const isWhole = async () =>
      String(await cluster.client().call("CLUSTER", "INFO")).includes("cluster_state:ok");
    expect(await eventually(isWhole, 10_000)).toBe(true);
    using shared = await instances(cluster, 1);
    const { one, clock } = shared;
    const key = { ...KEY, perMinute: 1 };
    one.limits.introduce(knownKey(key, { lifts: 1 }));
    expect(await times(one, key, 2, clock.now)).toEqual({ ok: 1, minute: 1 });
    await one.limits.ask(key, clock.now);
    await one.limits.admitAddress("2001:db8:1:2::/64", clock.now, false);
    expect([one.said, one.limits.state().isAway]).toEqual([[], false]);
  });

  test("is found at the host that a node of a cluster announces, be it a name, IPv6 or none", async () => {
    await using cluster = await aValkey({ bus: aFreePort() });
    const client = cluster.client();
    await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    const announced = async (...settings: [string, string][]) => {
      for (const [name, value] of settings) await client.config("SET", `cluster-${name}`, value);
      return (await ownersAt(cluster.url, 1000))?.map(({ address }) => address);
    };
    const { port } = cluster;
    expect(await announced()).toEqual([`127.0.0.1:${port}`]);
    expect(await announced(["announce-ip", "2001:db8::7"])).toEqual([`[2001:db8::7]:${port}`]);
    const byName = ["preferred-endpoint-type", "hostname"] as [string, string];
    expect(await announced(byName)).toEqual([`[2001:db8::7]:${port}`]);
    expect(await announced(["announce-hostname", "one.example"])).toEqual([`one.example:${port}`]);
    expect(await announced(["preferred-endpoint-type", "unknown-endpoint"])).toEqual([`127.0.0.1:${port}`]);
    const [user, other] = ["rediss://shop:s%40cret@a:1/0?family=6", "[2001:db8::7]:7000"];
    expect(urlAt(user, other)).toBe("rediss://shop:s%40cret@[2001:db8::7]:7000/0?family=6");
    expect(await ownersAt(valkey.url, 1000)).toBeNull();
  });

  test("is not looked for at several addresses unless they are of one cluster", async () => {
    const options = { bans: RULES, anonymous: KEY, onBan: () => {}, tell: () => {} };
    await using other = await aValkey();
    const { said, limits, close } = await inValkey({ urls: [valkey.url, other.url] }, "several", options);
    expect(limits.state().isAway).toBe(true);
    expect(said.join()).toContain("is no node of a cluster, and there are several addresses");
    expect((await limits.admit(KEY, NOON, false)).refusing).toBeNull();
    close();
  });

  test("survives the loss of the scripts", async () => {
    using shared = await instances(valkey, 1);
    const { one, clock } = shared;
    expect(await times(one, KEY, 2, clock.now)).toEqual({ ok: 2 });
    await valkey.client().script("FLUSH");
    const all = await Promise.all(Array.from({ length: 58 }, () => one.limits.admit(KEY, clock.now, false)));
    expect(all.every(({ refusing }) => refusing === null)).toBe(true);
    expect(await times(one, KEY, 1, clock.now)).toEqual({ minute: 1 });
    expect(one.said).toEqual([]);
  });
});
