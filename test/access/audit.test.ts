import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, NOON, type Person, pagesOf, type Reply, type TestStore } from "../harness.ts";
import { aHook } from "../webhooks/receiver.ts";
import { aClient, aKey, trail } from "./trail.ts";

let store: TestStore;
let client: Reply["body"];
let member: Person;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
  client = await aClient(store, { plan: "business" });
  member = (await aKey(store, client.id, { role: "staff" })).person;
});
afterAll(() => store.stop());

/** Where a webhook that goes with the change is sent. */
const url = "https://shop.example/events";

/** A key of the client, for a change of it. */
const another = async () => (await aKey(store, client.id)).made.id as number;

interface Change {
  readonly operation: string;
  readonly by: () => Person;
  /** Sends the change, and says of what it is, given the answer. */
  readonly send: () => Promise<{ reply: Reply; subject: string; input: unknown }>;
}

const admin = () => store.admin;
const changes: Change[] = [
  {
    operation: "admin.clients.create",
    by: admin,
    send: async () => {
      const body = { name: "New", plan: "free" };
      const reply = await store.admin.post("/admin/clients", body);
      return { reply, subject: `clients/${reply.body.id}`, input: { body } };
    },
  },
  {
    operation: "admin.clients.update",
    by: admin,
    send: async () => {
      const { id } = await aClient(store);
      const body = { plan: "enterprise", perMinute: 5, perDay: 6, suspended: true };
      const reply = await store.admin.patch(`/admin/clients/${id}`, body);
      return { reply, subject: `clients/${id}`, input: { clientId: id, body } };
    },
  },
  {
    operation: "admin.clients.remove",
    by: admin,
    send: async () => {
      const { id } = await aClient(store);
      const reply = await store.admin.delete(`/admin/clients/${id}`);
      return { reply, subject: `clients/${id}`, input: { clientId: id } };
    },
  },
  {
    operation: "admin.keys.create",
    by: admin,
    send: async () => {
      const body = { role: "staff", name: "till", expiresInDays: 9 };
      const reply = await store.admin.post(`/admin/clients/${client.id}/keys`, body);
      return { reply, subject: `keys/${reply.body.id}`, input: { clientId: client.id, body } };
    },
  },
  {
    operation: "admin.keys.revoke",
    by: admin,
    send: async () => {
      const keyId = await another();
      const reply = await store.admin.delete(`/admin/keys/${keyId}`);
      return { reply, subject: `keys/${keyId}`, input: { keyId } };
    },
  },
  {
    operation: "admin.keys.rotate",
    by: admin,
    send: async () => {
      const keyId = await another();
      const body = { overlapDays: 3 };
      const reply = await store.admin.post(`/admin/keys/${keyId}/rotation`, body);
      return { reply, subject: `keys/${reply.body.id}`, input: { keyId, body } };
    },
  },
  {
    operation: "admin.bans.impose",
    by: admin,
    send: async () => {
      const { made } = await aKey(store, (await aClient(store)).id);
      const body = { minutes: 5, reason: "Leaked" };
      const reply = await store.admin.put(`/admin/keys/${made.id}/ban`, body);
      return { reply, subject: `keys/${made.id}`, input: { keyId: made.id, body } };
    },
  },
  {
    operation: "admin.bans.lift",
    by: admin,
    send: async () => {
      const { made } = await aKey(store, (await aClient(store)).id);
      await store.admin.put(`/admin/keys/${made.id}/ban`, { minutes: 5 });
      const reply = await store.admin.delete(`/admin/keys/${made.id}/ban`);
      return { reply, subject: `keys/${made.id}`, input: { keyId: made.id } };
    },
  },
  {
    operation: "admin.webhooks.update",
    by: admin,
    send: async () => {
      const { id } = await aHook(member, { url: "https://harmful.example/" });
      const reply = await store.admin.patch(`/admin/webhooks/${id}`, { enabled: false });
      return { reply, subject: `webhooks/${id}`, input: { webhookId: id, body: { enabled: false } } };
    },
  },
  {
    operation: "account.keys.create",
    by: () => member,
    send: async () => {
      const body = { role: "customer", name: "own" };
      const reply = await member.post("/account/keys", body);
      return { reply, subject: `keys/${reply.body.id}`, input: { body } };
    },
  },
  {
    operation: "account.keys.revoke",
    by: () => member,
    send: async () => {
      const keyId = await another();
      const reply = await member.delete(`/account/keys/${keyId}`);
      return { reply, subject: `keys/${keyId}`, input: { keyId } };
    },
  },
  {
    operation: "account.keys.rotate",
    by: () => member,
    send: async () => {
      const keyId = await another();
      const reply = await member.post(`/account/keys/${keyId}/rotation`, { overlapDays: 0 });
      return { reply, subject: `keys/${reply.body.id}`, input: { keyId, body: { overlapDays: 0 } } };
    },
  },
  {
    operation: "webhooks.create",
    by: () => member,
    send: async () => {
      const body = { url: `${url}?token=hidden&b=1`, types: ["pet.created"], description: "Till" };
      const reply = await member.post("/webhooks", body);
      const input = { body: { ...body, url: `${url}?...` } };
      return { reply, subject: `webhooks/${reply.body.id}`, input };
    },
  },
  {
    operation: "webhooks.update",
    by: () => member,
    send: async () => {
      const { id } = await aHook(member, { url });
      const body = { url: `${url}/2?hidden`, enabled: false };
      const reply = await member.patch(`/webhooks/${id}`, body);
      const input = { webhookId: id, body: { ...body, url: `${url}/2?...` } };
      return { reply, subject: `webhooks/${id}`, input };
    },
  },
  {
    operation: "webhooks.remove",
    by: () => member,
    send: async () => {
      const { id } = await aHook(member, { url });
      const reply = await member.delete(`/webhooks/${id}`);
      return { reply, subject: `webhooks/${id}`, input: { webhookId: id } };
    },
  },
  {
    operation: "webhooks.rotate",
    by: () => member,
    send: async () => {
      const { id } = await aHook(member, { url });
      const body = { overlapHours: 5 };
      const reply = await member.post(`/webhooks/${id}/rotation`, body);
      return { reply, subject: `webhooks/${id}`, input: { webhookId: id, body } };
    },
  },
];

