// Orders that wait for a connection to PostgreSQL share a transaction; nobody may notice but by the time that it takes.
import { afterAll, expect, setSystemTime, test } from "bun:test";
import { Conflict, Failure } from "../../src/core/failure.ts";
import { ANSWERS_KEPT_MS } from "../../src/core/perform.ts";
import type { Engine } from "../../src/store/engine.ts";
import { aCrowdedStore, became, keys, type Met, NOW, UNITS } from "./crowded.ts";

const crowded = await aCrowdedStore();
const { engine, clientId, door, beside, anEngine, aPet, ordering, order, stockOf, query, count } = crowded;
afterAll(crowded.close);

/** As an answer is kept. */
const kept = (body: unknown) => JSON.parse(JSON.stringify(body));

test("orders that wait share the next connection's transaction, and each is whole", async () => {
  const pets = [await aPet(), await aPet(), await aPet()];
  door.taken();
  const all = keys("shared", 31).map((key, n) => order(pets[n % 3] as number, key));
  expect(await Promise.all(all.map(became))).toEqual(all.map((_, n) => pets[n % 3]));
  // By itself each would take two.
  expect(door.taken()).toBeLessThan(8);
  for (const [n, petId] of pets.entries()) {
    expect(await beside.reads.pet(petId)).toMatchObject({ openOrders: n === 0 ? 11 : 10 });
    expect(await count(`orders where pet_id = ${petId}`)).toBe(n === 0 ? 11 : 10);
  }
  expect(await count("kept_answers where key like 'shared %'")).toBe(31);
  expect(await count(`movements where reason = 'ordered' and pet_id in (${pets})`)).toBe(31);
  for (const [n, each] of all.entries()) {
    const { body } = await each;
    expect((await beside.reads.keptAnswer(clientId, `shared ${n}`, 0))?.body).toBe(JSON.stringify(body));
    const { id } = body as { id: number };
    expect(await count(`events where type = 'order.placed' and subject = 'store/orders/${id}'`)).toBe(1);
  }
});

test("one that is refused is refused by itself, and those that it shared with are done", async () => {
  const [many, few, another] = [await aPet(), await aPet(2), await aPet(2)];
  door.taken();
  const asked = [
    order(many, "by itself"),
    order(another, "too many", 3),
    order(many, "beside 1"),
    order(999_999, "unknown"),
    order(few, "the last two", 2),
    order(few, "too late"),
    order(many, "beside 2"),
  ];
  expect(await Promise.all(asked.map(became))).toEqual([
    many,
    "insufficient_stock",
    many,
    "unknown_pet",
    few,
    "pet_not_available",
    many,
  ]);
  expect(door.taken()).toBeLessThan(10);
  expect([await stockOf(many), await stockOf(few), await stockOf(another)]).toEqual([UNITS - 3, 0, 2]);
  expect(await count("kept_answers where key in ('too many', 'unknown', 'too late')")).toBe(0);
});

test("a repetition among them is answered from what was kept, and undoes nobody's order", async () => {
  const petId = await aPet();
  const first = await order(petId, "done before");
  const asked = [order(petId, "a"), order(petId, "b"), order(petId, "done before"), order(petId, "c")];
  const [a, b, again, c] = await Promise.all(asked);
  expect([again?.isReplay, again?.tag, again?.body]).toEqual([true, first.tag, kept(first.body)]);
  expect([a, b, c].map((each) => each?.isReplay)).toEqual([undefined, undefined, undefined]);
  expect(await stockOf(petId)).toBe(UNITS - 4);
});

/** What became of an order that meets something on its way, between two that share with it. */
async function between(petId: number, key: string, when: keyof Met, meets: (run: number) => void) {
  let runs = 0;
  const command = ordering(petId, key);
  const meeting: Met = { [when]: () => meets(++runs) };
  const [, one, met, two] = await Promise.all([
    became(order(petId, `${key}, the connection`)),
    became(order(petId, `${key}, one`)),
    became(engine.perform({ ...command, input: { ...(command.input as object), ...meeting } })),
    became(order(petId, `${key}, two`)),
  ]);
  expect([one, two]).toEqual([petId, petId]);
  return { met, runs, sold: UNITS - ((await stockOf(petId)) as number) };
}

test("one that must be done anew is, by itself, and those that it shared with are done once", async () => {
  const petId = await aPet();
  const once = (run: number) => {
    if (run === 1) throw new Conflict();
  };
  expect(await between(petId, "anew", "before", once)).toEqual({ met: petId, runs: 2, sold: 4 });
});

test("a fault of ours fails the order that met it, and those that it shared with are done", async () => {
  const petId = await aPet();
  const fault = new Error("A fault of ours.");
  const fails = () => {
    throw fault;
  };
  expect(await between(petId, "fault", "before", fails)).toEqual({ met: fault, runs: 2, sold: 3 });
});

