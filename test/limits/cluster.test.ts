import { afterAll, describe, expect, test } from "bun:test";
import { SLOTS, slotOf } from "../../src/limits/valkey/slots.ts";
import { eventually } from "../cli/command.ts";
import { aStore, NOON } from "../harness.ts";
import { aCluster } from "../servers/cluster.ts";
import type { ValkeyServer } from "../servers/valkey.ts";
import { admittedOf, askedOf, clustered, keyOf, sum } from "./clustered.ts";
import { limitsConform } from "./conformance.ts";
import { type InValkey, inValkey } from "./in-valkey.ts";
import { RULES } from "./shop.ts";

const BACK_WITHIN_MS = 2000;

/** How long nodes may take to tell each other. */
const AGREE_WITHIN_MS = 15_000;

/** How much slower a request may be when a node stalls under it, and what a busy machine adds. */
const SLOWER_AT_MOST_MS = 100;

const BUSY_MS = 100;
const cluster = await aCluster("secret");
afterAll(() => cluster[Symbol.asyncDispose]());
const [first, second, third] = cluster.primaries as [ValkeyServer, ValkeyServer, ValkeyServer];
limitsConform("a cluster", (options, { name }) => inValkey(second, name, options));

/** The first client, after another, whose slot is this node's or this one. */
async function clientAt(where: ValkeyServer | number, after = 0): Promise<number> {
  for (let id = after + 1; ; id++) {
    const key = `{client:${id}}`;
    if (typeof where === "number" ? slotOf(key) === where : (await cluster.homeOf(key)) === where) return id;
  }
}

/** Every node calls every other by its host's name. */
async function hostsAreNamed(): Promise<AsyncDisposable> {
  const clients = [...cluster.primaries, cluster.empty, cluster.replica].map((node) => node.client());
  const call = (what: string) =>
    Promise.all(clients.map((client) => client.config("SET", "cluster-preferred-endpoint-type", what)));
  await call("hostname");
  return { [Symbol.asyncDispose]: async () => void (await call("ip")) };
}

/** How many scripts the nodes have run, and how many commands they have turned away. */
async function scriptsRun(): Promise<{ run: number; turnedAway: number }> {
  const all = await Promise.all(cluster.primaries.map((node) => node.client().info("commandstats")));
  const lines = all.flatMap((text) => text.split("\n")).filter((line) => /^cmdstat_eval(sha)?:/.test(line));
  const field = (name: string) =>
    sum(lines.map((line) => Number(new RegExp(`[:,]${name}=(\\d+)`).exec(line)?.[1] ?? 0)));
  return { run: field("calls"), turnedAway: field("rejected_calls") + field("failed_calls") };
}

