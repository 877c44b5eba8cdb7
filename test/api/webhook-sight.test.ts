// Of what a webhook is told: what its role and the key that made it may see.
import { expect, test } from "bun:test";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE, type Receiver } from "../webhooks/receiver.ts";

const url = "https://shop.example/events";
const DAY = 86_400_000;

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
