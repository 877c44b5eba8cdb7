import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { swept } from "../swept.ts";
import { aHook, aReceiver, deliveriesOf, newest, PRIVATE, verified } from "../webhooks/receiver.ts";

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("an event is sent to a webhook once, signed, and is the one that GET /events shows", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  await store.aPet(5, "Before");
  const hook = await aHook(store.customer, { url: receiver.url, types: ["pet.created"] });
  const { id } = await store.aPet(5, "Bärli 🐻");
  const first = await receiver.nth(1);
  const event = await verified(first, hook.secret, store);
  expect(event).toMatchObject({ type: "pet.created", subject: `pets/${id}`, data: { id, name: "Bärli 🐻" } });
  const { body: events } = await store.customer.get("/events?type=pet.created");
  expect(events.at(-1)).toEqual(event);
  expect(first.id).toBe(event.id);
  expect(first.headers.get("content-type")).toBe("application/cloudevents+json; charset=utf-8");
  expect(first.headers.get("user-agent")).toBe("Petstore/1.0.0");
  const delivery = await newest(store.customer, hook, ({ state }) => state === "delivered");
  expect(delivery).toMatchObject({
    webhookId: hook.id,
    messageId: event.id,
    type: "pet.created",
    cause: "event",
    attempts: 1,
    responseStatus: 204,
    requestBody: first.body,
    createdAt: "2026-11-15T12:00:00.000Z",
    attemptedAt: "2026-11-15T12:00:00.000Z",
  });
  expect(delivery.nextAttemptAt).toBeUndefined();
  expect(await deliveriesOf(store.customer, hook)).toHaveLength(1);
  expect(receiver.received).toHaveLength(1);
});

test("a delivery that fails is tried again by the schedule, with the same id and a signature of its own time", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response("down\0 for a moment", { status: 503 }));
  const hook = await aHook(store.customer, { url: receiver.url, types: ["order.placed"] });
  await store.customer.post("/store/orders", { petId: (await store.aPet()).id });
  const { customer, clock } = store;
  const failed = await newest(customer, hook, ({ attempts, reason }) => attempts === 1 && reason);
  expect(failed).toMatchObject({
    state: "pending",
    reason: "status_5xx",
    responseStatus: 503,
    responseBody: "down\u{fffd} for a moment",
  });
  const pause = Date.parse(failed.nextAttemptAt) - clock.now;
  expect(pause).toBeGreaterThanOrEqual(5 * SECOND);
  expect(pause).toBeLessThanOrEqual(6 * SECOND);
  const { body: failing } = await customer.get(`/webhooks/${hook.id}`);
  expect(failing).toMatchObject({ enabled: true, failingSince: "2026-11-15T12:00:00.000Z" });

  clock.now += 6 * SECOND;
  const second = await receiver.nth(2);
  await verified(second, hook.secret, store);
  await newest(customer, hook, ({ attempts, reason }) => attempts === 2 && reason);
  receiver.answer = () => new Response("fine");
  clock.now += 6 * 60 * SECOND;
  await receiver.nth(3);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers.get("webhook-timestamp"))).size).toBe(3);
  const delivered = await newest(customer, hook, ({ state }) => state === "delivered");
  expect(delivered).toMatchObject({ attempts: 3, responseStatus: 200, responseBody: "fine" });
  expect(delivered.reason).toBeUndefined();
  expect((await customer.get(`/webhooks/${hook.id}`)).body.failingSince).toBeUndefined();
});

test("a receiver that asks for more time gets it", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(
    () => new Response(null, { status: 429, headers: { "retry-after": "600" } }),
  );
  const hook = await aHook(store.customer, { url: receiver.url, types: ["pet.created"] });
  await store.aPet();
  const { nextAttemptAt, reason } = await newest(store.customer, hook, (each) => each.reason);
  expect([nextAttemptAt, reason]).toEqual(["2026-11-15T12:10:00.000Z", "status_4xx"]);
});

