// What is told of webhooks and of streams of events.
import { expect, test } from "bun:test";
import { eventually } from "../cli/command.ts";
import { follow } from "../following.ts";
import { aStore, type TestStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE } from "../webhooks/receiver.ts";
import { figureOf, metricsOf } from "./shop.ts";

const SOON_MS = 5000;
const DAY = 86_400_000;

/** The samples of a metric that are not 0, by their one label. */
async function samplesOf(store: TestStore, name: string): Promise<Record<string, number>> {
  const { samples } = (await metricsOf(store)).get(name) ?? { samples: [] };
  return Object.fromEntries(
    samples.filter(({ value }) => value > 0).map(({ labels, value }) => [Object.values(labels)[0], value]),
  );
}

test("tries are counted by what came of them, deliveries by how they ended, and their time is told", async () => {
  await using store = await aStore(PRIVATE);
  const answers = [204, 500, 404, 302, 200];
  await using receiver = aReceiver(() => new Response(null, { status: answers.shift() ?? 200 }));
  const { customer } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["category.created"] });
  for (let n = 1; n <= 4; n++) {
    await customer.send("POST", `/webhooks/${hook.id}/ping`);
    await newest(customer, hook, ({ state }) => state !== "pending");
  }
  const unknown = await aHook(customer, { url: "http://nowhere.example/", types: ["order.placed"] });
  await customer.send("POST", `/webhooks/${unknown.id}/ping`);
  await newest(customer, unknown, ({ state }) => state === "failed");
  // The first try of an event is not its last.
  const failing = await aHook(customer, { url: "http://nowhere.example/", types: ["category.created"] });
  await store.aPet();
  await newest(customer, failing, ({ reason }) => reason === "dns");
  await newest(customer, hook, ({ cause, state }) => cause === "event" && state === "delivered");
  expect(await samplesOf(store, "petstore_webhook_tries_total")).toEqual({
    delivered: 2,
    status_5xx: 1,
    status_4xx: 1,
    redirect: 1,
    dns: 2,
  });
  expect(await samplesOf(store, "petstore_webhook_deliveries_total")).toEqual({ delivered: 2, failed: 4 });
  expect(figureOf(await metricsOf(store), "petstore_webhook_try_duration_seconds_count")).toBe(7);
});

test("webhooks that are disabled because of their receiver are counted, those that somebody disables are not", async () => {
  await using store = await aStore(PRIVATE);
  let status = 410;
  await using receiver = aReceiver(() => new Response(null, { status }));
  const { customer, clock } = store;
  const isDisabled = (id: number) =>
    eventually(async () => !(await customer.get(`/webhooks/${id}`)).body.enabled, SOON_MS);
  const gone = await aHook(customer, { url: receiver.url, types: ["category.created"] });
  await store.aPet();
  expect(await isDisabled(gone.id)).toBe(true);
  status = 500;
  const failing = await aHook(customer, { url: receiver.url, types: ["category.created"] });
  await store.aPet();
  await newest(customer, failing, ({ reason }) => reason);
  clock.now += 6 * DAY;
  expect(await isDisabled(failing.id)).toBe(true);
  const asked = await aHook(customer, { url: receiver.url });
  await customer.patch(`/webhooks/${asked.id}`, { enabled: false });
  await store.admin.patch(`/admin/webhooks/${asked.id}`, { enabled: false });
  const isCounted = async () =>
    Bun.deepEquals(await samplesOf(store, "petstore_webhooks_disabled_total"), { gone: 1, failing: 1 });
  expect(await eventually(isCounted, SOON_MS)).toBe(true);
});

test("what waits is told apart by whether its receiver fails, with how long the oldest is due; what is never sent is not", async () => {
  // Nothing is sent, so that it waits.
  await using store = await aStore({ WEBHOOKS: "off" });
  const { beside, clock, customer } = store;
  const url = "https://shop.example/events";
  const waiting = (webhookId: number, count: number, ageMs: number) => {
    const body = { type: "pet.created", aboutClientId: null, body: "{}", cause: "replay" as const };
    const rows = Array.from({ length: count }, () => ({ webhookId, eventId: null, messageId: "m", ...body }));
    return beside.transact(async (writes) => writes.addDeliveries(rows, clock.now - ageMs));
  };
  const pending = () => samplesOf(store, "petstore_webhook_deliveries_pending");
  const due = () => samplesOf(store, "petstore_webhook_oldest_due_seconds");
  expect([await pending(), await due()]).toEqual([{}, {}]);

  const [one, other, failing, disabled] = [
    await aHook(customer, { url }),
    await aHook(customer, { url }),
    await aHook(customer, { url }),
    await aHook(customer, { url }),
  ];
  const [suspended, keyless] = [await store.newPerson("customer"), await store.newPerson("customer")];
  for (const by of [suspended, keyless]) await waiting((await aHook(by, { url })).id, 1, 100_000);
  await store.admin.patch(`/admin/clients/${suspended.clientId}`, { suspended: true });
  await store.admin.delete(`/admin/keys/${keyless.keyId}`);
  await waiting(disabled.id, 1, 100_000);
  await customer.patch(`/webhooks/${disabled.id}`, { enabled: false });
  await beside.transact(async (writes) => writes.noteFailing({ id: failing.id, url }, clock.now));
  await waiting(one.id, 3, 2000);
  await waiting(other.id, 250, 1000);
  // Due in a minute.
  await waiting(failing.id, 2, -60_000);
  expect([await pending(), await due()]).toEqual([{ working: 103, failing: 2 }, { working: 2 }]);
  clock.now += 90_000;
  expect(await due()).toEqual({ working: 92, failing: 30 });
});

test("streams of events are counted: those that are open, those that were refused, and what was sent", async () => {
  await using store = await aStore({ MAX_STREAMS_PER_CLIENT: "2" });
  const figures = async () => {
    const metrics = await metricsOf(store);
    return [
      "petstore_event_streams",
      "petstore_event_streams_refused_total",
      "petstore_streamed_events_total",
    ].map((name) => figureOf(metrics, name));
  };
  expect(await figures()).toEqual([0, 0, 0]);
  await using first = await follow(store.url, store.customer);
  const second = await follow(store.url, store.customer);
  expect((await store.customer.get("/events/stream")).body.code).toBe("too_many_streams");
  expect((await figures()).slice(0, 2)).toEqual([2, 1]);
  await store.staff.post("/categories", { name: "Dogs" });
  for (const each of [first, second]) await each.events(1);
  expect(await figures()).toEqual([2, 1, 2]);
  await second.close();
  expect(await eventually(async () => (await figures())[0] === 1, SOON_MS)).toBe(true);
});
