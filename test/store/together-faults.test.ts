// What goes wrong while orders wait for a connection to PostgreSQL and share a transaction: none is lost, and none is done twice.
import { afterAll, expect, test } from "bun:test";
import type { Failure } from "../../src/core/failure.ts";
import { UNKNOWN_OUTCOME } from "../../src/store/trouble.ts";
import { aCrowdedStore, became, keys, NOW, UNITS } from "./crowded.ts";

const crowded = await aCrowdedStore();
const { door, beside, anEngine, aPet, ordering, order, stockOf, query, count } = crowded;
afterAll(crowded.close);

/** Somebody who has a pet's row, and changes nothing in the end. */
async function holding(petId: number): Promise<{ release(): Promise<void> }> {
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = beside.transact(async (store) => {
    await store.moveStock({ petId, units: -1, openOrders: 1, reason: "ordered", orderId: 1 }, NOW);
    taken.resolve();
    await released.promise;
    throw new Error("It was only held.");
  });
  await taken.promise;
  return {
    async release() {
      released.resolve();
      await done.catch(() => {});
    },
  };
}

/** An order by itself, which waits for a pet's row for as long as any may. */
async function waitingAlone(petId: number) {
  let isOver = false;
  const other = anEngine();
  const over = other.perform(ordering(petId, "alone")).finally(() => {
    isOver = true;
    return other.close();
  });
  const waiting = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await count(waiting)) === 0) await Bun.sleep(1);
  return { over, isOver: () => isOver };
}

test("a row that somebody holds keeps only those waiting who want it, and the others for less than it", async () => {
  const [free, held] = [await aPet(), await aPet()];
  const wide = anEngine(5);
  const ask = (petId: number, key: string) => wide.perform(ordering(petId, key));
  await Promise.all(keys("opens connections", 5).map((key) => ask(free, key)));
  const holder = await holding(held);
  const since = await waitingAlone(held);
  const others = keys("free", 5).map((key) => ask(free, key));
  const waiting = ask(held, "held");
  await Promise.all([...others, ...keys("also free", 5).map((key) => ask(free, key))]);
  expect([since.isOver(), await stockOf(free)]).toEqual([false, UNITS - 15]);
  await holder.release();
  expect(await became(waiting)).toBe(held);
  await since.over;
  expect(await stockOf(held)).toBe(UNITS - 2);
  await wide.close();
});

test("if their connection ends before the commit, each is done once all the same", async () => {
  const petId = await aPet();
  door.cutAfter("cut off 3");
  const all = keys("cut off", 8).map((key) => order(petId, key));
  expect(await Promise.all(all.map(became))).toEqual(all.map(() => petId));
  expect(await stockOf(petId)).toBe(UNITS - 8);
});

test("if the answer to their commit is lost, all are told so, and each can ask again what became of it", async () => {
  const petId = await aPet();
  const [first, ...others] = keys("in doubt", 6).map((key) => order(petId, key));
  await first;
  door.cutAfter("commit\0");
  const told = await Promise.all(others.map((each) => each.catch((error: Failure) => error.message)));
  expect(told).toEqual(others.map(() => UNKNOWN_OUTCOME));
  for (const key of keys("in doubt", 6)) expect((await order(petId, key)).isReplay).toBe(true);
  expect(await stockOf(petId)).toBe(UNITS - 6);
});

test("more than ten thousand do not wait: the next is refused at once, and nothing of it is done", async () => {
  const petId = await aPet(1_000_000);
  const first = order(petId, "before all");
  const many = keys("many", 10_400).map((key) => became(order(petId, key)));
  expect(await Promise.race(many)).toBe("overloaded");
  await first;
  const outcomes = await Promise.all(many);
  // In one question, because a commit that was given up may still be done.
  const [found] = await query(
    `select array(select key from kept_answers where key like 'many %') as keys,
      (select count(*)::int from orders where pet_id = ${petId}) as orders,
      (select quantity::int from pets where id = ${petId}) as stock`,
  );
  const isDone = new Set(found?.keys as string[]);
  for (const [n, each] of outcomes.entries())
    if (each !== "unavailable") expect(isDone.has(`many ${n}`)).toBe(each === petId);
  expect(isDone.size).toBeGreaterThan(0);
  expect(found).toMatchObject({ orders: 1 + isDone.size, stock: 1_000_000 - 1 - isDone.size });
});

// The last one: connections that were open before are never answered again.
test("if the server falls silent, those that wait together are refused in their time, and nothing of them is done", async () => {
  const petId = await aPet();
  const silent = anEngine();
  await silent.perform(ordering(petId, "opens its connection"));
  door.mute();
  const all = keys("to a silent server", 6).map((key) => became(silent.perform(ordering(petId, key))));
  expect(new Set(await Promise.all(all))).toEqual(new Set(["unavailable"]));
  door.open();
  expect(await stockOf(petId)).toBe(UNITS - 1);
  expect(await count("kept_answers where key like 'to a silent server %'")).toBe(0);
  await silent.close();
});
