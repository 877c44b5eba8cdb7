import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  aStore,
  NOON,
  nextOf,
  type Person,
  pagesOf,
  type Reply,
  refused,
  type TestStore,
} from "../harness.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

interface Told {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly clientid?: string;
}

const everything = async (person: Person, query = ""): Promise<Told[]> =>
  (await pagesOf(person, `/events${query}`)).flat();
const monitorOf = ({ headers }: Reply) =>
  /<([^>]*)>; rel="monitor"/.exec(headers.get("link") ?? "")?.[1] as string;
/** Where the log ends now. */
const now = async (person: Person) => monitorOf(await person.get("/events?since=now"));
const typesIn = (events: readonly Told[]) => events.map(({ type }) => type);

test("an event is read as a CloudEvent, with the record that it tells of", async () => {
  const end = await now(store.customer);
  const { body: category } = await store.staff.post("/categories", { name: "Dogs" });
  const { body } = await store.customer.get(end);
  expect(body).toEqual([
    {
      specversion: "1.0",
      id: expect.stringMatching(/^[1-9]\d*$/),
      source: "/petstore",
      type: "category.created",
      subject: `categories/${category.id}`,
      time: new Date(NOON).toISOString(),
      datacontenttype: "application/json",
      data: { id: category.id, name: "Dogs" },
    },
  ]);
});

test("customers read the catalogue's events and their own, staff and admins all, in the same order with the same ids", async () => {
  const end = await now(store.staff);
  const { id: petId } = await store.aPet(5);
  for (const buyer of [store.customer, store.stranger])
    expect((await buyer.post("/store/orders", { petId })).status).toBe(201);
  const all = (await store.staff.get(end)).body as Told[];
  expect((await store.admin.get(end)).body).toEqual(all);
  expect(typesIn(all)).toEqual([
    "category.created",
    "pet.created",
    "inventory.changed",
    "order.placed",
    "inventory.changed",
    "order.placed",
    "inventory.changed",
  ]);
  const ids = all.map(({ id }) => Number(id));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  for (const buyer of [store.customer, store.stranger]) {
    const own = all.filter(({ clientid }) => clientid === undefined || clientid === String(buyer.clientId));
    expect(own).toHaveLength(6);
    expect((await buyer.get(end)).body).toEqual(own);
    expect(typesIn((await buyer.get(`${end}&type=order.placed`)).body)).toEqual(["order.placed"]);
  }
});

test("a ban is an event of its client, and of no other", async () => {
  const [banned, other] = [await store.newPerson("customer"), store.stranger];
  const end = await now(other);
  await store.admin.put(`/admin/keys/${banned.keyId}/ban`, { minutes: 5 });
  await store.admin.delete(`/admin/keys/${banned.keyId}/ban`);
  expect(typesIn((await banned.get(end)).body)).toEqual(["key.banned", "key.unbanned"]);
  expect((await other.get(end)).body).toEqual([]);
});

test("a filter by types, of everybody's and of a client's, gives the events of those types in order", async () => {
  const wanted = ["order.placed", "pet.created", "inventory.depleted"];
  const { id: petId } = await store.aPet();
  await store.customer.post("/store/orders", { petId });
  const query = `?limit=3&${wanted.map((type) => `type=${type}`).join("&")}`;
  for (const person of [store.customer, store.staff]) {
    const all = await everything(person, "?limit=100");
    const some = await everything(person, query);
    expect(some).toEqual(all.filter(({ type }) => wanted.includes(type)));
    expect(new Set(typesIn(some))).toEqual(new Set(wanted));
  }
});

test("pages of any size are the whole log, each event once", async () => {
  const whole = await everything(store.customer, "?limit=100");
  expect(whole.length).toBeGreaterThan(10);
  for (const limit of [1, 3, whole.length])
    expect(await everything(store.customer, `?limit=${limit}`)).toEqual(whole);
});

