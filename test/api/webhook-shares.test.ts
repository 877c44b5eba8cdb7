import { expect, test } from "bun:test";
import { TRIES_AT_ONCE, TRIES_OF_A_WEBHOOK } from "../../src/worker/shares.ts";
import { aStore } from "../harness.ts";
import { aHook, aReceiver, deliveriesOf, newest, PRIVATE } from "../webhooks/receiver.ts";

/** Events that are more than a webhook has tries at once, and fit on a page. */
const MANY = TRIES_OF_A_WEBHOOK + 7;

test("a slow receiver holds nobody else up", async () => {
  await using store = await aStore(PRIVATE);
  const held = Promise.withResolvers<Response>();
  await using slow = aReceiver(() => held.promise);
  await using quick = aReceiver();
  const { customer, staff } = store;
  const late = await aHook(customer, { url: slow.url, types: ["category.created"] });
  const soon = await aHook(customer, { url: quick.url, types: ["category.created"] });
  for (let n = 1; n <= MANY; n++) {
    await staff.post("/categories", { name: `Kind ${n}` });
    await quick.nth(n);
  }
  expect(slow.received.length).toBe(TRIES_OF_A_WEBHOOK);
  held.resolve(new Response(null, { status: 200 }));
  slow.answer = () => new Response(null, { status: 200 });
  await slow.nth(MANY);
  expect(new Set(slow.received.map(({ id }) => id)).size).toBe(MANY);
  for (const hook of [late, soon]) {
    await newest(customer, hook, ({ state }) => state === "delivered");
    expect(await deliveriesOf(customer, hook)).toHaveLength(MANY);
  }
});

test("when all tries are taken, the next that is free goes to whom it has not been yet", async () => {
  await using store = await aStore(PRIVATE);
  const ends = new Map<string, (() => void)[]>();
  await using receiver = aReceiver(async (_, request) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { search } = new URL(request.url);
    ends.set(search, [...(ends.get(search) ?? []), resolve]);
    await promise;
    return new Response();
  });
  const { customer, staff } = store;
  const types = ["category.created"];
  const busy = TRIES_AT_ONCE / TRIES_OF_A_WEBHOOK;
  for (let n = 1; n <= busy; n++)
    await aHook(await store.newPerson("customer"), { url: `${receiver.url}?${n}`, types });
  for (let n = 1; n <= MANY; n++) await staff.post("/categories", { name: `Kind ${n}` });
  await receiver.nth(TRIES_AT_ONCE);
  await aHook(customer, { url: `${receiver.url}?last`, types });
  await staff.post("/categories", { name: "One more" });
  for (const end of ends.get("?1")?.splice(0, 1) ?? []) end();
  await receiver.nth(TRIES_AT_ONCE + 1);
  expect(ends.get("?last")).toHaveLength(1);
  receiver.answer = () => new Response();
  for (const end of [...ends.values()].flat()) end();
  await receiver.nth(busy * (MANY + 1) + 1);
});