test("one that is refused after it changed something leaves nothing behind", async () => {
  const petId = await aPet();
  const refuses = () => {
    throw new Failure("unknown_pet", "Only after it was placed.");
  };
  expect(await between(petId, "half", "placed", refuses)).toEqual({
    met: "unknown_pet",
    runs: 2,
    sold: 3,
  });
  expect(await count(`orders where pet_id = ${petId}`)).toBe(3);
  expect(await count("kept_answers where key = 'half'")).toBe(0);
});

test("orders that share take their pets' rows in the order of ids, with a key or without, and those of one pet as they came", async () => {
  const pets = await Promise.all([aPet(), aPet(), aPet()]);
  const [low, middle, high] = pets.toSorted((a, b) => a - b) as [number, number, number];
  const asked = [
    order(high, "takes the connection"),
    engine.perform({ ...ordering(high, ""), idempotency: undefined }),
    order(middle, "a key of the middle one"),
    order(low, "z key that comes last"),
    order(low, "a key that comes first"),
    engine.perform({ ...ordering(low, ""), idempotency: undefined }),
  ];
  const done = (await Promise.all(asked)).map(({ body }) => (body as { id: number }).id);
  const [, ofHigh, ofMiddle, ...ofLow] = done as [number, number, number, ...number[]];
  const taken = [...ofLow, ofMiddle, ofHigh];
  expect(taken).toEqual(taken.toSorted((a, b) => a - b));
});

test("an answer that is too old to be given again is replaced, also among others", async () => {
  const petId = await aPet();
  await order(petId, "of yesterday");
  const later = NOW + ANSWERS_KEPT_MS + 1;
  const asked = ["x of today", "of yesterday", "y of today"].map((key) =>
    engine.perform({ ...ordering(petId, key), now: later }),
  );
  for (const each of await Promise.all(asked)) expect(each.isReplay).toBeUndefined();
  expect(await stockOf(petId)).toBe(UNITS - 4);
  expect((await order(petId, "of yesterday")).isReplay).toBe(true);
});

test("orders without a key share too", async () => {
  const petId = await aPet();
  door.taken();
  const asked = Array.from({ length: 12 }, () =>
    engine.perform({ ...ordering(petId, ""), idempotency: undefined }),
  );
  await Promise.all(asked);
  expect(door.taken()).toBeLessThan(8);
  expect(await stockOf(petId)).toBe(UNITS - 12);
});

test("how many wait is told, those that wait for another's connection too", async () => {
  const petId = await aPet();
  const asked = keys("counted", 40).map((key) => order(petId, key));
  await Promise.resolve();
  // One has the connection.
  expect(engine.figures()).toMatchObject({ waitingWrites: 39 });
  await Promise.all(asked);
  expect(engine.figures()).toMatchObject({ waitingWrites: 0 });
});

test("nobody joins those who have waited for half a second: they have less time than a newcomer", async () => {
  const petId = await aPet();
  const before = Date.now();
  door.hold();
  const first = order(petId, "keeps the connection");
  const together = [order(petId, "waits"), order(petId, "joins at once")];
  setSystemTime(before + 1000);
  const late = order(petId, "comes late");
  setSystemTime();
  door.release();
  await Promise.all([first, ...together, late]);
  const rows = await query(
    `select xmin::text as transaction from orders where pet_id = ${petId} order by id`,
  );
  const [alone, one, two, later] = rows.map(({ transaction }) => transaction);
  expect([one === two, new Set([alone, one, later]).size]).toEqual([true, 3]);
});

test("two with one key while all wait are one order, and have one answer", async () => {
  const [other, last] = [await aPet(), await aPet(1)];
  const asked = [
    order(other, "x"),
    order(last, "twice"),
    order(other, "y"),
    order(last, "twice"),
    order(last, "twice"),
  ];
  const [, one, , two, three] = await Promise.all(asked);
  expect([kept(two?.body), kept(three?.body)]).toEqual([kept(one?.body), kept(one?.body)]);
  expect([one, two, three].filter((each) => !each?.isReplay)).toHaveLength(1);
  expect([await stockOf(last), await stockOf(other)]).toEqual([0, UNITS - 2]);
});

test("two with one key that wait on two servers are one order", async () => {
  const [one, two] = [await aPet(), await aPet()];
  const other = anEngine();
  const pets = [one, two, one, two, one];
  const asked = (by: Engine) => [
    by.perform(ordering(one, crypto.randomUUID())),
    ...pets.map((petId, n) => by.perform(ordering(petId, `on two servers ${n}`))),
  ];
  const [here, there] = await Promise.all([Promise.all(asked(engine)), Promise.all(asked(other))]);
  await other.close();
  expect(here.slice(1).map(({ body }) => kept(body))).toEqual(there.slice(1).map(({ body }) => kept(body)));
  expect([await stockOf(one), await stockOf(two)]).toEqual([UNITS - 5, UNITS - 2]);
});
