import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { isWrite, successStatus, takesIfMatch, takesIfNoneMatch } from "../../src/contract/route.ts";
import type { Person } from "../harness.ts";
import { aCall, each, refused, refusedCalls, theStore } from "./calls.ts";

const store = theStore();
const call = refusedCalls(store);
const records = everyEndpoint.filter(({ method, route }) => takesIfNoneMatch(method, route));
const changes = everyEndpoint.filter(({ method, route }) => takesIfMatch(method, route));
const writes = everyEndpoint.filter(({ method }) => isWrite(method));
const others = writes.filter(({ method, route }) => !takesIfMatch(method, route));
const creations = everyEndpoint.filter(({ route }) => route.location && route.kind === "record");

/** The ETag that a reader of the record has. */
async function tagAt(path: string, owner?: Person): Promise<string> {
  const reader = path.startsWith("/admin") ? store.admin : store.staff;
  return (await (path.startsWith("/webhooks") && owner ? owner : reader).get(path)).headers.get(
    "etag",
  ) as string;
}

each(records, "has a strong ETag, and answers 304 to who has it", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const tag = (await send()).headers.get("etag") as string;
  expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
  for (const given of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag},"more"`, "*", " * "]) {
    for (const method of ["GET", "HEAD"]) {
      const reply = await send({ method, headers: { "if-none-match": given } });
      expect([given, reply.status, reply.text, reply.headers.get("etag")]).toEqual([given, 304, "", tag]);
      expect(reply.headers.get("cache-control")).toBe("private, no-cache");
      expect(reply.headers.get("content-type")).toBeNull();
    }
  }
});

each(records, "sends the record to who has another", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const tag = (await send()).headers.get("etag") as string;
  for (const given of ['"other"', 'W/"other"', `"${tag.slice(1, -1)}x"`, tag.slice(1, -1), "", '"'])
    expect((await send({ headers: { "if-none-match": given } })).status).toBe(200);
});

each(records, "gives the same ETag until the record changes", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const [first, second] = [await send(), await send()];
  expect(second.headers.get("etag")).toBe(first.headers.get("etag") as string);
});

each(changes, "is done for who has the record's ETag, alone, among others, or any", async (endpoint) => {
  for (const given of [(tag: string) => tag, (tag: string) => `"other", W/"x",${tag}`, () => "*"]) {
    const made = await aCall(store, endpoint);
    const reply = await made.send({ headers: { "if-match": given(await tagAt(made.path, made.by)) } });
    expect(reply.status).toBe(successStatus(endpoint.route));
  }
});

each(changes, "is refused to who has another ETag, a weak one, or none", async (endpoint) => {
  const made = await call(endpoint);
  const { send } = made;
  const tag = await tagAt(made.path, made.by);
  for (const given of ['"other"', `W/${tag}`, `"other", W/${tag}`, '""']) {
    const { body } = await refused(store, "precondition_failed", () =>
      send({ headers: { "if-match": given } }),
    );
    expect(body.message).toContain(tag);
  }
  for (const given of [tag.slice(1, -1), ""]) {
    await refused(store, "invalid_parameter", () => send({ headers: { "if-match": given } }));
  }
});

each(
  changes,
  "answers with the ETag that the record has from then on, and refuses the one before",
  async (endpoint) => {
    const made = await aCall(store, endpoint);
    const { send } = made;
    const before = await tagAt(made.path, made.by);
    const reply = await send({ headers: { "if-match": before } });
    if (!endpoint.route.returns) return expect(reply.headers.get("etag")).toBeNull();
    expect(reply.headers.get("etag")).toBe(await tagAt(made.path, made.by));
    expect(reply.headers.get("etag")).not.toBe(before);
    await refused(store, "precondition_failed", () => send({ headers: { "if-match": before } }));
  },
);

each(changes, "finds no record before it compares ETags", async (endpoint) => {
  const { send, path } = await call(endpoint);
  const missing = path.replace(/\d+/, "9007199254740993");
  const reply = await send({ path: missing, headers: { "if-match": '"other"' } });
  expect(reply.status).toBe(404);
});

each(creations, "gives an ETag that the first change of the record can use", async (endpoint) => {
  const { send, by, path } = await aCall(store, endpoint);
  const { headers, body } = await send();
  const tag = headers.get("etag") as string;
  expect((await by.patch(`${path}/${body.id}`, {}, { "if-match": tag })).status).toBe(200);
});

each(others, "refuses If-Match, which it could not heed", async (endpoint) => {
  const { send } = await call(endpoint);
  for (const given of ['"p1"', 'W/"p1"', "*"]) {
    const { body } = await refused(store, "invalid_parameter", () =>
      send({ headers: { "if-match": given } }),
    );
    const message = `must not be sent with ${endpoint.route.at}, which compares no ETag`;
    expect(body.details).toEqual([{ field: "If-Match", message }]);
  }
});

each(writes, "refuses If-None-Match, which is for reads", async (endpoint) => {
  const { send } = await call(endpoint);
  for (const given of ['"p1"', "*"]) {
    const { body } = await refused(store, "invalid_parameter", () =>
      send({ headers: { "if-none-match": given } }),
    );
    const message = `must not be sent with ${endpoint.route.at}, which is no read`;
    expect(body.details).toEqual([{ field: "If-None-Match", message }]);
  }
});

test("each field of a client that is shown changes its ETag, and what it was before brings it back", async () => {
  const { clientId } = await store.newPerson("customer");
  const at = `/admin/clients/${clientId}`;
  const before = (await store.admin.get(at)).body;
  const first = await tagAt(at);
  const seen = new Set([first]);
  for (const change of [
    { name: "Other" },
    { perMinute: 7 },
    { perDay: 77 },
    { suspended: true },
    { plan: "pro" },
  ])
    seen.add((await store.admin.patch(at, change)).headers.get("etag") as string);
  expect(seen.size).toBe(6);
  const { id: _, createdAt: __, ...fields } = before;
  expect((await store.admin.patch(at, fields)).headers.get("etag")).toBe(first);
});

test("a star in quotes is the ETag of nothing, not any", async () => {
  const { id } = await store.aPet();
  await refused(store, "precondition_failed", () => store.staff.delete(`/pets/${id}`, { "if-match": '"*"' }));
});

test("a pet is changed by who has the ETag of either of its representations", async () => {
  for (const representation of ["/pets", "/store/pets"]) {
    for (const write of ["PUT", "PATCH", "DELETE"]) {
      const pet = await store.aPet(3);
      const tag = await tagAt(`${representation}/${pet.id}`);
      const body = write === "DELETE" ? {} : { body: { name: "Max", categoryId: pet.categoryId } };
      const headers = { "if-match": tag };
      const first = await store.staff.send(write, `/pets/${pet.id}`, { ...body, headers });
      expect([write, first.status]).toEqual([write, write === "DELETE" ? 204 : 200]);
      if (write === "DELETE") continue;
      await refused(store, "precondition_failed", () =>
        store.staff.send(write, `/pets/${pet.id}`, { ...body, headers }),
      );
    }
  }
});

test("neither an order nor an edit of the category spoils a change of a pet that was read with both", async () => {
  for (const write of ["PUT", "PATCH", "DELETE"]) {
    const pet = await store.aPet(3);
    const tag = await tagAt(`/store/pets/${pet.id}`);
    const order = await store.customer.post("/store/orders", { petId: pet.id });
    await store.staff.patch(`/categories/${pet.categoryId}`, { description: "They bark" });
    await store.customer.delete(`/store/orders/${order.body.id}`);
    expect(await tagAt(`/store/pets/${pet.id}`)).not.toBe(tag);
    const body = write === "DELETE" ? {} : { body: { name: "Max", categoryId: pet.categoryId } };
    const headers = { "if-match": tag };
    const { status } = await store.staff.send(write, `/pets/${pet.id}`, { ...body, headers });
    expect([write, status]).toEqual([write, write === "DELETE" ? 204 : 200]);
  }
});

test("a stale ETag is told the one that the same representation has now", async () => {
  const pet = await store.aPet(3);
  for (const representation of ["/pets", "/store/pets"]) {
    const stale = await tagAt(`${representation}/${pet.id}`);
    await store.staff.patch(`/pets/${pet.id}`, { name: `Max of ${representation}` });
    const { body } = await refused(store, "precondition_failed", () =>
      store.staff.patch(`/pets/${pet.id}`, { name: "Tom" }, { "if-match": stale }),
    );
    expect(body.message).toStartWith(
      `If-Match asks for ${stale}, but the record is now ${await tagAt(`${representation}/${pet.id}`)}.`,
    );
  }
});

test("what only looks like the ETag of a pet with its stock matches nothing", async () => {
  const { id } = await store.aPet();
  for (const tag of ['"p1-"', '"p1-s1"', '"p1-s1-c1"', '"p1-s1-c1.1-"', '"p1x-s1-c1.1"', '"p11-s1-c1.1"'])
    await refused(store, "precondition_failed", () => store.staff.delete(`/pets/${id}`, { "if-match": tag }));
});

test("the ETag of a pet with its category and stock changes with each of the three", async () => {
  const pet = await store.aPet(3);
  const seen = new Set([await tagAt(`/store/pets/${pet.id}`)]);
  await store.staff.patch(`/pets/${pet.id}`, { name: "Max" });
  seen.add(await tagAt(`/store/pets/${pet.id}`));
  await store.staff.patch(`/categories/${pet.categoryId}`, { name: "Hounds" });
  seen.add(await tagAt(`/store/pets/${pet.id}`));
  await store.staff.put(`/store/inventory/${pet.id}`, { quantity: 9 });
  seen.add(await tagAt(`/store/pets/${pet.id}`));
  await store.customer.post("/store/orders", { petId: pet.id });
  seen.add(await tagAt(`/store/pets/${pet.id}`));
  const other = await store.staff.post("/categories", { name: "Wolves" });
  await store.staff.patch(`/pets/${pet.id}`, { categoryId: other.body.id });
  seen.add(await tagAt(`/store/pets/${pet.id}`));
  expect(seen.size).toBe(6);
});

test("a change of stock leaves the ETag of the bare pet, and a change of name that of its stock", async () => {
  const pet = await store.aPet(3);
  const [bare, stock] = [await tagAt(`/pets/${pet.id}`), await tagAt(`/store/inventory/${pet.id}`)];
  await store.staff.put(`/store/inventory/${pet.id}`, { quantity: 9 });
  expect(await tagAt(`/pets/${pet.id}`)).toBe(bare);
  const restocked = await tagAt(`/store/inventory/${pet.id}`);
  expect(restocked).not.toBe(stock);
  await store.staff.patch(`/pets/${pet.id}`, { name: "Max" });
  expect(await tagAt(`/store/inventory/${pet.id}`)).toBe(restocked);
});
