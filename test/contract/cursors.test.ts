import { beforeAll, expect } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import type { Endpoint } from "../../src/contract/route.ts";
import { nextOf } from "../harness.ts";
import { aCall, type Call, each, fieldsOf, madeBeside, refused, theStore } from "./calls.ts";

const store = theStore();
const lists = everyEndpoint.filter(({ route }) => route.kind === "list");
const calls = new Map<string, Call>();

/** A list of two records at least, and one like it: of another pet, of another client. */
beforeAll(async () => {
  for (const { id: keyId } of [await aKey(), await aKey()])
    expect((await store.admin.put(`/admin/keys/${keyId}/ban`, { minutes: 5 })).status).toBe(200);
  for (const { id: petId } of [await store.aPet(5), await store.aPet(5)])
    expect((await store.customer.post("/store/orders", { petId })).status).toBe(201);
  for (const endpoint of lists) {
    calls.set(endpoint.id, await aList(endpoint));
    if (endpoint.route.params) calls.set(`${endpoint.id} of another`, await aList(endpoint));
  }
});

/** A client's keys are one, unless another is made; of webhooks and deliveries there are none. */
async function aList(endpoint: Endpoint): Promise<Call> {
  const list = await aCall(store, endpoint);
  const owner =
    endpoint.id === "account.keys.list"
      ? list.by.clientId
      : /^\/admin\/clients\/(\d+)\/keys$/.exec(list.path)?.[1];
  if (owner !== undefined) await aKey(Number(owner));
  const [, , webhookId] = list.path.split("/");
  if (endpoint.id === "webhooks.deliveries.list")
    for (let time = 0; time < 2; time++) await list.by.send("POST", `/webhooks/${webhookId}/ping`);
  if (endpoint.id === "admin.webhooks.deliveries.list") {
    const at = list.path.replace("/deliveries", "");
    const { id, ...owner } = (await store.admin.get(at)).body;
    for (let time = 0; time < 2; time++) await madeBeside(store, owner, "webhooks.ping", { webhookId: id });
  }
  if (endpoint.id === "webhooks.list")
    for (let time = 0; time < 2; time++)
      await list.by.post("/webhooks", { url: "https://shop.example/events" });
  return list;
}

async function aKey(clientId = store.stranger.clientId): Promise<{ id: number }> {
  return (await store.admin.post(`/admin/clients/${clientId}/keys`, {})).body;
}

each(lists, "takes its own cursor, and that of no other list", async ({ id }) => {
  const { send } = calls.get(id) as Call;
  for (const [other, { send: sendOther }] of calls) {
    const next = nextOf((await sendOther({ query: "?limit=1" })).headers);
    const cursor = new URL(next as string, "http://x").searchParams.get("cursor");
    if (other === id) expect((await send({ query: `?cursor=${cursor}` })).status).toBe(200);
    else {
      const reply = await refused(store, "invalid_parameter", () => send({ query: `?cursor=${cursor}` }));
      expect([other, ...fieldsOf(reply)]).toEqual([other, "cursor"]);
    }
  }
});
