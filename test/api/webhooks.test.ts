import { expect, test } from "bun:test";
import { aStore, type Person, pagesOf, refused } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE } from "../webhooks/receiver.ts";

const url = "https://shop.example/events";

test("a webhook is made, listed, read, changed and removed by its client", async () => {
  await using store = await aStore();
  const { customer, stranger } = store;
  const made = await customer.post("/webhooks", {
    url,
    types: ["pet.created", "pet.created"],
    description: "Till",
  });
  const { secret, ...webhook } = made.body;
  expect(made.headers.get("location")).toBe(`/webhooks/${webhook.id}`);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toEqual({
    id: webhook.id,
    url,
    types: ["pet.created"],
    description: "Till",
    enabled: true,
    role: "customer",
    sees: "own",
    keyId: customer.keyId,
    replaying: false,
    createdAt: "2026-11-15T12:00:00.000Z",
  });
  expect((await customer.get(`/webhooks/${webhook.id}`)).body).toEqual(webhook);
  expect((await customer.get("/webhooks")).body).toEqual([webhook]);
  expect((await stranger.get("/webhooks")).body).toEqual([]);
  const change = { url: `${url}?b`, types: null, description: null, enabled: false };
  const { body: changed } = await customer.patch(`/webhooks/${webhook.id}`, change);
  const { types: _, description: __, ...rest } = webhook;
  expect(changed).toEqual({ ...rest, url: `${url}?b`, enabled: false, disabledReason: "asked" });
  expect((await customer.delete(`/webhooks/${webhook.id}`)).status).toBe(204);
  expect((await customer.get(`/webhooks/${webhook.id}`)).body.code).toBe("webhook_not_found");
});

const strange: readonly [string, RegExp][] = [
  ["http://shop.example/", /https/],
  ["https://user:secret@shop.example/", /user name/],
  ["https://shop.example/#part", /fragment/],
  ["https://localhost/", /public/],
  ["https://api.localhost/", /public/],
  ["https://printer.local/", /public/],
  ["https://metadata.google.internal/", /public/],
  ["https://127.0.0.1/", /public/],
  ["https://2130706433/", /public/],
  ["https://0x7f.0.0.1/", /public/],
  ["https://10.0.0.1:8443/", /public/],
  ["https://169.254.169.254/latest/meta-data", /public/],
  ["https://[::1]/", /public/],
  ["https://[::ffff:127.0.0.1]/", /public/],
  ["https://[64:ff9b::7f00:1]/", /public/],
];

test("an address that nothing would be sent to is refused, when it is made and when it is changed", async () => {
  await using store = await aStore();
  const { customer } = store;
  const hook = await aHook(customer, { url });
  for (const [address, says] of strange)
    for (const send of [
      () => customer.post("/webhooks", { url: address }),
      () => customer.patch(`/webhooks/${hook.id}`, { url: address }),
    ]) {
      const { code, message } = await refused(store, send);
      expect([address, code]).toEqual([address, "invalid_webhook_url"]);
      expect(message).toMatch(says);
      expect(message).not.toContain("secret");
    }
  for (const address of [
    "ftp://shop.example/",
    "file:///etc/passwd",
    "shop.example",
    "",
    "https://",
    `${url}${"x".repeat(2000)}`,
    // An operator would read another address than the one that it is.
    "https://shop.exa\nmple/events",
    "https://shop.example/\u202egpj",
    "https://shop.example/a b",
  ])
    expect((await refused(store, () => customer.post("/webhooks", { url: address }))).code).toBe(
      "invalid_body",
    );
  expect((await refused(store, () => customer.post("/webhooks", { url, types: ["pet.sold"] }))).code).toBe(
    "invalid_body",
  );
});

test("a name that leads to a private address is refused when something is sent, and the delivery says no more than of a name that leads nowhere", async () => {
  await using receiver = aReceiver();
  await using store = await aStore({}, async () => ["127.0.0.1"]);
  const hook = await aHook(store.customer, {
    url: receiver.url.replace("http://127.0.0.1", "https://shop.example"),
  });
  await store.customer.send("POST", `/webhooks/${hook.id}/ping`);
  const failed = await newest(store.customer, hook, ({ state }) => state === "failed");
  expect(failed).toMatchObject({ reason: "dns", attempts: 1 });
  expect(failed.responseStatus).toBeUndefined();
  expect(receiver.received).toEqual([]);
});

