// Clients and keys for the cases about access, each of its own.
import type { Writes } from "../../src/core/ports.ts";
import { NOW, type OpenedStore } from "./opened.ts";

/** Of all that this suite has made: names and hashes are used once in a store. */
let made = 0;

export function addClient({ transact }: OpenedStore, name = `client ${++made}`) {
  return transact(async (s) =>
    s.addClient({ name, plan: "pro", perMinute: 300, perDay: 10_000 } as const, NOW),
  );
}

export async function addKey({ transact }: OpenedStore, clientId: number) {
  const hash = String(++made).padStart(64, "0");
  const key = { clientId, role: "staff", name: "till 1", hash, lastFour: "abcd", expiresAt: null } as const;
  return { ...(await transact(async (s) => s.addKey(key, NOW))), hash };
}

export async function run({ transact }: OpenedStore, work: (store: Writes) => unknown): Promise<void> {
  await transact(async (s) => void (await work(s)));
}