test("a delivery is given up after ten tries over three days", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response(null, { status: 500 }));
  const hook = await aHook(store.customer, { url: receiver.url, types: ["pet.created"] });
  await store.aPet();
  for (let attempt = 1; attempt < 10; attempt++) {
    const { nextAttemptAt } = await newest(
      store.customer,
      hook,
      (each) => each.attempts === attempt && each.reason,
    );
    store.clock.now = Date.parse(nextAttemptAt);
  }
  const given = await newest(store.customer, hook, ({ state }) => state === "failed");
  expect(given).toMatchObject({ attempts: 10, reason: "status_5xx" });
  expect(given.nextAttemptAt).toBeUndefined();
  expect(receiver.received).toHaveLength(10);
  expect((await store.customer.get(`/webhooks/${hook.id}`)).body.enabled).toBe(true);
}, 20_000);

test("five days of failures disable a webhook, an event tells of it, and nothing more is sent", async () => {
  await using store = await aStore(PRIVATE);
  await using dead = aReceiver(() => new Response(null, { status: 500 }));
  await using watching = aReceiver();
  const { customer, clock } = store;
  const hook = await aHook(customer, { url: dead.url, types: ["pet.created"] });
  const other = await aHook(customer, { url: watching.url, types: ["webhook.disabled", "pet.deleted"] });
  await store.aPet();
  await newest(customer, hook, ({ reason }) => reason);
  clock.now += 5 * DAY - 1;
  await store.aPet();
  await newest(customer, hook, ({ reason }) => reason);
  expect((await customer.get(`/webhooks/${hook.id}`)).body).toMatchObject({ enabled: true });
  clock.now += 1;
  const pet = await store.aPet();
  const told = await verified(await watching.nth(1), other.secret, store);
  expect(told).toMatchObject({
    type: "webhook.disabled",
    subject: `webhooks/${hook.id}`,
    data: {
      webhookId: hook.id,
      clientId: customer.clientId,
      reason: "failing",
      failingSince: "2026-11-15T12:00:00.000Z",
    },
  });
  expect((await customer.get(`/webhooks/${hook.id}`)).body).toMatchObject({
    enabled: false,
    disabledReason: "failing",
  });
  const sent = dead.received.length;
  clock.now += DAY;
  await store.aPet();
  await store.staff.delete(`/pets/${pet.id}`);
  await watching.nth(2);
  expect(dead.received).toHaveLength(sent);
});

test("a receiver that answers 410 is never asked again, until its webhook is enabled", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response(null, { status: 410 }));
  const { customer } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["pet.created"] });
  await store.aPet(1, "One");
  const gone = await newest(customer, hook, ({ state }) => state === "failed");
  expect(gone).toMatchObject({ reason: "gone", responseStatus: 410, attempts: 1 });
  expect((await customer.get(`/webhooks/${hook.id}`)).body).toMatchObject({
    enabled: false,
    disabledReason: "gone",
  });
  expect((await store.events()).filter(({ type }) => type === "webhook.disabled")).toMatchObject([
    { clientId: customer.clientId, data: { webhookId: hook.id, reason: "gone" } },
  ]);
  await store.aPet(1, "While it is disabled");
  receiver.answer = () => new Response(null, { status: 200 });
  const { body } = await customer.patch(`/webhooks/${hook.id}`, { enabled: true });
  expect([body.enabled, body.disabledReason]).toEqual([true, undefined]);
  await store.aPet(1, "Three");
  expect((await receiver.nth(2)).event.data.name).toBe("Three");
  await newest(customer, hook, ({ state }) => state === "delivered");
  expect(receiver.received).toHaveLength(2);
});

