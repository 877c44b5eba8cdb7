import { expect, test } from "bun:test";
import { aStore, type Person, pagesOf, refused } from "../harness.ts";
import { aHook, aReceiver, deliveriesOf, newest, PRIVATE } from "../webhooks/receiver.ts";

const url = "https://shop.example/events";

const idsOf = (records: readonly { id: number }[]) => records.map(({ id }) => id);

test("an admin lists the webhooks of all clients and roles, of one client, and the enabled or the disabled ones", async () => {
  await using store = await aStore();
  const { admin, customer, stranger, staff } = store;
  const ours = [await aHook(customer, { url }), await aHook(customer, { url: `${url}/2` })];
  const theirs = await aHook(stranger, { url });
  const staffs = await aHook(staff, { url });
  await customer.patch(`/webhooks/${ours[1]?.id}`, { enabled: false });
  const [first, second] = idsOf(ours) as [number, number];
  const listed = async (query: string) => idsOf((await admin.get(`/admin/webhooks${query}`)).body);
  expect(await listed("")).toEqual([first, second, theirs.id, staffs.id]);
  expect(await listed(`?clientId=${customer.clientId}`)).toEqual([first, second]);
  expect(await listed("?enabled=true")).toEqual([first, theirs.id, staffs.id]);
  expect(await listed("?enabled=false")).toEqual([second]);
  expect(await listed(`?enabled=true&clientId=${customer.clientId}`)).toEqual([first]);
  expect(await listed("?clientId=9007199254740993")).toEqual([]);
  for (const query of ["", "&enabled=true", `&clientId=${customer.clientId}`]) {
    const pages = await pagesOf(admin, `/admin/webhooks?limit=1${query}`);
    expect(idsOf(pages.flat())).toEqual(await listed(`?${query.slice(1)}`));
    expect(pages.every((page) => page.length === 1)).toBe(true);
  }
});

test("an admin sees of a webhook what its client sees, whose it is, and never its secret", async () => {
  await using store = await aStore();
  const { secret, ...hook } = await aHook(store.customer, {
    url,
    types: ["pet.created"],
    description: "Till",
  });
  const one = await store.admin.get(`/admin/webhooks/${hook.id}`);
  expect(one.body).toEqual({ ...hook, clientId: store.customer.clientId });
  const list = await store.admin.get("/admin/webhooks");
  expect(list.body).toEqual([one.body]);
  const changed = await store.admin.patch(`/admin/webhooks/${hook.id}`, { enabled: false });
  for (const { text } of [one, list, changed]) expect(text).not.toContain(secret.slice("whsec_".length));
});

test("what an operator disables is sent nothing and can only be enabled by an operator, from then on", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const { admin, customer } = store;
  const hook = await aHook(customer, { url: receiver.url, types: ["category.created"] });
  await store.aPet();
  await receiver.nth(1);
  const { body: disabled } = await admin.patch(`/admin/webhooks/${hook.id}`, { enabled: false });
  expect(disabled).toMatchObject({ enabled: false, disabledReason: "operator", keyId: customer.keyId });
  expect((await customer.get(`/webhooks/${hook.id}`)).body).toMatchObject({ disabledReason: "operator" });
  await store.aPet();
  const { body: enabled } = await admin.patch(`/admin/webhooks/${hook.id}`, { enabled: true });
  expect([enabled.enabled, enabled.disabledReason, enabled.keyId]).toEqual([true, undefined, customer.keyId]);
  await store.staff.post("/categories", { name: "Last" });
  expect((await receiver.nth(2)).event.data.name).toBe("Last");
  expect(receiver.received).toHaveLength(2);
});

