import { afterAll, beforeAll, expect, test } from "bun:test";
import { follow } from "../following.ts";
import { aStore, type Person, refused, type TestStore } from "../harness.ts";

/** More than a page of what a follower catches up with, and of what it is sent at once. */
const MANY = 700;
/** By then a stream has ended whose key may no longer ask. */
const ENDS_WITHIN_MS = 2500;

let store: TestStore;
let categoryId: number;
beforeAll(async () => {
  store = await aStore();
  categoryId = (await store.aPet()).categoryId;
});
afterAll(() => store.stop());

const aCategory = async (name: string) => (await store.staff.post("/categories", { name })).body.id as number;
const manyPets = async (count: number) => {
  const body = Array.from({ length: count }, (_, n) => ({ name: `Pet ${n}`, categoryId }));
  expect((await store.staff.post("/pets/batch", body)).status).toBe(201);
};
/** The id of an event behind which there is nothing yet. */
const aPosition = async () => {
  await aCategory("The last");
  return Math.max(
    ...(await store.beside.db.rows("select max(id) as id from events")).map(({ id }) => Number(id)),
  );
};
const listed = async (person: Person, query: string) => (await person.get(`/events${query}`)).body;

test("an event comes as soon as it has happened, with the id, the type and the data that the list has", async () => {
  await using stream = await follow(store.url, store.customer);
  const id = await aCategory("Dogs");
  const [frame] = await stream.events(1);
  const [event] = await listed(store.customer, "?type=category.created&limit=100").then((all) =>
    all.slice(-1),
  );
  expect(frame).toMatchObject({ id: event.id, event: "category.created", data: event });
  expect(event.subject).toBe(`categories/${id}`);
});

test("a stream starts now: what happened before is not sent", async () => {
  await aCategory("Before");
  await using stream = await follow(store.url, store.customer);
  await aCategory("After");
  expect((await stream.events(1))[0]?.data.data.name).toBe("After");
});

test("customers are sent the catalogue's events and their own, staff all, a filter those of its types", async () => {
  const { id: petId } = await store.aPet(5);
  await using own = await follow(store.url, store.customer);
  await using all = await follow(store.url, store.staff);
  await using placed = await follow(store.url, store.customer, {
    query: "?type=order.placed&type=order.cancelled",
  });
  const [strange] = await Promise.all([store.stranger.post("/store/orders", { petId })]);
  const { body: order } = await store.customer.post("/store/orders", { petId });
  await store.customer.delete(`/store/orders/${order.id}`);
  const subjects = (frames: readonly { event?: string | undefined; data: { subject: string } }[]) =>
    frames.map(({ event, data }) => `${event} ${data.subject}`);
  const [theirs, ours] = [`store/orders/${strange.body.id}`, `store/orders/${order.id}`];
  const stock = `inventory.changed store/inventory/${petId}`;
  const rest = [`order.placed ${ours}`, stock, `order.cancelled ${ours}`, stock];
  expect(subjects(await own.events(5))).toEqual([stock, ...rest]);
  expect(subjects(await all.events(6))).toEqual([`order.placed ${theirs}`, stock, ...rest]);
  expect(subjects(await placed.events(2))).toEqual([`order.placed ${ours}`, `order.cancelled ${ours}`]);
});

test("a stream goes on after the last id, by its header or its parameter, and the header goes before", async () => {
  const [first] = await listed(store.customer, "?limit=1");
  const rest = await listed(store.customer, `?after=${first.id}&limit=3`);
  for (const asking of [
    { headers: { "last-event-id": first.id } },
    { query: `?lastEventId=${first.id}` },
    { query: "?lastEventId=1000000", headers: { "last-event-id": first.id } },
  ]) {
    await using stream = await follow(store.url, store.customer, asking);
    expect((await stream.events(3)).map(({ data }) => data)).toEqual(rest);
  }
});

test("from before the first event on, everything is sent, however much it is, and then what is new", async () => {
  await manyPets(MANY);
  await using stream = await follow(store.url, store.staff, { headers: { "last-event-id": "0" } });
  const count = (await store.events()).length;
  const frames = await stream.events(count);
  await aCategory("New");
  frames.push(...(await stream.events(1)));
  const ids = frames.map(({ id }) => Number(id));
  expect(ids).toEqual(Array.from(ids.keys(), (at) => at + 1));
});