test("what comes of a try at an old address says nothing about the new one", async () => {
  await using store = await aStore(PRIVATE);
  const answering = Promise.withResolvers<Response>();
  await using old = aReceiver(() => answering.promise);
  await using moved = aReceiver();
  const { customer, clock } = store;
  const hook = await aHook(customer, { url: old.url, types: ["pet.created"] });
  await store.aPet(1, "Under way");
  await old.nth(1);
  await customer.patch(`/webhooks/${hook.id}`, { url: moved.url });
  answering.resolve(new Response(null, { status: 410 }));
  const waiting = await newest(customer, hook, ({ reason }) => reason);
  expect(waiting).toMatchObject({ state: "pending", reason: "gone", attempts: 1 });
  expect((await customer.get(`/webhooks/${hook.id}`)).body).toMatchObject({ enabled: true });
  clock.now += 10_000;
  expect((await moved.nth(1)).event.data.name).toBe("Under way");
});

test("the days for which an old address failed are not counted against the new one", async () => {
  await using store = await aStore(PRIVATE);
  await using dead = aReceiver(() => new Response(null, { status: 500 }));
  await using shaky = aReceiver(() => new Response(null, { status: 500 }));
  const { customer, clock } = store;
  const hook = await aHook(customer, { url: dead.url, types: ["pet.created"] });
  await store.aPet();
  await newest(customer, hook, ({ reason }) => reason);
  clock.now += 5 * DAY - 1;
  await newest(customer, hook, ({ reason, attempts }) => reason && attempts === 2);
  await customer.patch(`/webhooks/${hook.id}`, { url: shaky.url });
  clock.now += DAY;
  await shaky.nth(1);
  await newest(customer, hook, ({ reason, attempts }) => reason && attempts === 3);
  expect((await customer.get(`/webhooks/${hook.id}`)).body).toMatchObject({ enabled: true });
});

test("nothing more is sent to a webhook that is disabled or removed, what waits included", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response(null, { status: 500 }));
  await using watching = aReceiver();
  const { customer, clock } = store;
  const disabled = await aHook(customer, { url: receiver.url, types: ["pet.created"] });
  const removed = await aHook(customer, { url: receiver.url, types: ["pet.created"] });
  await aHook(customer, { url: watching.url, types: ["category.created"] });
  await store.aPet();
  await receiver.nth(2);
  for (const hook of [disabled, removed]) await newest(customer, hook, ({ reason }) => reason);
  expect((await customer.patch(`/webhooks/${disabled.id}`, { enabled: false })).body).toMatchObject({
    disabledReason: "asked",
  });
  expect((await customer.delete(`/webhooks/${removed.id}`)).status).toBe(204);
  const sent = watching.received.length;
  clock.now += HOUR;
  await store.aPet();
  await watching.nth(sent + 1);
  clock.now += DAY;
  await store.aPet();
  await watching.nth(sent + 2);
  expect(receiver.received).toHaveLength(2);
  for (const path of ["", "/deliveries"])
    expect((await customer.get(`/webhooks/${removed.id}${path}`)).body.code).toBe("webhook_not_found");
  expect((await customer.send("POST", `/webhooks/${disabled.id}/ping`)).body.code).toBe("webhook_disabled");
});

test("deliveries cost the client no request, and are swept when they are no longer kept", async () => {
  await using store = await aStore({ ...PRIVATE, DELIVERIES_KEPT_DAYS: "7" });
  await using receiver = aReceiver();
  const { customer, clock } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["category.created"] });
  const used = async () => (await customer.get("/account/limits")).body.day.remaining;
  const before = await used();
  for (let n = 1; n <= 3; n++) await store.aPet();
  await receiver.nth(3);
  expect(await used()).toBe(before);
  await newest(customer, hook, ({ state }) => state === "delivered");
  const count = () => store.beside.db.value("select count(*) from webhook_deliveries");
  const { deliveriesKeptDays } = store.config;
  clock.now += 7 * DAY;
  await swept(store, { deliveriesKeptDays });
  expect(Number(await count())).toBe(3);
  await swept(store, { deliveriesKeptDays });
  expect(Number(await count())).toBe(0);
});
