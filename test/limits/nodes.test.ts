// What an instance knows of the nodes of a cluster: which are there, and which of them owns what.
import { afterAll, expect, test } from "bun:test";
import { type Nodes, type NodesOptions, openNodes } from "../../src/limits/valkey/nodes.ts";
import { eventually } from "../cli/command.ts";
import { aCluster } from "../servers/cluster.ts";
import type { ValkeyServer } from "../servers/valkey.ts";

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
    onBack: (node) => void said.push(`back: ${node}`),
    ...options,
  });
  return { ...nodes, said, [Symbol.dispose]: nodes.close };
}

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