test("a follower that is cut off again and again, while others write, misses nothing and hears nothing twice", async () => {
  const start = String(await aPosition());
  const wanted = 60;
  const writing = (async () => {
    for (let n = 0; n < wanted; n++) await aCategory(`Kind ${n}`);
  })();
  const heard: string[] = [];
  for (let last: string = start; heard.length < wanted; ) {
    await using stream = await follow(store.url, store.customer, { headers: { "last-event-id": last } });
    const left = wanted - heard.length;
    for (const { id } of await stream.events(Math.min(left, 7))) {
      last = id as string;
      heard.push(last);
    }
  }
  await writing;
  const all = await listed(store.customer, `?after=${start}&limit=100`);
  expect(heard).toEqual(all.map(({ id }: { id: string }) => id));
});

test("a stream ends when its key is revoked, expires or is banned, or its client is suspended", async () => {
  const ends: [string, (person: Person) => Promise<unknown>][] = [
    ["revoked", (person) => store.admin.delete(`/admin/keys/${person.keyId}`)],
    ["banned", (person) => store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 })],
    ["suspended", (person) => store.admin.patch(`/admin/clients/${person.clientId}`, { suspended: true })],
    [
      "expired",
      async () => {
        store.clock.now += 61_000;
      },
    ],
  ];
  await using other = await follow(store.url, store.customer);
  for (const [why, end] of ends) {
    const person = await store.newPerson("customer", {
      ...(why === "expired" && { expiresAt: store.clock.now + 60_000 }),
    });
    const stream = await follow(store.url, person);
    const since = performance.now();
    await end(person);
    while (await stream.next());
    expect([why, performance.now() - since < ENDS_WITHIN_MS]).toEqual([why, true]);
    expect((await person.get("/pets")).status).toBeGreaterThanOrEqual(401);
  }
  await aCategory("Still there");
  expect((await other.events(1)).length).toBe(1);
});

test("a client has so many streams and no more, and one that ends makes room", async () => {
  await using small = await aStore({ MAX_STREAMS: "3", MAX_STREAMS_PER_CLIENT: "2" });
  const [first, second] = [await follow(small.url, small.customer), await follow(small.url, small.customer)];
  const reply = await small.customer.get("/events/stream");
  expect([reply.status, reply.body.code]).toEqual([409, "too_many_streams"]);
  expect([reply.headers.get("retry-after"), reply.headers.get("x-should-retry")]).toEqual(["5", null]);
  const third = await follow(small.url, small.stranger);
  const inAll = await small.staff.get("/events/stream");
  expect([inAll.status, inAll.body.code, inAll.headers.get("retry-after")]).toEqual([503, "overloaded", "1"]);
  // Whoever asks for the head alone takes no room.
  expect((await small.stranger.send("HEAD", "/events/stream")).status).toBe(200);
  await first.close();
  let again = await small.customer.get("/events/stream");
  while (again.status !== 200) again = await small.customer.get("/events/stream");
  for (const stream of [second, third]) await stream.close();
});

test("a stream costs one request, however long it lasts, and is no work under way", async () => {
  await using busy = await aStore({ MAX_PENDING_REQUESTS: "1" });
  const person = await busy.newPerson("customer", { quota: { perMinute: 10, perDay: 100 } });
  await using stream = await follow(busy.url, person);
  expect(stream.response.headers.get("x-ratelimit-remaining")).toBe("9");
  await using _second = await follow(busy.url, busy.customer);
  await busy.aPet();
  expect((await stream.events(2)).length).toBe(2);
  expect((await person.get("/pets")).headers.get("x-ratelimit-remaining")).toBe("8");
});

test("a stop ends streams at once, and takes no new ones while it drains", async () => {
  await using stopping = await aStore({ SHUTDOWN_DRAIN_SECONDS: "1" });
  const stream = await follow(stopping.url, stopping.customer);
  const since = performance.now();
  const stopped = stopping.stop();
  expect(await stream.next()).toBeNull();
  expect(performance.now() - since).toBeLessThan(900);
  const late = await stopping.customer.get("/events/stream");
  expect([late.status, late.body.code]).toEqual([503, "overloaded"]);
  await stopped;
  expect(performance.now() - since).toBeLessThan(3000);
});

test("a last id that was never given, or is none, is refused by name", async () => {
  for (const [headers, query, field] of [
    [{ "last-event-id": "one" }, "", "Last-Event-ID"],
    [{ "last-event-id": "-1" }, "", "Last-Event-ID"],
    [{ "last-event-id": "9007199254740993" }, "", "Last-Event-ID"],
    [{ "last-event-id": "1000000" }, "", "lastEventId"],
    [{}, "?lastEventId=1000000", "lastEventId"],
    [{}, "?lastEventId=x", "lastEventId"],
    [{}, "?type=pet.eaten", "type[0]"],
  ] as const) {
    const error = await refused(store, () => store.customer.get(`/events/stream${query}`, headers));
    expect(error).toMatchObject({ code: "invalid_parameter", details: [{ field }] });
  }
});
