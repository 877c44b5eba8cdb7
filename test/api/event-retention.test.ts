import { afterAll, beforeAll, expect, test } from "bun:test";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { sweep } from "../../src/worker/sweep.ts";
import { follow } from "../following.ts";
import { aStore, NOON, refused, type TestStore } from "../harness.ts";

const DAY_MS = 86_400_000;
/** More than one step of a sweep drops. */
const MANY = 1200;

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

/** Sweeps as the server does once a minute; how many steps it took. */
async function swept(eventsKeptDays: number): Promise<number> {
  let steps = 0;
  await sweep({
    perform(operation, input) {
      if (operation === "behind.forgetEvents") steps += 1;
      const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
      const command = { operation, caller, input, now: store.clock.now };
      return store.beside.transact((writes) => perform(writes, command, rulesOf(store.config)));
    },
    forgetAnswers: () => {},
    clock: () => store.clock.now,
    isStopping: () => false,
    usageKeptDays: 400,
    eventsKeptDays,
  });
  // The duty is taken for a minute.
  store.clock.now += 60_000;
  return steps;
}
const ids = async () =>
  (await store.beside.db.rows("select id from events order by id")).map(({ id }) => Number(id));

test("events are dropped in small steps when they are older than they are kept, and whoever missed some is told", async () => {
  const { categoryId } = await store.aPet();
  const pets = Array.from({ length: MANY / 2 }, () => ({ name: "Rex", categoryId }));
  for (let half = 0; half < 2; half++) expect((await store.staff.post("/pets/batch", pets)).status).toBe(201);
  const old = await ids();
  store.clock.now = NOON + 10 * DAY_MS;
  await store.aPet();
  const young = (await ids()).slice(old.length);

  expect(await swept(0)).toBe(0);
  expect(await swept(11)).toBe(1);
  expect(await ids()).toEqual([...old, ...young]);
  expect(await swept(9)).toBeGreaterThan(2);
  expect(await ids()).toEqual(young);

  const last = old.at(-1) as number;
  for (const path of [`/events?after=${last - 1}`, `/events/stream?lastEventId=${last - 1}`]) {
    const error = await refused(store, () => store.customer.get(path));
    expect(error).toMatchObject({ code: "events_expired", status: 410 });
    expect(error.message).toContain(`up to ${last} are no longer kept`);
  }
  // Whoever has read all of those goes on; and who begins, begins with the oldest that is kept.
  const subjects = (events: { id: string }[]) => events.map(({ id }) => Number(id));
  expect(subjects((await store.staff.get(`/events?after=${last}`)).body)).toEqual(young);
  expect(subjects((await store.staff.get("/events")).body)).toEqual(young);
  await using stream = await follow(store.url, store.staff, { headers: { "last-event-id": String(last) } });
  expect((await stream.events(young.length)).map(({ id }) => Number(id))).toEqual(young);
});

test("when all are dropped their ids are not given again, and the end of the log is where it was", async () => {
  const last = (await ids()).at(-1) as number;
  store.clock.now += 10 * DAY_MS;
  await swept(9);
  expect(await ids()).toEqual([]);
  expect((await store.staff.get(`/events?after=${last}`)).body).toEqual([]);
  const error = await refused(store, () => store.staff.get(`/events?after=${last - 1}`));
  expect(error.code).toBe("events_expired");
  await store.aPet();
  const { body } = await store.staff.get(`/events?after=${last}`);
  expect(Number(body[0].id)).toBeGreaterThan(last);
});

test("a sweep drops nothing behind an event that is young, though its time is older", async () => {
  await store.staff.post("/categories", { name: "Young" });
  store.clock.now -= 20 * DAY_MS;
  await store.staff.post("/categories", { name: "By a clock that was set back" });
  store.clock.now += 20 * DAY_MS;
  const before = await ids();
  await swept(9);
  expect(await ids()).toEqual(before);
});
