// A shop in which every page of the console has something to show.
import { aStore, type TestStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE } from "../webhooks/receiver.ts";

/** Everything in it has this name, and a receiver of webhooks answers with it. */
export async function furnished(name: string): Promise<TestStore> {
  const store = await aStore(PRIVATE);
  const category = (await store.staff.post("/categories", { name, description: name })).body;
  const pet = (await store.staff.post("/pets", { name, categoryId: category.id })).body;
  await store.staff.put(`/store/inventory/${pet.id}`, { quantity: 3 });
  await store.customer.post("/store/orders", { petId: pet.id });
  await store.staff.post("/store/orders", { petId: pet.id, complete: true });
  await store.staff.post("/store/orders", {});
  const client = (await store.admin.post("/admin/clients", { name, plan: "pro" })).body;
  const key = (await store.admin.post(`/admin/clients/${client.id}/keys`, { name, role: "staff" })).body;
  await store.admin.put(`/admin/keys/${key.id}/ban`, { minutes: 5, reason: name });
  await sent(store, name);
  return store;
}

/** One webhook with a delivery that waits for its next try, and one that is disabled. */
async function sent(store: TestStore, name: string): Promise<void> {
  await using receiver = aReceiver(() => new Response(name, { status: 503 }));
  // An address holds no blanks; HTML does as well without.
  const url = `${receiver.url}?${name.replaceAll(" ", "/")}`;
  const hook = await aHook(store.admin, { url, description: name, types: ["category.deleted"] });
  const { body } = await store.staff.post("/categories", { name: `${name} 2` });
  await store.staff.delete(`/categories/${body.id}`);
  await newest(store.admin, hook, ({ reason }) => reason !== undefined);
  const off = await aHook(store.admin, { url, description: name });
  await store.admin.patch(`/webhooks/${off.id}`, { enabled: false });
}
