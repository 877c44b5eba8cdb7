import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE, verified } from "../webhooks/receiver.ts";

const url = "https://shop.example/events";
const HOUR = 3_600_000;

test("a secret is shown once: not in lists, events, the audit trail, the log or kept answers", async () => {
  await using store = await aStore();
  const { customer, admin, beside } = store;
  const headers = { "idempotency-key": "once" };
  const { id, secret } = (await customer.post("/webhooks", { url }, headers)).body;
  const rotated = (await customer.post(`/webhooks/${id}/rotation`, {})).body.secret;
  await customer.send("POST", `/webhooks/${id}/ping`);
  const told = [
    (await customer.post("/webhooks", { url }, headers)).text,
    (await customer.get("/webhooks")).text,
    (await customer.get(`/webhooks/${id}`)).text,
    (await customer.get(`/webhooks/${id}/deliveries`)).text,
    (await admin.get("/admin/audit")).text,
    store.logged(),
    JSON.stringify(await store.events()),
    JSON.stringify(await beside.db.rows("select * from kept_answers")),
    JSON.stringify(await beside.db.rows("select * from webhook_deliveries")),
  ].join("\n");
  for (const each of [secret, rotated]) {
    expect(each).toStartWith("whsec_");
    expect(told).not.toContain(each.slice("whsec_".length));
  }
  expect(told).not.toContain("whsec_");
});

test("while a secret is replaced deliveries have a signature of each, afterwards of the new one alone", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const { customer, clock } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["category.created"] });
  const { id, secret: old } = hook;
  const { body } = await customer.post(`/webhooks/${id}/rotation`, { overlapHours: 2 });
  expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect([body.secret === old, body.previousSecretUntil]).toEqual([false, "2026-11-15T14:00:00.000Z"]);
  await store.aPet();
  for (const secret of [old, body.secret]) await verified(await receiver.nth(1), secret, store);
  // A try that has no outcome yet would count as lost by then, and be made again.
  await newest(customer, hook, ({ state }) => state === "delivered");
  clock.now += 2 * HOUR;
  await store.aPet();
  const later = await receiver.nth(2);
  await verified(later, body.secret, store);
  await expect(verified(later, old, store)).rejects.toThrow("No signature");
  expect((await customer.get(`/webhooks/${id}`)).body.previousSecretUntil).toBeUndefined();
  const { body: at } = await customer.post(`/webhooks/${id}/rotation`, { overlapHours: 0 });
  await store.aPet();
  const last = await receiver.nth(3);
  await verified(last, at.secret, store);
  await expect(verified(last, body.secret, store)).rejects.toThrow("No signature");
});