test("whoever has read everything asks for what is new by the monitor link or by the last id, and gets it once", async () => {
  const read = await store.customer.get("/events?since=now");
  expect([read.body, nextOf(read.headers)]).toEqual([[], undefined]);
  const end = monitorOf(read);
  expect((await store.customer.get(end)).body).toEqual([]);
  const { id: petId } = await store.aPet();
  const fresh = await store.customer.get(end);
  expect(typesIn(fresh.body)).toEqual(["category.created", "pet.created"]);
  expect((await store.customer.get(monitorOf(fresh))).body).toEqual([]);
  const { id } = fresh.body[0];
  expect((await store.customer.get(`/events?after=${id}`)).body).toEqual([fresh.body[1]]);
  expect(fresh.body[1].subject).toBe(`pets/${petId}`);
});

test("the monitor link of a page in the middle leads to the next page", async () => {
  const page = await store.customer.get("/events?limit=2");
  expect(monitorOf(page)).toBe(nextOf(page.headers) as string);
});

test("a monitor link goes past what its filter leaves out", async () => {
  const read = await store.customer.get("/events?since=now&type=pet.deleted");
  await store.aPet();
  const again = await store.customer.get(monitorOf(read));
  expect(again.body).toEqual([]);
  expect(monitorOf(again)).not.toBe(monitorOf(read));
});

test("a start at a time leaves nothing out from then on, and begins at most a minute before", async () => {
  const days = [1, 2, 3, 4, 5, 6, 7];
  const petOf = new Map<number, number>();
  for (const day of days) {
    store.clock.now = NOON + day * 24 * HOUR_MS;
    petOf.set(day, (await store.aPet()).id);
  }
  for (const day of days) {
    const at = NOON + day * 24 * HOUR_MS;
    const expected = days.filter((each) => each >= day).map((each) => `pets/${petOf.get(each)}`);
    for (const since of [at, at - HOUR_MS]) {
      const events = await everything(
        store.customer,
        `?since=${new Date(since).toISOString()}&type=pet.created`,
      );
      expect(events.map(({ subject }) => subject)).toEqual(expected);
    }
  }
  const later = new Date(store.clock.now + HOUR_MS).toISOString();
  expect(await everything(store.customer, `?since=${later}`)).toEqual([]);
  expect((await everything(store.customer, "?since=1999-12-31T23:59:59Z&limit=100"))[0]?.id).toBe(
    (await everything(store.customer, "?limit=100"))[0]?.id as string,
  );
});

test("a start at a time finds events behind one whose clock was late", async () => {
  const late = store.clock.now - MINUTE_MS / 2;
  const { body: first } = await store.staff.post("/categories", { name: "In time" });
  store.clock.now = late;
  await store.staff.post("/categories", { name: "By a clock that is half a minute late" });
  const since = new Date(late + MINUTE_MS / 4).toISOString();
  const subjects = (await everything(store.customer, `?since=${since}`)).map(({ subject }) => subject);
  expect(subjects).toContain(`categories/${first.id}`);
});

test("a position that no event ever had is refused, because what comes before it would be missed", async () => {
  const last = (await everything(store.staff, "?limit=100")).at(-1) as Told;
  expect((await store.staff.get(`/events?after=${last.id}`)).body).toEqual([]);
  const beyond = Number(last.id) + 1000;
  const error = await refused(store, () => store.staff.get(`/events?after=${beyond}`));
  expect(error).toMatchObject({ code: "invalid_parameter", details: [{ field: "after" }] });
  expect(error.message).toContain(`the last is ${last.id}`);
});

test("two starts, an unknown type and a time that is none are refused by name", async () => {
  for (const [query, field] of [
    ["?after=1&since=now", "since"],
    ["?type=pet.eaten", "type[0]"],
    ["?since=yesterday", "since"],
    ["?after=-1", "after"],
    ["?after=9223372036854775807", "after"],
  ]) {
    const error = await refused(store, () => store.customer.get(`/events${query}`));
    expect(error).toMatchObject({ code: "invalid_parameter", details: [{ field }] });
  }
});
