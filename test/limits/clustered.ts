// Instances that share a cluster, and requests that all of them are sent.
import type { LimitedKey } from "../../src/core/ports.ts";
import { NOON } from "../harness.ts";
import type { Cluster } from "../servers/cluster.ts";
import type { ValkeyServer } from "../servers/valkey.ts";
import { AT_NOON, type InValkey, inValkey } from "./in-valkey.ts";

export interface Clustered extends Disposable {
  readonly all: readonly InValkey[];
  readonly prefix: string;
  /** What one of the nodes has counted of a client. */
  counted(clientId: number, node?: ValkeyServer): Promise<number>;
}

/** So many instances, each of which is told another node's address. */
export async function clustered(cluster: Cluster, number: number, timeoutMs?: number): Promise<Clustered> {
  const prefix = crypto.randomUUID();
  const options = { ...AT_NOON, ...(timeoutMs !== undefined && { timeoutMs }) };
  const doors = [...cluster.primaries, cluster.replica];
  const all = await Promise.all(
    Array.from({ length: number }, (_, index) =>
      inValkey(doors[index % doors.length] as ValkeyServer, prefix, options),
    ),
  );
  return {
    all,
    prefix,
    async counted(clientId, node) {
      const name = `${prefix}:{client:${clientId}}:windows`;
      return Number(await (node ?? (await cluster.homeOf(name))).client().hget(name, "dayCount"));
    },
    [Symbol.dispose]: () => {
      for (const each of all) each.close();
    },
  };
}

export function keyOf(clientId: number, perMinute = 60): LimitedKey {
  return { keyId: clientId, clientId, perMinute, perDay: 1_000_000, bannedUntil: null };
}

export async function admittedOf({ limits }: InValkey, key: LimitedKey, times: number): Promise<number> {
  const all = await Promise.all(Array.from({ length: times }, () => limits.admit(key, NOON, false)));
  return all.filter(({ refusing }) => refusing === null).length;
}

/** All of them ask, over and over, until they are stopped: how many requests were admitted. */
export function askedOf(all: readonly InValkey[], key: LimitedKey) {
  let isOver = false;
  const asking = all.map(async (each) => {
    let admitted = 0;
    while (!isOver) admitted += await admittedOf(each, key, 5);
    return admitted;
  });
  const stop = async () => {
    isOver = true;
    return sum(await Promise.all(asking));
  };
  return { stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
