import { afterAll, beforeAll, expect, test } from "bun:test";
import type { UsageRecord } from "../../src/core/ports.ts";
import { aStore, NOON, type TestStore } from "../harness.ts";
import { swept } from "../swept.ts";

const DAY_MS = 86_400_000;
const TODAY = Math.floor(NOON / DAY_MS);
/** More than two steps of a sweep drop. */
const MANY = 2300;

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

/** Usage of so many clients on a day. */
async function used(day: number, clients: number): Promise<void> {
  const rows = Array.from({ length: clients }, (_, n): UsageRecord => {
    return { clientId: 1_000_000 + n, day, operation: "pets.list", statusClass: 2, requests: 1 };
  });
  await store.beside.transact(async (writes) => writes.addUsage(rows));
}
const count = async (table: string) => Number(await store.beside.db.value(`select count(*) from ${table}`));
const times = (steps: readonly string[], operation: string) =>
  steps.filter((step) => step === operation).length;

test("old usage is dropped step by step, and none of the days that are kept", async () => {
  await used(TODAY - 31, MANY / 2);
  await used(TODAY - 40, MANY / 2);
  await used(TODAY - 30, 5);
  expect(times(await swept(store, { usageKeptDays: 40 }), "behind.forgetUsage")).toBe(1);
  expect(await count("usage")).toBe(MANY + 5);
  expect(times(await swept(store, { usageKeptDays: 30 }), "behind.forgetUsage")).toBe(3);
  expect(await count("usage")).toBe(5);
});

test("a sweep goes no further when the server stops, and the next one goes on", async () => {
  await used(TODAY - 31, MANY);
  let asked = 0;
  // Asked before each step: sessions, then usage.
  const stopped = await swept(store, { usageKeptDays: 30, isStopping: () => ++asked > 2 });
  expect(times(stopped, "behind.forgetUsage")).toBe(1);
  expect(await count("usage")).toBe(5 + MANY - 1000);
  await swept(store, { usageKeptDays: 30 });
  expect(await count("usage")).toBe(5);
});

test("sessions that are over are dropped step by step, and none that go on", async () => {
  const begun = (hash: string, keyId: number, endsAt: number) =>
    store.beside.transact(async (writes) => {
      await writes.addSession({ hash, keyId, endsAt }, 20, store.clock.now);
    });
  for (let n = 1; n <= 1100; n++) await begun(`over ${n}`, n, store.clock.now);
  await begun("going on", 1, store.clock.now + DAY_MS);
  expect(times(await swept(store), "behind.forget")).toBe(2);
  expect(await count("sessions")).toBe(1);
});

test("what cannot be dropped is told, and all else is dropped in the same sweep", async () => {
  await store.aPet();
  expect(await count("events")).toBeGreaterThan(0);
  store.clock.now += 91 * DAY_MS;
  const faults: unknown[] = [];
  await store.beside.db.exec("alter table usage rename to lost_usage");
  const steps = await swept(store, { onFault: (error) => faults.push(error) });
  await store.beside.db.exec("alter table lost_usage rename to usage");
  expect([faults.length, times(steps, "behind.forgetUsage")]).toEqual([1, 1]);
  expect([await count("events"), times(steps, "delivering.forget")]).toEqual([0, 1]);
});
