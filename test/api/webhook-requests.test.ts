// What is sent because somebody asks for it: pings, and what is sent again.
import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE, verified } from "../webhooks/receiver.ts";

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("a ping is sent once and tells its outcome, and does not count against the webhook", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const { customer, clock } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["pet.created"] });
  const { status, body: ping } = await customer.send("POST", `/webhooks/${hook.id}/ping`);
  expect([status, ping.cause, ping.state, ping.type]).toEqual([201, "ping", "pending", "webhook.ping"]);
  const event: unknown = await verified(await receiver.nth(1), hook.secret, store);
  expect(event).toMatchObject({ type: "webhook.ping", id: ping.messageId, data: { webhookId: hook.id } });
  await newest(customer, hook, ({ state }) => state === "delivered");
  receiver.answer = () => new Response("not like this", { status: 404 });
  const second = (await customer.send("POST", `/webhooks/${hook.id}/ping`)).body;
  expect(second.messageId).not.toBe(ping.messageId);
  await newest(customer, hook, ({ state }) => state === "failed");
  const { body } = await customer.get(`/webhooks/${hook.id}/deliveries/${second.id}`);
  expect(body).toMatchObject({ reason: "status_4xx", responseBody: "not like this", attempts: 1 });
  clock.now += DAY;
  expect((await customer.get(`/webhooks/${hook.id}`)).body.failingSince).toBeUndefined();
  expect((await store.events()).map(({ type }) => type)).not.toContain("webhook.ping");
});

test("a delivery can be sent again, with the same event and id", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const { customer, stranger } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["pet.created"] });
  await store.aPet();
  const delivery = await newest(customer, hook, ({ state }) => state === "delivered");
  const path = `/webhooks/${hook.id}/deliveries/${delivery.id}/resend`;
  const { status, body } = await customer.send("POST", path);
  expect([status, body.cause, body.messageId, body.attempts]).toEqual([201, "resend", delivery.messageId, 0]);
  const [first, second] = [await receiver.nth(1), await receiver.nth(2)];
  expect([second.id, second.body]).toEqual([first.id, first.body]);
  await verified(second, hook.secret, store);
  expect((await customer.get(`/webhooks/${hook.id}/deliveries/${delivery.id}`)).body).toEqual(delivery);
  expect((await stranger.send("POST", path)).body.code).toBe("webhook_not_found");
  const other = await aHook(customer, { url: receiver.url });
  expect((await customer.get(`/webhooks/${other.id}/deliveries/${delivery.id}`)).body.code).toBe(
    "delivery_not_found",
  );
});

test("a replay sends every event since a time again that the webhook may see, and none before", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const { customer, stranger, clock } = store;
  const pet = await store.aPet(50, "Too early");
  clock.now += HOUR;
  await store.aPet(50, "Early");
  await customer.post("/store/orders", { petId: pet.id });
  await stranger.post("/store/orders", { petId: pet.id });
  const hook = await aHook(customer, { url: receiver.url, types: ["pet.created", "order.placed"] });
  const since = new Date(clock.now).toISOString();
  const { status, body } = await customer.post(`/webhooks/${hook.id}/replay`, { since });
  expect([status, body.replaying]).toEqual([200, true]);
  await receiver.nth(2);
  expect(receiver.received.map(({ event }) => event.data.name ?? event.type).sort()).toEqual([
    "Early",
    "order.placed",
  ]);
  await newest(customer, hook, ({ state }) => state === "delivered");
  expect((await customer.get(`/webhooks/${hook.id}`)).body.replaying).toBe(false);
  await customer.post(`/webhooks/${hook.id}/replay`, { since });
  await receiver.nth(4);
  const [, , third] = receiver.received;
  expect(receiver.received.slice(0, 2).map(({ id }) => id)).toContain(third?.id as string);
  const later = new Date(clock.now + 61 * SECOND).toISOString();
  expect((await customer.post(`/webhooks/${hook.id}/replay`, { since: later })).body.replaying).toBe(false);
});
