// A real cluster for the tests: three primaries that share the slots, one that has none, and a replica of the last.
import { eventually } from "../cli/command.ts";
import { aFreePort } from "./port.ts";
import { aValkey, type ValkeyServer } from "./valkey.ts";

const PRIMARIES = 3;
const SLOTS = 16_384;
const MEETS_WITHIN_MS = 20_000;
const MIGRATE_MS = 1000;

export interface Cluster extends AsyncDisposable {
  readonly primaries: readonly ValkeyServer[];
  /** A primary without slots. */
  readonly empty: ValkeyServer;
  /** Of the last primary. */
  readonly replica: ValkeyServer;
  /** The slot of a key, as the cluster says, and the primary that it had at first. */
  slotOf(key: string): Promise<number>;
  homeOf(key: string): Promise<ValkeyServer>;
  /** Begins to move a slot: from now on its keys may be on either node. */
  beginMove(slot: number, from: ValkeyServer, to: ValkeyServer): Promise<void>;
  /** Moves so many of its keys. */
  moveKeys(slot: number, from: ValkeyServer, to: ValkeyServer, most: number): Promise<number>;
  endMove(slot: number, from: ValkeyServer, to: ValkeyServer): Promise<void>;
}

export async function aCluster(password: string): Promise<Cluster> {
  const buses = Array.from({ length: PRIMARIES + 2 }, aFreePort);
  const nodes = await Promise.all(
    buses.map((bus) =>
      aValkey({
        password,
        bus,
        settings: [
          // One node's trouble is not that of the others; and it stays a primary while a test lets it wait.
          ...["--cluster-require-full-coverage", "no", "--cluster-node-timeout", "15000"],
          // A primary that has lost its last slot stays one.
          ...["--cluster-allow-replica-migration", "no"],
          ...["--cluster-announce-hostname", "localhost"],
          ...["--repl-diskless-sync-delay", "0"],
        ],
      }),
    ),
  );
  const primaries = nodes.slice(0, PRIMARIES);
  const [first, last] = [nodes[0] as ValkeyServer, nodes[PRIMARIES - 1] as ValkeyServer];
  const [empty, replica] = nodes.slice(PRIMARIES) as [ValkeyServer, ValkeyServer];
  const on = (node: ValkeyServer, ...args: (string | number)[]) =>
    node.client().call("CLUSTER", ...args.map(String));
  const idOf = async (node: ValkeyServer) => String(await on(node, "MYID"));
  const firstOf = (index: number) => Math.floor((index * SLOTS) / PRIMARIES);

  const meet = async () => {
    for (const [index, node] of nodes.entries()) {
      await on(node, "SET-CONFIG-EPOCH", index + 1);
      if (index < PRIMARIES) await on(node, "ADDSLOTSRANGE", firstOf(index), firstOf(index + 1) - 1);
    }
    for (const [index, node] of nodes.entries())
      for (const other of nodes) await on(other, "MEET", "127.0.0.1", node.port, buses[index] as number);
    const knowsAll = async (node: ValkeyServer) => {
      const info = String(await on(node, "INFO"));
      const named = String(await on(node, "NODES")).match(/,localhost /g) ?? [];
      return info.includes("cluster_state:ok") && named.length === nodes.length;
    };
    await soon(async () => (await Promise.all(nodes.map(knowsAll))).every(Boolean));
    await on(replica, "REPLICATE", await idOf(last));
    await soon(async () => (await replica.client().info("replication")).includes("link_status:up"));
  };
  const dispose = async () => void (await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())));
  await meet().catch(async (error) => {
    await dispose();
    throw error;
  });

  const slotOf = async (key: string) => Number(await on(first, "KEYSLOT", key));
  return {
    primaries,
    empty,
    replica,
    slotOf,
    async homeOf(key) {
      const slot = await slotOf(key);
      return primaries.find((_, index) => slot < firstOf(index + 1)) as ValkeyServer;
    },
    async beginMove(slot, from, to) {
      await on(to, "SETSLOT", slot, "IMPORTING", await idOf(from));
      await on(from, "SETSLOT", slot, "MIGRATING", await idOf(to));
    },
    async moveKeys(slot, from, to, most) {
      const keys = (await on(from, "GETKEYSINSLOT", slot, most)) as string[];
      for (const key of keys)
        await from
          .client()
          .call("MIGRATE", "127.0.0.1", to.port, key, "0", String(MIGRATE_MS), "AUTH", password);
      return keys.length;
    },
    async endMove(slot, from, to) {
      const id = await idOf(to);
      for (const node of [to, from]) await on(node, "SETSLOT", slot, "NODE", id);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

async function soon(isTrue: () => Promise<boolean>): Promise<void> {
  if (!(await eventually(isTrue, MEETS_WITHIN_MS))) throw new Error("The nodes did not find each other.");
}
