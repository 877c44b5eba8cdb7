import { afterAll, beforeAll, expect, test } from "bun:test";
import { numberAfterRestore } from "../../src/core/event-gap.ts";
import { ENGINE } from "../beside.ts";
import { follow } from "../following.ts";
import { aStore, NOON, refused, type TestStore } from "../harness.ts";
import { swept } from "../swept.ts";

const DAY_MS = 86_400_000;
/** More than one step of a sweep drops. */
const MANY = 1200;

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

/** Sweeps; how many steps it took to drop events. */
async function sweptEvents(eventsKeptDays: number): Promise<number> {
  const steps = await swept(store, { eventsKeptDays });
  return steps.filter((step) => step === "behind.forgetEvents").length;
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

  expect(await sweptEvents(0)).toBe(0);
  expect(await sweptEvents(11)).toBe(1);
  expect(await ids()).toEqual([...old, ...young]);
  expect(await sweptEvents(9)).toBeGreaterThan(2);
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
  await sweptEvents(9);
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
  await sweptEvents(9);
  expect(await ids()).toEqual(before);
});

test("where a restore has left numbers out nobody goes on from one of those, and all others go on", async () => {
  const { db } = store.beside;
  await store.staff.post("/categories", { name: "Before the backup" });
  const kept = await ids();
  const last = kept.at(-1) as number;
  // As the operator's book has it for PostgreSQL, and as a restore does it.
  await db.exec(
    ENGINE === "postgres"
      ? "select setval('events_id_seq', (extract(epoch from now()) * 10000)::bigint)"
      : `update sqlite_sequence set seq = ${numberAfterRestore(last, store.clock.now)} where name = 'events'`,
  );
  const jump = Number(
    await db.value(
      ENGINE === "postgres"
        ? "select last_value from events_id_seq"
        : "select seq from sqlite_sequence where name = 'events'",
    ),
  );
  const told = async () => {
    for (const path of [`/events?after=${last + 5}`, `/events/stream?lastEventId=${last + 5}`]) {
      const error = await refused(store, () => store.staff.get(path));
      expect(error).toMatchObject({ code: "events_expired", status: 410 });
      expect(error.message).toContain(`older than event ${last + 5}`);
    }
  };
  await told();
  expect((await store.staff.get(`/events?after=${jump}`)).body).toEqual([]);
  for (let n = 1; n <= 10; n++) await store.staff.post("/categories", { name: `After the restore ${n}` });
  await told();
  const fresh = Array.from({ length: 10 }, (_, n) => jump + 1 + n);
  const read = async (path: string) =>
    (await store.staff.get(path)).body.map(({ id }: { id: string }) => Number(id));
  expect(await read(`/events?after=${last}`)).toEqual(fresh);
  expect(await read(`/events?after=${jump}`)).toEqual(fresh);
  expect(await read(`/events?after=${kept.at(-2)}`)).toEqual([last, ...fresh]);
  expect(await read("/events")).toEqual([...kept, ...fresh]);
  const since = new Date(store.clock.now).toISOString();
  expect(await read(`/events?since=${since}`)).toEqual(expect.arrayContaining(fresh));
});