describe("the audit trail", () => {
  test.each(changes.map((change) => [change.operation, change] as const))(
    "has one entry of %s: who, when, what, of whom",
    async (operation, { by, send }) => {
      const before = (await trail(store)).filter((each) => each.operation === operation).length;
      const { reply, subject, input } = await send();
      expect(reply.status).toBeLessThan(300);
      const all = await trail(store);
      const [newest] = all;
      expect(all.filter((each) => each.operation === operation)).toHaveLength(before + 1);
      expect(newest).toMatchObject({
        operation,
        at: new Date(NOON).toISOString(),
        by: `key ${by().keyId}`,
        subject,
      });
      // An id of the path may be told as text, since it can be larger than a number holds.
      expect(plain(JSON.parse(newest?.input as string))).toEqual(plain(input));
    },
  );

  test("is of every operation that changes who may do what, or what is sent where", async () => {
    const { everyEndpoint } = await import("../../src/contract/api.ts");
    const owed = everyEndpoint.filter(
      ({ id, method }) =>
        method !== "GET" && /^(admin\.|account\.keys\.|webhooks\.(create|update|remove|rotate)$)/.test(id),
    );
    expect(changes.map(({ operation }) => operation).sort()).toEqual(owed.map(({ id }) => id).sort());
  });

  test("says command line where no key asked", async () => {
    const person = await store.newPerson("customer");
    const [key, owner] = await trail(store);
    expect(key).toMatchObject({ by: "command line", subject: `keys/${person.keyId}` });
    expect(owner).toMatchObject({ by: "command line", subject: `clients/${person.clientId}` });
  });

  test("has one entry of a change that was repeated with its idempotency key", async () => {
    const headers = { "idempotency-key": "audited-once" };
    const first = await store.admin.post("/admin/clients", { name: "Once" }, headers);
    const length = (await trail(store)).length;
    const again = await store.admin.post("/admin/clients", { name: "Once" }, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(await trail(store)).toHaveLength(length);
  });

  test("is newest first, in pages, each entry once", async () => {
    const pages = await pagesOf(store.admin, "/admin/audit?limit=3");
    const ids: number[] = pages.flat().map((entry) => entry.id);
    expect(pages.length).toBeGreaterThan(3);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    expect(ids).toEqual((await trail(store)).map(({ id }) => id));
  });

  test("holds no key, not even a part of one", async () => {
    const { key } = (await member.post("/account/keys", {})).body;
    const text = JSON.stringify(await trail(store));
    expect(text).not.toContain("ps_live_");
    for (const part of [key.slice(8, 20), key.slice(20, 40), key.slice(-6)]) expect(text).not.toContain(part);
  });

  test("holds no secret of a webhook, and of its address no query", async () => {
    const { id, secret } = await aHook(member, { url: `${url}?token=hunter2?again` });
    const rotated = (await member.post(`/webhooks/${id}/rotation`, {})).body.secret;
    await member.patch(`/webhooks/${id}`, { url: `${url}?token=hunter2` });
    const text = JSON.stringify(await trail(store));
    expect(text).toContain(`${url}?...`);
    for (const part of ["hunter2", "again", "whsec_", secret.slice(6), rotated.slice(6)])
      expect(text).not.toContain(part);
  });

  test("has a webhook that another key takes over, though the change names nothing", async () => {
    const hook = await aHook(member, { url });
    const { person: other, made } = await aKey(store, client.id, { role: "staff" });
    const { body } = await other.patch(`/webhooks/${hook.id}`, {});
    expect(body).toMatchObject({ id: hook.id, keyId: made.id });
    const [newest] = await trail(store);
    expect(newest).toMatchObject({ operation: "webhooks.update", by: `key ${made.id}` });
  });

  test("of a webhook lets no server look its keys up anew", async () => {
    const revision = () => store.beside.db.value("select revision from access");
    const hook = await aHook(member, { url });
    const before = await revision();
    await member.patch(`/webhooks/${hook.id}`, { description: "Till" });
    await store.admin.patch(`/admin/webhooks/${hook.id}`, { enabled: false });
    expect(await revision()).toBe(before);
    await store.admin.patch(`/admin/clients/${client.id}`, { name: "Renamed" });
    expect(await revision()).not.toBe(before);
  });
});

function plain(input: unknown): unknown {
  return JSON.parse(JSON.stringify(input, (key, value) => (key.endsWith("Id") ? String(value) : value)));
}
