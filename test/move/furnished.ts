// A store that has had everything happen to it.
import { aStore, type Person, type TestStore } from "../harness.ts";
import { ask, askTimes, DAY, getBanned, MINUTE, oneAMinute, spendMinute } from "../limits/spending.ts";
import { newest } from "../webhooks/receiver.ts";

export const ODD = 'Ωmega 🐕\u200d🦺 "quoted" \\ back\u2028slash \u0007 \u{1F9AE} שלום é e\u0301';

export interface Furnished extends AsyncDisposable {
  readonly store: TestStore;
  /** A write that was answered, to be repeated. */
  readonly answered: { readonly key: string; readonly body: unknown; readonly order: unknown };
  /** The client that struck out. */
  readonly struck: Person;
}

export async function furnished(): Promise<Furnished> {
  const store = await aStore();
  const { admin, staff, customer, stranger, clock } = store;
  const made = async (reply: ReturnType<Person["post"]>) => {
    const { status, body, text } = await reply;
    if (status >= 300) throw new Error(`answered ${status}: ${text}`);
    return body;
  };

  const available = await store.aPet(5, ODD);
  const pending = await store.aPet(1, "Penny");
  const sold = await store.aPet(1, "Sol");
  const held = await store.aPet(3, "Holly");
  const removed = await store.aPet(2, "Gone");
  await made(staff.patch(`/pets/${held.id}`, { status: "pending" }));
  await made(staff.delete(`/pets/${removed.id}`));
  const spare = await made(staff.post("/categories", { name: "Spare", description: ODD }));
  await made(staff.patch(`/categories/${spare.id}`, { description: null }));
  const last = await made(staff.post("/categories", { name: "Last" }));
  await made(staff.delete(`/categories/${last.id}`));
  const batch = Array.from({ length: 3 }, (_, n) => ({ name: `b${n}`, categoryId: spare.id }));
  await made(staff.post("/pets/batch", batch, { "idempotency-key": "Zebra" }));

  const body = { petId: available.id, quantity: 2 };
  const key = "order-1";
  const order = await made(customer.post("/store/orders", body, { "idempotency-key": key }));
  await made(stranger.post("/store/orders", { petId: pending.id }, { "idempotency-key": "apple" }));
  await made(
    stranger.post("/store/orders", { petId: sold.id, complete: true }, { "idempotency-key": "Pear" }),
  );
  await made(stranger.post("/store/orders", {}, { "idempotency-key": "pear" }));
  await made(stranger.post("/store/orders", { shipDate: "2026-12-24T18:00:00+01:00" }));
  const cancelled = await made(stranger.post("/store/orders", { petId: available.id }));
  await made(stranger.delete(`/store/orders/${cancelled.id}`));

  const client = (name: string, plan: string, numbers = {}) =>
    made(admin.post("/admin/clients", { name, plan, ...numbers }));
  await client("Free", "free");
  const suspended = await client("Pro", "pro");
  await client(ODD, "business");
  const gone = await client("Big", "enterprise", { perMinute: 5, perDay: 50 });
  await made(admin.post(`/admin/clients/${gone.id}/keys`, { role: "customer" }));
  await made(admin.delete(`/admin/clients/${gone.id}`));
  const keyOf = (id: number, more = {}) =>
    made(admin.post(`/admin/clients/${id}/keys`, { role: "customer", name: ODD, ...more }));
  const revoked = await keyOf(suspended.id);
  await made(admin.delete(`/admin/keys/${revoked.id}`));
  const rotated = await keyOf(suspended.id, { expiresInDays: 1 });
  await made(admin.post(`/admin/keys/${rotated.id}/rotation`, { overlapDays: 0 }));
  await store.newPerson("staff", { clientId: suspended.id, expiresAt: clock.now - DAY });
  await made(admin.patch(`/admin/clients/${suspended.id}`, { suspended: true }));
  const banned = await keyOf(customer.clientId);
  await made(admin.put(`/admin/keys/${banned.id}/ban`, { minutes: 600, reason: ODD }));
  const lifted = await keyOf(customer.clientId);
  await made(admin.put(`/admin/keys/${lifted.id}/ban`, { minutes: 60 }));
  await made(admin.delete(`/admin/keys/${lifted.id}/ban`));

  const types = ["order.placed", "webhook.disabled"];
  const webhook = await made(
    customer.post("/webhooks", { url: "https://shop.example/é", types, description: ODD }),
  );
  await made(customer.send("POST", `/webhooks/${webhook.id}/ping`));
  await newest(customer, webhook, ({ state }) => state === "failed");
  await made(customer.post(`/webhooks/${webhook.id}/rotation`, { overlapHours: 5 }));
  await made(staff.post("/webhooks", { url: "https://shop.example/staff" }));
  for (const { by, id } of [
    { by: customer, id: webhook.id },
    { by: staff, id: webhook.id + 1 },
  ])
    await made(by.patch(`/webhooks/${id}`, { enabled: false }));
  await made(admin.patch(`/admin/webhooks/${webhook.id}`, { enabled: false }));
  const unwanted = await made(staff.post("/webhooks", { url: "https://shop.example/unwanted" }));
  await made(staff.delete(`/webhooks/${unwanted.id}`));

  const struck = await oneAMinute(store);
  await getBanned(store, struck);
  // What was counted so far becomes rows, and what follows stays a tally.
  await store.restart();
  const striking = await oneAMinute(store);
  await spendMinute(store, striking);
  await askTimes(striking, 3);
  clock.now += MINUTE;
  await ask(customer);
  // A change of access has everything that was counted written down before.
  await client("Later", "free");
  return {
    store,
    answered: { key, body, order },
    struck,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