describe("instances that share a cluster", () => {
  test("know the slot of every key as the cluster does", async () => {
    for (const key of [
      "a",
      "{}a",
      "a{b",
      "p:{client:12}:windows",
      "p:{address:2001:db8::/64}:windows",
      "{a}{b}",
    ])
      expect(slotOf(key)).toBe(await cluster.slotOf(key));
  });

  test("admit exactly as many as the plan says, on all nodes, by one script for the requests of a turn", async () => {
    using shared = await clustered(cluster, 8);
    const clients = Array.from({ length: 24 }, (_, index) => index + 1);
    const before = await scriptsRun();
    const admitted = await Promise.all(
      clients.map(async (id) =>
        sum(await Promise.all(shared.all.map((each) => admittedOf(each, keyOf(id), 15)))),
      ),
    );
    expect(admitted).toEqual(clients.map(() => 60));
    const after = await scriptsRun();
    expect([after.run - before.run, after.turnedAway - before.turnedAway]).toEqual([24 * 8, 0]);
    for (const node of cluster.primaries)
      expect((await node.client().keys(`${shared.prefix}:*`)).length).toBeGreaterThan(3);
    expect(shared.all.flatMap(({ said }) => said)).toEqual([]);
  });

  test("judge no more than a hundred requests in one script: meanwhile its node answers nobody else", async () => {
    using shared = await clustered(cluster, 1);
    const [instance] = shared.all;
    if (!instance) throw new Error("There is no instance.");
    const before = await scriptsRun();
    expect(await admittedOf(instance, keyOf(1), 250)).toBe(60);
    expect((await scriptsRun()).run - before.run).toBe(3);
  });

  test("stay exact while a slot moves, first to a node that had none and then to another", async () => {
    using shared = await clustered(cluster, 3);
    const busy = await clientAt(first);
    const slot = slotOf(`{client:${busy}}`);
    const late = await clientAt(slot, busy);
    const later = await clientAt(slot, late);
    await using asking = askedOf(shared.all, keyOf(busy, 1_000_000));
    const limitedOf = async (id: number) =>
      sum(await Promise.all(shared.all.map((each) => admittedOf(each, keyOf(id), 30))));

    for (const [from, to, id] of [
      [first, cluster.empty, late],
      [cluster.empty, second, later],
    ] as const) {
      await Bun.sleep(100);
      await cluster.beginMove(slot, from, to);
      // A client that is first seen while its slot moves, and its strikes.
      expect(await limitedOf(id)).toBe(60);
      await Bun.sleep(100);
      while ((await cluster.moveKeys(slot, from, to, 1)) > 0) await Bun.sleep(20);
      await Bun.sleep(100);
      await cluster.endMove(slot, from, to);
      await Bun.sleep(100);
      const { conduct } = (await shared.all[0]?.limits.ask(keyOf(id), NOON))?.standing ?? {};
      expect(conduct?.firstRefusedAt).toBe(NOON);
      expect(await limitedOf(id)).toBe(0);
    }
    const admitted = await asking.stop();
    expect(await shared.counted(busy, second)).toBe(admitted);
    expect(await shared.counted(late, second)).toBe(60);
    expect(shared.all.flatMap(({ said }) => said)).toEqual([]);
  });
});

async function everySlotIsKnown(): Promise<boolean> {
  const told = await Promise.all(cluster.primaries.map((node) => node.client().call("CLUSTER", "INFO")));
  return told.every((info) => String(info).includes(`cluster_slots_assigned:${SLOTS}`));
}

