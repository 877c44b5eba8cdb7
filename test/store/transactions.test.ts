// What PostgreSQL's transactions do when others, or the network, come between.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { Conflict, Failure, Unavailable } from "../../src/core/failure.ts";
import { type Command, type Performed, perform } from "../../src/core/perform.ts";
import type { Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { UNKNOWN_OUTCOME } from "../../src/store/trouble.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";
import { aDoor, type Door } from "../servers/proxy.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const rules = rulesOf(readConfig({}));
const command: Command = {
  operation: "orders.place",
  caller: { clientId: 1, keyId: 1, role: "customer" },
  input: {},
  now: NOW,
};

let server: ReachedPostgres;
let url: string;
let database: string;
let door: Door;
let engine: Engine;
type Work = (store: Writes) => Promise<unknown>;
let clientId: number;
let categoryId: number;

beforeAll(async () => {
  server = await sharedPostgres();
  url = await server.newStore();
  database = new URL(url).pathname.slice(1);
  door = await aDoor(Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(door.port);
  // What a command does is its own input.
  const does = async (store: Writes, { input }: Command): Promise<Performed> => ({
    body: await (input as Work)(store),
  });
  engine = openPostgresEngine({ url: through.href, rules, connections: 4, perform: does, onFault: () => {} });
  const store = await openPostgresStore(url, NOW);
  await store.transact(async (s) => {
    clientId = (await s.addClient({ name: "Shop", plan: "pro", perMinute: 1, perDay: 1 }, NOW)).id;
    categoryId = (await s.addCategory({ name: "Dogs", description: null }, NOW)).id;
  });
  await store.close();
});
afterAll(async () => {
  await engine.close();
  await door[Symbol.asyncDispose]();
});

const doing = (work: Work, as: Partial<Command> = {}) => engine.perform({ ...command, ...as, input: work });
const failing = (work: Work) =>
  doing(work).then(
    () => {
      throw new Error("It was done.");
    },
    (error: unknown) => error,
  );
const named = async (name: string) =>
  Number(
    (await server.query(`select count(*)::int as n from categories where name = '${name}'`, database))[0]?.n,
  );
const add = (store: Writes, name: string) => store.addCategory({ name, description: null }, NOW);
const aPet = () =>
  doing((store) =>
    Promise.resolve(
      store.addPet({ name: "Rex", categoryId, status: "available", quantity: 100, openOrders: 0 }, NOW),
    ),
  ).then(({ body }) => (body as { id: number }).id);

test("a change that fails in the flight of the commit undoes everything, and comes out", async () => {
  const error = await failing(async (store) => {
    await add(store, "never committed");
    const client = { id: clientId, name: "x", plan: "pro", createdAt: NOW, suspendedAt: null } as const;
    await store.changeClient({ ...client, perMinute: 0, perDay: 0 });
    await store.emit([{ type: "pet.created", subject: "x", clientId: null, data: {} }], NOW);
  });
  expect(String(error)).toMatch(/check constraint/);
  expect(error).not.toBeInstanceOf(Failure);
  expect(await named("never committed")).toBe(0);
  await doing((store) => Promise.resolve(add(store, "committed")));
  expect(await named("committed")).toBe(1);
});

test("a change that failed without being waited for is told by the next question", async () => {
  const error = await failing(async (store) => {
    await store.keepAnswer(clientId, "k", { fingerprint: "f", body: null, tag: null }, null as never, 0);
    await store.pet(1);
  });
  expect(String(error)).toMatch(/null value in column "kept_at"/);
});

test("a write whose commit was sent and never answered has an unknown outcome, and is not done twice", async () => {
  door.cutAfter("commit\0");
  const error = await failing((store) => Promise.resolve(add(store, "in doubt")));
  expect(error).toBeInstanceOf(Unavailable);
  expect((error as Unavailable).message).toBe(UNKNOWN_OUTCOME);
  expect(await named("in doubt")).toBe(1);
});

test("a write whose connection ended before its commit is done anew, once", async () => {
  door.cutAfter("in one piece");
  let runs = 0;
  await doing(async (store) => {
    runs += 1;
    return add(store, "in one piece");
  });
  expect(runs).toBe(2);
  expect(await named("in one piece")).toBe(1);
});

test("connections that the server ended are noticed: reads and writes go on", async () => {
  for (let round = 0; round < 5; round++) {
    await Promise.all([1, 2, 3, 4].map(() => engine.reads.category(categoryId)));
    await server.terminateBackends(database);
    expect(await engine.reads.category(categoryId)).toMatchObject({ name: "Dogs" });
    await doing((store) => Promise.resolve(add(store, `after end ${round}`)));
    expect(await named(`after end ${round}`)).toBe(1);
  }
});

test("work is done anew when the core finds that another change came between, and not for ever", async () => {
  let runs = 0;
  await doing(async (store) => {
    await add(store, "third time");
    runs += 1;
    if (runs < 3) throw new Conflict();
  });
  expect([runs, await named("third time")]).toEqual([3, 1]);
  const error = await failing(async (store) => {
    await add(store, "never");
    throw new Conflict();
  });
  expect(error).toBeInstanceOf(Unavailable);
  expect(await named("never")).toBe(0);
});

test("two writes that wait for each other in a circle are both done", async () => {
  const pets = [await aPet(), await aPet()] as [number, number];
  let met = 0;
  const both = Promise.withResolvers<void>();
  const take = (order: readonly number[]) => async (store: Writes) => {
    for (const [place, petId] of order.entries()) {
      await store.moveStock({ petId, units: -1, openOrders: 1, reason: "ordered", orderId: 1 }, NOW);
      if (place === 0 && ++met === 2) both.resolve();
      if (place === 0) await both.promise;
    }
  };
  await Promise.all([doing(take(pets)), doing(take([pets[1], pets[0]]))]);
  for (const id of pets) expect(await engine.reads.pet(id)).toMatchObject({ quantity: 98, openOrders: 2 });
});

test("two requests with one idempotency key at once are one change, and the second is given the first one's answer", async () => {
  const idempotency = { key: "at once", fingerprint: "f" };
  const once = { ...command, operation: "categories.create", idempotency };
  const work: Work = (store) => perform(store, { ...once, input: { body: { name: "once" } } }, rules);
  // With the key and without it: where nothing makes them wait, the second to keep its answer begins anew.
  const asked = [once, { ...once, idempotency: undefined }].flatMap((each) => Array(4).fill(each));
  const all = await Promise.all(asked.map((each) => engine.perform({ ...each, input: work })));
  const answers = all.map(({ body: each }) => each as Performed);
  expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  expect(new Set(answers.map((each) => JSON.stringify(each.body))).size).toBe(1);
  expect(await named("once")).toBe(1);
});

test("requests with one key at once for the last unit are one order, and none of them is refused", async () => {
  const idempotency = { key: "the last one", fingerprint: "f" };
  const petId = await aPet();
  const body = { petId, quantity: 100 };
  const once = { ...command, caller: { ...command.caller, clientId }, idempotency, input: { body } };
  const work: Work = (store) => perform(store, once, rules);
  const answers = (await Promise.all(Array.from({ length: 8 }, () => doing(work)))).map(
    (each) => each.body as Performed,
  );
  const again = (await doing(work)).body as Performed;
  expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  expect(again.isReplay).toBe(true);
  expect(new Set([...answers, again].map((each) => JSON.stringify(each.body))).size).toBe(1);
  const count = async (rest: string) =>
    Number((await server.query(`select count(*)::int as n from ${rest}`, database))[0]?.n);
  expect(await count(`orders where pet_id = ${petId}`)).toBe(1);
  expect(await count(`movements where pet_id = ${petId} and reason = 'ordered'`)).toBe(1);
  expect(await count(`events where type = 'order.placed' and data like '%"petId":${petId},%'`)).toBe(1);
  expect(await engine.reads.pet(petId)).toMatchObject({ quantity: 0, openOrders: 1 });
});

test("a request whose own first run may have been done is not refused while that cannot be looked up", async () => {
  const petId = await aPet();
  const body = { petId, quantity: 100 };
  const idempotency = { key: "cut off", fingerprint: "f" };
  const once = { ...command, caller: { ...command.caller, clientId }, idempotency, input: { body } };
  const work: Work = (store) => perform(store, once, rules);
  const first = (await doing(work)).body as Performed;
  // It claims a key of its own, so that it hears of the answer only when it looks again, and meets an end there.
  let runs = 0;
  const refused: Work = async (store) => {
    runs += 1;
    if (runs > 1) return perform(store, once, rules);
    await store.claimKey(clientId, "another", 0);
    await store.pet(petId);
    await server.terminateBackends(database);
    throw new Failure("insufficient_stock", "No more.");
  };
  const second = (await doing(refused)).body as Performed;
  expect([runs, second.isReplay, second.body]).toEqual([3, true, first.body]);
});

test("who waits too long for the lock of all changes of access is not told that its key is in use", async () => {
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const holder = doing(
    async (store) => {
      await store.pet(1);
      started.resolve();
      await release.promise;
    },
    { changesAccess: true },
  );
  await started.promise;
  const claim: Work = async (store) => {
    await store.claimKey(clientId, "unused", 0);
    return store.pet(1);
  };
  const refused = await doing(claim, { changesAccess: true }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Unavailable);
  release.resolve();
  await holder;
});

test("a refusal is no answer: with the same key it is asked for anew", async () => {
  const petId = await aPet();
  const of = (quantity: number) => {
    const idempotency = { key: "refused first", fingerprint: "f" };
    const input = { body: { petId, quantity } };
    return { ...command, caller: { ...command.caller, clientId }, idempotency, input };
  };
  const refused = await failing((store) => perform(store, of(101), rules));
  expect((refused as Failure).code).toBe("insufficient_stock");
  const placed = (await doing((store) => perform(store, of(1), rules))).body as Performed;
  expect(placed.body).toMatchObject({ petId, quantity: 1 });
});

test("a repetition of a write that is still running is told so, and the write is done once", async () => {
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const work: Work = async (store) => {
    await store.claimKey(clientId, "slow", 0);
    const added = await add(store, "slow");
    started.resolve();
    await release.promise;
    return added;
  };
  const first = doing(work);
  await started.promise;
  const second = await failing(work);
  expect(second).toBeInstanceOf(Failure);
  const { code, retryAfterSeconds } = second as Failure;
  expect([code, retryAfterSeconds]).toEqual(["idempotency_in_progress", 1]);
  release.resolve();
  await first;
  expect(await named("slow")).toBe(1);
});

test("a write that waits for a row that another holds is refused in time, and nothing of it is kept", async () => {
  const petId = await aPet();
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holder = openPostgresStore(url, NOW).then(async (store) => {
    await store.transact(async (s) => {
      await s.moveStock({ petId, units: -1, openOrders: 1, reason: "ordered", orderId: 1 }, NOW);
      held.resolve();
      await release.promise;
    });
    await store.close();
  });
  await held.promise;
  const since = performance.now();
  const error = await failing(async (store) => {
    await add(store, "behind a lock");
    await store.moveStock({ petId, units: -1, openOrders: 1, reason: "ordered", orderId: 2 }, NOW);
  });
  expect(error).toBeInstanceOf(Unavailable);
  expect((error as Unavailable).message).not.toBe(UNKNOWN_OUTCOME);
  expect(performance.now() - since).toBeLessThan(4000);
  release.resolve();
  await holder;
  expect(await named("behind a lock")).toBe(0);
  expect(await engine.reads.pet(petId)).toMatchObject({ quantity: 99 });
});

test("a client's last free place for a key is given once, however many ask at once", async () => {
  const rule = async (store: Writes) => {
    const keys = await store.keys(clientId);
    if (keys.length >= 3) throw new Failure("too_many_keys", "No more.");
    const hash = crypto.randomUUID();
    await store.addKey({ clientId, role: "staff", name: null, hash, lastFour: "abcd", expiresAt: null }, NOW);
  };
  const asked = Array.from({ length: 10 }, () => doing(rule, { changesAccess: true }));
  const made = (await Promise.allSettled(asked)).filter(({ status }) => status === "fulfilled");
  expect(made).toHaveLength(3);
});
