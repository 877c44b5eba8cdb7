// What an instance knows of the nodes of a cluster: which are there, and which of them owns what.
import { afterAll, expect, test } from "bun:test";
import { type Nodes, type NodesOptions, openNodes } from "../../src/limits/valkey/nodes.ts";
import { eventually } from "../cli/command.ts";
import { aCluster } from "../servers/cluster.ts";
import { aFreePort } from "../servers/port.ts";
import { aDoor } from "../servers/proxy.ts";
import { aValkey, type ValkeyServer } from "../servers/valkey.ts";

const BACK_WITHIN_MS = 2000;

const cluster = await aCluster("secret");
afterAll(() => cluster[Symbol.asyncDispose]());
const [first, second] = cluster.primaries as [ValkeyServer, ValkeyServer];

/** A key that belongs to a node. */
async function keyAt(node: ValkeyServer): Promise<string> {
  for (let number = 0; ; number++) {
    const key = `{key:${number}}`;
    if ((await cluster.homeOf(key)) === node) return key;
  }
}

/** Nodes as they are known to somebody who has missed nothing, and what was said of them. */
function known(options: Partial<NodesOptions> = {}): Nodes & Disposable & { readonly said: string[] } {
  const said: string[] = [];
  const nodes = openNodes({
    urls: [first.url],
    timeoutMs: 500,
    probeKey: (number) => `probe:{${number}}`,
    catchUp: async () => {},
    tellRest: () => {},
    onAway: (_, node) => void said.push(`away: ${node}`),
    onStillAway: () => {},
    onBack: (node) => void said.push(`back: ${node}`),
    ...options,
  });
  return { ...nodes, said, [Symbol.dispose]: nodes.close };
}

test("a node that was taken out of its cluster tells a start nothing: another does", async () => {
  await using alone = await aValkey({ bus: aFreePort(), password: "secret" });
  const door = await aDoor(first.port);
  using nodes = known({ urls: [alone.url, `redis://:secret@127.0.0.1:${door.port}`] });
  await nodes.known;
  await door[Symbol.asyncDispose]();
  expect(nodes.to(await keyAt(second))).not.toBeNull();
  expect(nodes.said).toEqual([]);
});

test("a node comes back though the slot that it is asked for is on its way to another", async () => {
  const probe = await keyAt(first);
  const slot = await cluster.slotOf(probe);
  using nodes = known({ probeKey: (number) => (number === 0 ? probe : `probe:{${number}}`) });
  await nodes.known;
  await cluster.beginMove(slot, first, cluster.empty);
  await first.client().del(probe);
  await first.client().call("CLIENT", "KILL", "TYPE", "normal");
  expect(await eventually(() => nodes.said.length === 2, BACK_WITHIN_MS)).toBe(true);
  expect(nodes.said.map((each) => each.slice(0, 4))).toEqual(["away", "back"]);
  await cluster.endMove(slot, cluster.empty, first);
});

test("a node without slots that was late is back as soon as it answers", async () => {
  const key = await keyAt(first);
  const slot = await cluster.slotOf(key);
  using nodes = known();
  await nodes.known;
  await cluster.beginMove(slot, first, cluster.empty);
  cluster.empty.stall();
  await expect(nodes.to(key)?.("addWindows", key, "", "60", "0", "0", "0", "0")).rejects.toThrow();
  cluster.empty.goOn();
  const name = `127.0.0.1:${cluster.empty.port}`;
  expect(await eventually(() => nodes.said.length === 2, BACK_WITHIN_MS)).toBe(true);
  expect(nodes.said).toEqual([`away: ${name}`, `back: ${name}`]);
  await cluster.endMove(slot, cluster.empty, first);
});

test("a node that goes away while another catches up is not back with that one", async () => {
  const key = await keyAt(second);
  const said: string[] = [];
  const isAway = Promise.withResolvers<void>();
  using nodes = known({
    // The first one's slots are put in force after the second has gone.
    catchUp: async (_, owns) => {
      if (!owns(0)) return;
      await second.client().call("CLIENT", "KILL", "TYPE", "normal");
      await isAway.promise;
    },
    onAway: () => {
      said.push("away");
      isAway.resolve();
    },
    onBack: () => void said.push(nodes.to(key) ? "back" : "said to be back"),
  });
  expect(await eventually(() => nodes.to(key) !== null, BACK_WITHIN_MS)).toBe(true);
  expect(said).toEqual(["away", "back"]);
});
