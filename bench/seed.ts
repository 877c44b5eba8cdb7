import { readConfig } from "../src/config.ts";
import { hashOf, KEY_BYTES, keyFrom } from "../src/core/key-format.ts";
import { perform } from "../src/core/perform.ts";
import { rulesOf } from "../src/core/rules.ts";
import { openStore } from "../src/store/sqlite/store.ts";

export const PETS = 1000;
const PLENTY = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** A store with pets that never run out, and a key that may do everything. */
export async function filledStore(path: string): Promise<string> {
  const { db, transact, close } = openStore(path, Date.now());
  const now = Date.now();
  const rules = rulesOf(readConfig({}));
  const { key } = await transact(async (store) => {
    const run = async (operation: string, input: unknown) => {
      const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
      const performed = await perform(store, { operation, caller, input, now, random }, rules);
      return performed.body as { id: number; key: string };
    };
    const client = await run("admin.clients.create", {
      body: { name: "bench", plan: "enterprise", ...PLENTY },
    });
    await store.addCategory({ name: "Dogs", description: "Loyal" }, now);
    for (let n = 1; n <= PETS; n++) {
      const stock = { status: "available", quantity: 2_000_000_000, openOrders: 0 } as const;
      await store.addPet({ name: `Pet ${n}`, categoryId: 1, ...stock }, now);
    }
    return run("admin.keys.create", { clientId: client.id, body: { role: "staff" } });
  });
  db.rows("pragma wal_checkpoint(truncate)");
  close();
  return key;
}

/** More clients, each with a key; gives the keys. */
export async function addClients(
  path: string,
  count: number,
  perMinute = PLENTY.perMinute,
): Promise<string[]> {
  const { db, transact, close } = openStore(path, Date.now());
  const now = Date.now();
  const keys: string[] = [];
  for (let done = 0; done < count; done += 10_000) {
    await transact(async (store) => {
      for (let n = done; n < Math.min(count, done + 10_000); n++) {
        const key = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
        const quota = { perMinute, perDay: PLENTY.perDay };
        const { id: clientId } = await store.addClient(
          { name: `client ${n}`, plan: "enterprise", ...quota },
          now,
        );
        const record = { clientId, role: "customer", name: null, expiresAt: null } as const;
        await store.addKey({ ...record, hash: hashOf(key), lastFour: key.slice(-4) }, now);
        keys.push(key);
      }
    });
  }
  db.rows("pragma wal_checkpoint(truncate)");
  close();
  return keys;
}
