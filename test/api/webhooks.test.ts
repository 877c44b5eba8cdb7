import { expect, test } from "bun:test";
import { aStore, type Person, pagesOf, refused, type TestStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE, type Receiver } from "../webhooks/receiver.ts";

const url = "https://shop.example/events";
const DAY = 86_400_000;

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

/** Orders of the customer and the stranger and one of the staff's own, then a category that ends the row. */
async function happenings({ customer, stranger, staff, aPet }: TestStore): Promise<void> {
  const { id: petId } = await aPet(100);
  for (const by of [customer, stranger, staff]) await by.post("/store/orders", { petId });
  await staff.post("/categories", { name: "The end" });
}

/** The clients whose orders a receiver was told of, up to the next end. */
async function toldOf(receiver: Receiver, after = 0): Promise<number[]> {
  for (let n = after + 1; ; n++) {
    const { event } = await receiver.nth(n);
    if (event.data.name !== "The end") continue;
    const orders = () => receiver.received.slice(after).filter((each) => each.event.type === "order.placed");
    // What is sent side by side may come after the end.
    await Bun.sleep(100);
    return orders().map((each) => Number(each.event.clientid));
  }
}

test("a customer's webhook is told of its own client's orders, staff's of all", async () => {
  await using store = await aStore(PRIVATE);
  await using ours = aReceiver();
  await using staffs = aReceiver();
  const types = ["order.placed", "category.created"];
  const own = await aHook(store.customer, { url: ours.url, types });
  const theirs = await aHook(store.staff, { url: staffs.url, types });
  expect((await store.staff.get(`/webhooks/${theirs.id}`)).body).toMatchObject({
    role: "staff",
    sees: "all",
  });
  await happenings(store);
  const { customer, stranger, staff } = store;
  expect(await toldOf(ours)).toEqual([customer.clientId]);
  const kept = (await customer.get(`/webhooks/${own.id}/deliveries`)).body;
  expect(kept.filter(({ type }: { type: string }) => type === "order.placed")).toHaveLength(1);
  expect((await toldOf(staffs)).sort()).toEqual(
    [customer.clientId, stranger.clientId, staff.clientId].sort(),
  );
});

const endings: Readonly<Record<string, (store: TestStore, by: Person) => Promise<unknown>>> = {
  "is revoked": ({ admin }, { keyId }) => admin.delete(`/admin/keys/${keyId}`),
  expires: async ({ clock, beside }, { keyId }) => {
    await beside.transact(async (s) => s.expireKey(keyId, clock.now + 1));
    clock.now += 1;
  },
};

for (const [how, end] of Object.entries(endings)) {
  test(`staff's webhook sees its own client's orders only, once its key ${how}: also of what waits`, async () => {
    await using store = await aStore(PRIVATE);
    await using receiver = aReceiver(() => new Response(null, { status: 500 }));
    const maker = await store.newPerson("staff", { clientId: store.staff.clientId });
    const hook = await aHook(maker, { url: receiver.url, types: ["order.placed", "category.created"] });
    await store.customer.post("/store/orders", { petId: (await store.aPet()).id });
    await newest(store.staff, hook, ({ type, reason }) => type === "order.placed" && reason);
    await end(store, maker);
    store.clock.now += DAY;
    const waiting = await newest(
      store.staff,
      hook,
      ({ type, state }) => type === "order.placed" && state === "failed",
    );
    expect(waiting).toMatchObject({ reason: "not_permitted" });
    expect(receiver.received.filter(({ event }) => event.type === "order.placed")).toHaveLength(1);
    expect((await store.staff.get(`/webhooks/${hook.id}`)).body).toMatchObject({
      sees: "own",
      enabled: true,
    });

    receiver.answer = () => new Response();
    const before = receiver.received.length;
    await happenings(store);
    expect(await toldOf(receiver, before)).toEqual([store.staff.clientId]);
    // Another key of staff's takes it over by changing it.
    const { body } = await store.staff.patch(`/webhooks/${hook.id}`, { description: "taken over" });
    expect([body.sees, body.keyId]).toEqual(["all", store.staff.keyId]);
  }, 20_000);
}

test("a key rotated with an overlap hands its webhooks to the new one, a key rotated at once does not", async () => {
  await using store = await aStore();
  for (const overlapDays of [1, 0]) {
    const old = await store.newPerson("staff", { clientId: store.staff.clientId });
    const hook = await aHook(old, { url });
    const { body: key } = await old.post(`/account/keys/${old.keyId}/rotation`, { overlapDays });
    // Whoever had a key that leaked may have made the webhook.
    expect((await store.staff.get(`/webhooks/${hook.id}`)).body).toMatchObject(
      overlapDays > 0 ? { keyId: key.id, sees: "all" } : { keyId: old.keyId, sees: "own" },
    );
  }
});

test("a key of a higher role that changes a webhook lets it see no more than before", async () => {
  await using store = await aStore();
  const hook = await aHook(store.customer, { url });
  const staff = await store.newPerson("staff", { clientId: store.customer.clientId });
  const { body } = await staff.patch(`/webhooks/${hook.id}`, { description: "mended" });
  expect(body).toMatchObject({ role: "customer", sees: "own", keyId: staff.keyId });
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