test("a client cannot get round the operator: neither by a change, nor by removing it, nor by another to the same host", async () => {
  await using store = await aStore();
  const { admin, customer, stranger } = store;
  const hook = await aHook(customer, { url });
  const other = await aHook(customer, { url: "https://elsewhere.example/" });
  const { body: ping } = await customer.send("POST", `/webhooks/${hook.id}/ping`);
  await admin.patch(`/admin/webhooks/${hook.id}`, { enabled: false });
  const own = `/webhooks/${hook.id}`;
  const colleague = await store.newPerson("staff", { clientId: customer.clientId });
  for (const by of [customer, colleague])
    for (const send of [
      () => by.patch(own, { enabled: true }),
      () => by.patch(own, { url: "https://elsewhere.example/" }),
      () => by.patch(own, { enabled: false }),
      () => by.delete(own),
      () => by.send("POST", `${own}/ping`),
      () => by.post(`${own}/replay`, { since: "2026-11-15T00:00:00Z" }),
      () => by.send("POST", `${own}/deliveries/${ping.id}/resend`),
      () => by.post("/webhooks", { url: "https://SHOP.example:8443/other?x" }),
      () => by.post("/webhooks", { url: "https://shop.example./events" }),
      () => by.patch(`/webhooks/${other.id}`, { url: `${url}?again` }),
    ]) {
      const { code, message } = await refused(store, send);
      expect(code).toBe("webhook_disabled_by_operator");
      expect(message).toContain("Ask the operator");
    }
  expect((await customer.post(`${own}/rotation`, {})).status).toBe(200);
  expect((await customer.post("/webhooks", { url: "https://third.example/" })).status).toBe(201);
  expect((await stranger.post("/webhooks", { url })).status).toBe(201);
  await admin.patch(`/admin/webhooks/${hook.id}`, { enabled: true });
  expect((await customer.post("/webhooks", { url })).status).toBe(201);
  expect((await customer.delete(own)).status).toBe(204);
});

test("a webhook that was disabled otherwise becomes the operator's to enable, and one that an operator enables is enabled", async () => {
  await using store = await aStore();
  const { admin, customer } = store;
  const hook = await aHook(customer, { url });
  const at = `/admin/webhooks/${hook.id}`;
  await customer.patch(`/webhooks/${hook.id}`, { enabled: false });
  expect((await admin.get(at)).body.disabledReason).toBe("asked");
  expect((await admin.patch(at, { enabled: false })).body.disabledReason).toBe("operator");
  expect((await admin.patch(at, {})).body.disabledReason).toBe("operator");
  expect((await admin.patch(at, { enabled: true })).body.enabled).toBe(true);
  await customer.patch(`/webhooks/${hook.id}`, { enabled: false });
  expect((await admin.patch(at, { enabled: true })).body.enabled).toBe(true);
});

test("the client is told that the operator disabled its webhook, once, and nobody else's is", async () => {
  await using store = await aStore();
  const { admin, customer, stranger } = store;
  const hook = await aHook(customer, { url });
  for (let time = 0; time < 2; time++) await admin.patch(`/admin/webhooks/${hook.id}`, { enabled: false });
  await admin.patch(`/admin/webhooks/${hook.id}`, { enabled: true });
  const told = async (by: Person) => (await by.get("/events?type=webhook.disabled")).body;
  expect((await told(customer)).map(({ data }: { data: unknown }) => data)).toEqual([
    { webhookId: hook.id, clientId: customer.clientId, reason: "operator" },
  ]);
  expect(await told(stranger)).toEqual([]);
});

test("an admin sees the deliveries of any client's webhook, as its client does", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response("no", { status: 400 }));
  const { admin, customer } = store;
  const hook = await aHook(customer, { url: receiver.url });
  for (let time = 0; time < 3; time++) await customer.send("POST", `/webhooks/${hook.id}/ping`);
  await newest(customer, hook, ({ state }) => state === "failed");
  const at = `/admin/webhooks/${hook.id}/deliveries`;
  expect((await admin.get(at)).body).toEqual(await deliveriesOf(customer, hook));
  expect((await pagesOf(admin, `${at}?limit=2&state=failed`)).flat()).toHaveLength(3);
  expect((await admin.get(`${at}?state=delivered`)).body).toEqual([]);
  expect((await admin.get("/admin/webhooks/4711/deliveries")).body.code).toBe("webhook_not_found");
  for (const send of [
    () => admin.get("/admin/webhooks/4711"),
    () => admin.patch("/admin/webhooks/4711", { enabled: false }),
  ])
    expect((await refused(store, send)).code).toBe("webhook_not_found");
});