describe("a node that is away", () => {
  test("has its clients limited from memory, and nobody else's; it is exact again as soon as it is back", async () => {
    using shared = await clustered(cluster, 2, 300);
    const [one, other] = shared.all as [InValkey, InValkey];
    const [stalled, well] = [await clientAt(third), await clientAt(second)];
    for (const id of [stalled, well])
      expect([await admittedOf(one, keyOf(id), 10), await admittedOf(other, keyOf(id), 10)]).toEqual([
        10, 10,
      ]);
    third.stall();
    expect(await admittedOf(one, keyOf(stalled), 1)).toBe(1);
    expect(await admittedOf(other, keyOf(stalled), 1)).toBe(1);
    // Nobody waits for it any more. The first saw 10 when it was last there, the second 20.
    expect(one.limits.admit(keyOf(stalled), NOON, true)).not.toBeInstanceOf(Promise);
    expect(await admittedOf(other, keyOf(stalled), 100)).toBe(39);
    expect(await admittedOf(one, keyOf(stalled), 5)).toBe(5);
    expect(one.limits.admit(keyOf(well), NOON, true)).toBeInstanceOf(Promise);
    expect(await admittedOf(one, keyOf(well), 10)).toBe(10);
    expect(await shared.counted(well)).toBe(30);
    expect(shared.all.map(({ said }) => said)).toEqual([
      ["away: no answer in 300 ms"],
      ["away: no answer in 300 ms"],
    ]);

    third.goOn();
    const areBack = () => shared.all.every(({ said }) => said.at(-1) === "back");
    expect(await eventually(areBack, BACK_WITHIN_MS)).toBe(true);
    expect([await admittedOf(one, keyOf(stalled), 9), await admittedOf(other, keyOf(stalled), 9)]).toEqual([
      0, 0,
    ]);
    // The two whose answer never came were counted when it went on.
    expect(await shared.counted(stalled)).toBe(20 + 2 + 39 + 5);
    expect(await admittedOf(other, keyOf(well), 100)).toBe(30);
    for (const { limits } of shared.all) expect(limits.state()).toMatchObject({ isAway: false, outages: 1 });
  });

  test("is no other for a slot that nobody has: the rest of its clients stay where they are", async () => {
    using shared = await clustered(cluster, 1);
    const [one] = shared.all as [InValkey];
    const [lost, well] = [await clientAt(second), await clientAt(second, await clientAt(second))];
    const slot = String(slotOf(`{client:${lost}}`));
    for (const id of [lost, well]) expect(await admittedOf(one, keyOf(id), 10)).toBe(10);
    const onAll = (command: string, nodes: readonly ValkeyServer[]) =>
      Promise.all(nodes.map((node) => node.client().call("CLUSTER", command, slot)));
    await onAll("DELSLOTS", [...cluster.primaries, cluster.empty]);
    expect(await admittedOf(one, keyOf(lost), 60)).toBe(50);
    expect(await admittedOf(one, keyOf(well), 10)).toBe(10);
    expect(await shared.counted(well)).toBe(20);
    expect(await eventually(() => one.said.includes(`away: no node has slot ${slot}`), 1000)).toBe(true);
    await onAll("ADDSLOTS", [second]);
    expect(await eventually(everySlotIsKnown, AGREE_WITHIN_MS)).toBe(true);
    expect(await eventually(() => one.said.at(-1) === "back", BACK_WITHIN_MS)).toBe(true);
    expect(await admittedOf(one, keyOf(lost), 1)).toBe(0);
    expect(await shared.counted(lost)).toBe(60);
  });

  test("is one of several addresses: a start finds the others", async () => {
    const options = { bans: RULES, anonymous: keyOf(0), onBan: () => {}, tell: () => {}, clock: () => NOON };
    cluster.empty.stall();
    const urls = [cluster.empty.url, second.url];
    const { limits, said, close } = await inValkey({ urls }, crypto.randomUUID(), options);
    cluster.empty.goOn();
    expect([limits.state().isAway, said]).toEqual([false, []]);
    close();
  });

  test("costs nobody a failure, and only those under way a moment, in a server that finds it by its host's name", async () => {
    await using _ = await hostsAreNamed();
    await using store = await aStore({ VALKEY_URL: first.url, VALKEY_PREFIX: "http:", LOG_LEVEL: "warn" });
    const quota = { perMinute: 100_000, perDay: 100_000 };
    const people = [];
    for (let index = 0; index < 8; index++) people.push(await store.newPerson("customer", { quota }));
    const homes = await Promise.all(people.map(({ clientId }) => cluster.homeOf(`{client:${clientId}}`)));
    expect(homes).toContain(second);
    const took: { status: number; began: number; ms: number }[] = [];
    let [isOver, heldUpMs] = [false, 0];
    const asking = people.map(async ({ key }) => {
      let asked = 0;
      for (; !isOver; asked++) {
        const began = performance.now();
        const { status } = await fetch(`${store.url}/account`, { headers: { "x-api-key": key } });
        const answered = performance.now();
        took.push({ status, began, ms: answered - began });
        await Bun.sleep(5);
        heldUpMs = Math.max(heldUpMs, performance.now() - answered);
      }
      return asked;
    });
    await Bun.sleep(300);
    second.stall();
    const stalledAt = performance.now();
    await Bun.sleep(1200);
    second.goOn();
    const goesOn = performance.now();
    const times = (text: string) => store.logged().split(text).length - 1;
    const isBack = () => times("A node of Valkey is back") === times("A node of Valkey cannot be reached");
    expect(await eventually(isBack, BACK_WITHIN_MS)).toBe(true);
    isOver = true;
    const asked = await Promise.all(asking);

    expect(new Set(took.map(({ status }) => status))).toEqual(new Set([200]));
    const meanwhile = took.filter(({ began, ms }) => began + ms > stalledAt && began < goesOn);
    const slowest = Math.max(...meanwhile.map(({ ms }) => ms));
    expect(slowest).toBeLessThan(SLOWER_AT_MOST_MS + BUSY_MS + heldUpMs);
    expect(store.logged()).toContain(`localhost:${second.port}`);
    expect(store.logged()).not.toContain("secret");
    // All is counted, but for the request of each that may have been under way.
    const outages = times("A node of Valkey cannot be reached");
    expect(outages).toBeGreaterThan(0);
    for (const [index, { clientId }] of people.entries()) {
      const name = `http:{client:${clientId}}:windows`;
      const counted = Number(await homes[index]?.client().hget(name, "dayCount"));
      expect(Math.abs(counted - (asked[index] as number))).toBeLessThanOrEqual(outages);
    }
  });

  test("comes back after a crash, and is told what was counted meanwhile", async () => {
    using shared = await clustered(cluster, 2);
    const [one, other] = shared.all as [InValkey, InValkey];
    const id = await clientAt(second);
    expect(await admittedOf(one, keyOf(id), 10)).toBe(10);
    await second.kill();
    expect(await eventually(() => shared.all.every(({ limits }) => limits.state().isAway), 1000)).toBe(true);
    expect([await admittedOf(one, keyOf(id), 15), await admittedOf(other, keyOf(id), 5)]).toEqual([15, 5]);
    await second.restart();
    // By itself it takes no writes for its first two seconds.
    const takesWrites = async () =>
      String(await second.client().call("CLUSTER", "INFO")).includes("state:ok");
    expect(await eventually(takesWrites, 10_000)).toBe(true);
    expect(await eventually(async () => (await shared.counted(id)) === 30, BACK_WITHIN_MS)).toBe(true);
    expect(sum([await admittedOf(one, keyOf(id), 30), await admittedOf(other, keyOf(id), 30)])).toBe(30);
    expect(shared.all.map(({ said }) => said.at(-1))).toEqual(["back", "back"]);
  });

  test("has a replica that takes its place, and is told what was counted meanwhile", async () => {
    using shared = await clustered(cluster, 2);
    const [one, other] = shared.all as [InValkey, InValkey];
    const id = await clientAt(third);
    expect([await admittedOf(one, keyOf(id), 10), await admittedOf(other, keyOf(id), 10)]).toEqual([10, 10]);
    await third.client().wait(1, 1000);
    await third.kill();
    expect(await eventually(() => shared.all.every(({ limits }) => limits.state().isAway), 1000)).toBe(true);
    expect([await admittedOf(one, keyOf(id), 15), await admittedOf(other, keyOf(id), 5)]).toEqual([15, 5]);
    await cluster.replica.client().call("CLUSTER", "FAILOVER", "TAKEOVER");
    // The first that it answers knows already what this instance counted.
    let seen = one.limits.admit(keyOf(id), NOON, true);
    for (; !(seen instanceof Promise); seen = one.limits.admit(keyOf(id), NOON, true)) await Bun.sleep(0);
    expect((await seen).state.minute.remaining).toBeLessThanOrEqual(60 - 35);
    const isTold = async () => (await shared.counted(id, cluster.replica)) === 40;
    expect(await eventually(isTold, BACK_WITHIN_MS)).toBe(true);
    expect(sum([await admittedOf(one, keyOf(id), 30), await admittedOf(other, keyOf(id), 30)])).toBe(20);
    expect(shared.all.map(({ said }) => said.at(-1))).toEqual(["back", "back"]);
  });
});
