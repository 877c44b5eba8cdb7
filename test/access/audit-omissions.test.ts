import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, type Person, type Reply, type TestStore } from "../harness.ts";
import { aHook } from "../webhooks/receiver.ts";
import { aClient, aKey, denied, trail } from "./trail.ts";

let store: TestStore;
let client: Reply["body"];
let member: Person;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
  client = await aClient(store, { plan: "business" });
  member = (await aKey(store, client.id, { role: "staff" })).person;
});
afterAll(() => store.stop());

const url = "https://shop.example/events";

describe("the audit trail", () => {
  test("has nothing of what was refused", async () => {
    const keyId = (await aKey(store, client.id)).made.id;
    const { made: above } = await aKey(store, client.id, { role: "admin" });
    const hook = await aHook(member, { url });
    const busy = await aClient(store);
    await (await aKey(store, busy.id)).person.post("/store/orders", {});
    const sends: [string, () => Promise<Reply>][] = [
      ["invalid_plan", () => store.admin.post("/admin/clients", { name: "X", plan: "enterprise" })],
      ["invalid_body", () => store.admin.post("/admin/clients", { plan: "pro" })],
      ["invalid_plan", () => store.admin.patch(`/admin/clients/${client.id}`, { perDay: 5 })],
      ["client_not_found", () => store.admin.delete("/admin/clients/4711")],
      ["client_has_open_orders", () => store.admin.delete(`/admin/clients/${busy.id}`)],
      ["invalid_body", () => store.admin.post(`/admin/keys/${keyId}/rotation`, { overlapDays: 31 })],
      ["ban_not_found", () => store.admin.delete(`/admin/keys/${keyId}/ban`)],
      ["forbidden", () => member.put(`/admin/keys/${keyId}/ban`, { minutes: 1 })],
      ["role_too_high", () => member.post("/account/keys", { role: "admin" })],
      ["key_not_found", () => member.delete(`/account/keys/${above.id}`)],
      ["missing_api_key", () => store.nobody.post("/account/keys", {})],
      ["invalid_webhook_url", () => member.post("/webhooks", { url: "https://localhost/" })],
      ["invalid_webhook_url", () => member.patch(`/webhooks/${hook.id}`, { url: "https://localhost/" })],
      ["webhook_not_found", () => store.customer.delete(`/webhooks/${hook.id}`)],
      ["webhook_not_found", () => store.admin.patch("/admin/webhooks/4711", { enabled: false })],
      [
        "invalid_parameter",
        () => store.admin.post("/admin/clients", { name: "X" }, { "idempotency-key": "not visible" }),
      ],
    ];
    for (const [code, send] of sends) expect((await denied(store, send)).body.code).toBe(code);
  });

  test("has nothing of a change to what is so already, which changes no tag either", async () => {
    const fields = { url, types: ["pet.created"], description: "Till" };
    const hook = await aHook(member, fields);
    const stopped = await aHook(member, { url: "https://stopped.example/" });
    await store.admin.patch(`/admin/webhooks/${stopped.id}`, { enabled: false });
    const { name, plan } = client;
    const same: [Person, string, object][] = [
      [member, `/webhooks/${hook.id}`, {}],
      [member, `/webhooks/${hook.id}`, { ...fields, enabled: true }],
      [store.admin, `/admin/webhooks/${hook.id}`, {}],
      [store.admin, `/admin/webhooks/${hook.id}`, { enabled: true }],
      [store.admin, `/admin/webhooks/${stopped.id}`, { enabled: false }],
      [store.admin, `/admin/clients/${client.id}`, {}],
      [store.admin, `/admin/clients/${client.id}`, { name, plan, suspended: false }],
    ];
    const length = (await trail(store)).length;
    for (const [person, path, change] of same) {
      const before = await person.get(path);
      const { status, body, headers } = await person.patch(path, change);
      expect({ status, body }).toEqual({ status: 200, body: before.body });
      expect(headers.get("etag")).toBe(before.headers.get("etag"));
      expect(await trail(store)).toHaveLength(length);
    }
  });

  test("has nothing of a rehearsal", async () => {
    const { body } = await denied(store, () =>
      store.admin.post("/admin/clients", { name: "X" }, { prefer: "simulate=unavailable" }),
    );
    expect(body.code).toBe("unavailable");
  });

  test("has nothing of reads, pets, orders and what is sent to a webhook", async () => {
    const hook = await aHook(member, { url });
    const length = (await trail(store)).length;
    const pet = await store.aPet(3);
    await member.send("POST", `/webhooks/${hook.id}/ping`);
    await member.post(`/webhooks/${hook.id}/replay`, { since: "2026-11-15T00:00:00Z" });
    await member.post("/store/orders", { petId: pet.id });
    await store.admin.get("/admin/clients");
    await member.get("/account/keys");
    expect(await trail(store)).toHaveLength(length);
  });
});