test("a client has at most twenty webhooks, also when it makes many at once", async () => {
  await using store = await aStore();
  const { customer, stranger } = store;
  const made = await Promise.all(Array.from({ length: 30 }, () => customer.post("/webhooks", { url })));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
  for (const { body } of made.filter(({ status }) => status !== 201))
    expect(body.code).toBe("too_many_webhooks");
  expect((await stranger.post("/webhooks", { url })).status).toBe(201);
  expect((await pagesOf(customer, "/webhooks?limit=7")).map((page) => page.length)).toEqual([7, 7, 6]);
});

test("the webhooks of another client, or of a higher role, are not there", async () => {
  await using store = await aStore();
  const { staff, stranger, newPerson } = store;
  const customer = await newPerson("customer", { clientId: staff.clientId });
  const admin = await newPerson("admin", { clientId: staff.clientId });
  const theirs = await aHook(staff, { url });
  const own = await aHook(customer, { url });
  const { body: ping } = await staff.send("POST", `/webhooks/${theirs.id}/ping`);
  const ids = async (by: Person) => (await by.get("/webhooks")).body.map(({ id }: { id: number }) => id);
  expect(await ids(customer)).toEqual([own.id]);
  for (const by of [staff, admin]) expect(await ids(by)).toEqual([theirs.id, own.id]);
  const path = `/webhooks/${theirs.id}`;
  for (const by of [customer, stranger, store.admin])
    for (const send of [
      () => by.get(path),
      () => by.get(`${path}/deliveries`),
      () => by.get(`${path}/deliveries/${ping.id}`),
      () => by.patch(path, { url: "https://elsewhere.example/" }),
      () => by.delete(path),
      () => by.post(`${path}/rotation`, {}),
      () => by.send("POST", `${path}/ping`),
      () => by.post(`${path}/replay`, { since: "2026-11-15T00:00:00Z" }),
      () => by.send("POST", `${path}/deliveries/${ping.id}/resend`),
    ])
      expect((await refused(store, send)).code).toBe("webhook_not_found");
});

test("nothing is sent to the webhooks of a client that is suspended, has no key left, or is removed", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  await using watching = aReceiver();
  const { admin, newPerson } = store;
  const types = ["category.created"];
  const [suspended, keyless, removed] = [
    await newPerson("customer"),
    await newPerson("customer"),
    await newPerson("customer"),
  ];
  for (const by of [suspended, keyless, removed]) await aHook(by, { url: receiver.url, types });
  await aHook(store.customer, { url: watching.url, types });
  await admin.patch(`/admin/clients/${suspended.clientId}`, { suspended: true });
  await admin.delete(`/admin/keys/${keyless.keyId}`);
  await admin.delete(`/admin/clients/${removed.clientId}`);
  for (let n = 1; n <= 3; n++) {
    await store.aPet();
    await watching.nth(n);
  }
  await admin.patch(`/admin/clients/${suspended.clientId}`, { suspended: false });
  await store.aPet();
  await watching.nth(4);
  await receiver.nth(1);
  expect(receiver.received.map(({ id }) => id)).toEqual([watching.received[3]?.id as string]);
});

test("events of a transaction that was refused are never sent, and those of one webhook's types only", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  await aHook(store.customer, { url: receiver.url, types: ["order.placed", "order.cancelled"] });
  const { id: petId } = await store.aPet(1);
  await refused(store, () => store.customer.post("/store/orders", { petId, quantity: 2 }));
  const order = (await store.customer.post("/store/orders", { petId })).body;
  await store.customer.patch(`/store/orders/${order.id}`, { shipDate: "2026-12-01T00:00:00Z" });
  await store.customer.delete(`/store/orders/${order.id}`);
  await receiver.nth(2);
  expect(receiver.received.map(({ event }) => event.type).sort()).toEqual([
    "order.cancelled",
    "order.placed",
  ]);
});

test("without a webhook nothing is written for it, however much happens", async () => {
  await using store = await aStore();
  const written = async () =>
    JSON.stringify([
      await store.beside.db.rows("select * from fan_out"),
      await store.beside.db.value("select count(*) from webhook_deliveries"),
    ]);
  const before = await written();
  for (let n = 0; n < 20; n++) await store.aPet();
  await Bun.sleep(1200);
  expect(await written()).toBe(before);
});
