// On PostgreSQL a webhook can be made while another instance turns events into deliveries: it misses none that came after it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { type Command, perform } from "../../src/core/perform.ts";
import type { Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { OpenedStore } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../servers/postgres.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const rules = rulesOf(readConfig({}));

let beside: OpenedStore;
let url: string;
beforeAll(async () => {
  url = await (await sharedPostgres()).newStore();
  beside = await openPostgresStore(url, NOW);
});
afterAll(() => beside.close());

test("a webhook is told of every event that follows it and of none before, also one made in the middle of a step", async () => {
  const caller = await beside.transact(async (store) => {
    const client = await store.addClient({ name: "Shop", plan: "pro", perMinute: 300, perDay: 10_000 }, NOW);
    const key = {
      clientId: client.id,
      role: "customer",
      name: null,
      hash: "h",
      lastFour: "abcd",
      expiresAt: null,
    } as const;
    const { id: keyId } = await store.addKey(key, NOW);
    return { clientId: client.id, keyId, role: "customer" } as const;
  });
  const aWebhook: Command = {
    operation: "webhooks.create",
    caller,
    input: { body: { url: "https://shop.example/" } },
    now: NOW,
    random: new Uint8Array(32),
  };
  const aCategory: Command = {
    operation: "categories.create",
    caller,
    input: { body: { name: "Dogs" } },
    now: NOW,
  };
  const done = (command: Command) => beside.transact((store) => perform(store, command, rules));
  await done(aWebhook);
  await done(aCategory);
  await done(aWebhook);

  let isInTheMiddle = true;
  const interrupted = (store: Writes): Writes => ({
    ...store,
    async enabledWebhooks() {
      const seen = await store.enabledWebhooks();
      if (isInTheMiddle) {
        isInTheMiddle = false;
        await done(aWebhook);
        await done(aCategory);
      }
      return seen;
    },
  });
  const engine = openPostgresEngine({
    url,
    rules,
    connections: 3,
    perform: (store, command) => perform(interrupted(store), command, rules),
    onFault: () => {},
  });
  for (let step = 0; step < 3; step++)
    await engine.perform({ operation: "delivering.fanOut", caller, input: {}, now: NOW });
  await engine.close();
  const webhooks = await beside.reads.enabledWebhooks();
  const told = webhooks.map(({ id: webhookId }) =>
    beside.reads.deliveries({ webhookId, descending: true, limit: 10 }),
  );
  expect((await Promise.all(told)).map((deliveries) => deliveries.length)).toEqual([2, 1, 1]);
});
