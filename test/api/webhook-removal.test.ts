import { expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";
import { swept } from "../swept.ts";
import { aHook, aReceiver, deliveriesOf, newest, PRIVATE } from "../webhooks/receiver.ts";

/** More than one step of a sweep drops. */
const MANY = 2300;

/** Sweeps; how many steps it took to drop what removed webhooks left. */
async function sweptRemoved(store: TestStore): Promise<number> {
  const steps = await swept(store);
  return steps.filter((step) => step === "delivering.forgetRemoved").length;
}

/** As many deliveries of a webhook that nobody has tried as an outage of its receiver leaves. */
async function waiting({ beside, clock }: TestStore, webhookId: number, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    webhookId,
    eventId: null,
    messageId: `m${n}`,
    type: "pet.created",
    aboutClientId: null,
    body: "{}",
    cause: "replay" as const,
  }));
  // Due tomorrow, as after some failures.
  await beside.transact(async (writes) => writes.addDeliveries(rows, clock.now + 86_400_000));
}

const rowsOf = async ({ beside }: TestStore, webhookId: number) =>
  Number(await beside.db.value(`select count(*) from webhook_deliveries where webhook_id = ${webhookId}`));

test("a removed webhook's deliveries are gone: not shown at once, and the next sweep drops them step by step", async () => {
  await using store = await aStore();
  const { customer, admin } = store;
  const url = "https://shop.example/events";
  const [hook, other] = [await aHook(customer, { url }), await aHook(customer, { url })];
  await waiting(store, hook.id, MANY);
  await waiting(store, other.id, 5);
  const [delivery] = await deliveriesOf(customer, hook);
  expect(await sweptRemoved(store)).toBe(1);
  expect(await rowsOf(store, hook.id)).toBe(MANY);
  await customer.delete(`/webhooks/${hook.id}`);
  for (const path of ["", "/deliveries", `/deliveries/${delivery.id}`])
    expect((await customer.get(`/webhooks/${hook.id}${path}`)).body.code).toBe("webhook_not_found");
  expect((await customer.get(`/webhooks/${other.id}/deliveries/${delivery.id}`)).body.code).toBe(
    "delivery_not_found",
  );
  expect((await admin.get(`/admin/webhooks/${hook.id}/deliveries`)).body.code).toBe("webhook_not_found");
  expect(await sweptRemoved(store)).toBe(3);
  expect([await rowsOf(store, hook.id), await rowsOf(store, other.id)]).toEqual([0, 5]);
});

test("so are those of a client that is removed", async () => {
  await using store = await aStore();
  const leaving = await store.newPerson("customer");
  const hook = await aHook(leaving, { url: "https://shop.example/events" });
  await waiting(store, hook.id, 5);
  expect((await store.admin.delete(`/admin/clients/${leaving.clientId}`)).status).toBe(204);
  await swept(store);
  expect(await rowsOf(store, hook.id)).toBe(0);
});

test("a try that is under way when its webhook is removed and swept ends without a trace, and others go on", async () => {
  await using store = await aStore(PRIVATE);
  const { promise, resolve } = Promise.withResolvers<Response>();
  await using slow = aReceiver(() => promise);
  await using quick = aReceiver();
  const { customer } = store;
  const hook = await aHook(customer, { url: slow.url });
  await customer.send("POST", `/webhooks/${hook.id}/ping`);
  await slow.nth(1);
  await customer.delete(`/webhooks/${hook.id}`);
  await swept(store);
  resolve(new Response());
  const next = await aHook(customer, { url: quick.url });
  await customer.send("POST", `/webhooks/${next.id}/ping`);
  await newest(customer, next, ({ state }) => state === "delivered");
  expect(await rowsOf(store, hook.id)).toBe(0);
  expect(store.logged()).not.toContain("Webhooks wait");
});
