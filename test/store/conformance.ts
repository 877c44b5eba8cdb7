// What every engine owes the core: the same cases for each of them, none left out.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Unavailable } from "../../src/core/failure.ts";
import type {
  ListedPet,
  ListedStock,
  OrderQuery,
  OrderRecord,
  PetQuery,
  PetRecord,
  Reads,
  Writes,
} from "../../src/core/ports.ts";
import { isPossible, type Stock, stockAfter } from "../../src/core/status.ts";
import { accessCases } from "./access-conformance.ts";
import { eventCases } from "./event-conformance.ts";
import { sessionCases } from "./session-conformance.ts";
import { webhookCases } from "./webhook-conformance.ts";

/** An engine with an empty, migrated store of its own. */
export interface OpenedStore {
  readonly reads: Reads;
  /** Another connection's view, for what is committed and what is not. */
  readonly otherReads: Reads;
  /** Runs work in a transaction; what it throws undoes it. */
  transact<T>(work: (store: Writes) => Promise<T>): Promise<T>;
  findings(): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

const NOW = Date.parse("2026-11-15T12:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;

/** The cases that define the store's port. */
export function aStoreSuite(engine: string, open: () => Promise<OpenedStore>): void {
  const named = (name: string) => `${engine}: ${name}`;
  let store: OpenedStore;
  let categoryId: number;
  let clientId: number;
  beforeAll(async () => {
    store = await open();
    categoryId = (await store.transact((s) => addCategory(s, "Dogs"))).id;
    clientId = (await store.transact((s) => addClient(s))).id;
  });
  afterAll(() => store.close());

  const addPet = (stock: Partial<Stock> = {}, name = "Rex") =>
    store.transact(
      async (s) =>
        (await s.addPet(
          { name, categoryId, status: "available", quantity: 1, openOrders: 0, ...stock },
          NOW,
        )) as PetRecord,
    );
  const place = (petId: number, quantity = 1, complete = false) =>
    store.transact((s) =>
      placeOrder(s, { clientId, petId, quantity, complete, shipDate: complete ? NOW : null }),
    );

  test(named("a reader never sees what is not committed, and sees it right after the commit"), async () => {
    let id = 0;
    await store.transact(async (s) => {
      id = (await addCategory(s, "Ghosts")).id;
      expect(await s.category(id)).not.toBeNull();
      expect(await store.otherReads.category(id)).toBeNull();
    });
    expect(await store.otherReads.category(id)).toMatchObject({ id, name: "Ghosts" });
  });

  test(named("a transaction that throws leaves nothing, and what it threw comes out"), async () => {
    const before = await everything(store.reads);
    const thrown = new RangeError("no such luck");
    const doomed = store.transact(async (s) => {
      const pet = await s.addPet(
        { name: "Gone", categoryId, status: "available", quantity: 3, openOrders: 0 },
        NOW,
      );
      await placeOrder(s, {
        clientId,
        petId: (pet as PetRecord).id,
        quantity: 2,
        complete: false,
        shipDate: null,
      });
      await s.keepAnswer(clientId, "doomed", { fingerprint: "f", body: null, tag: null }, NOW, 0);
      throw thrown;
    });
    expect(await doomed.catch((error: unknown) => error)).toBe(thrown);
    expect(await everything(store.reads)).toEqual(before);
    expect(await store.reads.keptAnswer(clientId, "doomed", 0)).toBeNull();
  });

  test(named("ids go upward and are never used again"), async () => {
    const first = await addPet();
    await store.transact(async (s) => expect(await s.removePet(first, NOW)).not.toBeNull());
    expect((await addPet()).id).toBeGreaterThan(first.id);
    const order = await store.transact((s) => draft(s, clientId));
    await store.transact(async (s) => expect(await s.removeOrder(order)).not.toBeNull());
    expect((await store.transact((s) => draft(s, clientId))).id).toBeGreaterThan(order.id);
  });

  test(named("an id past 2^53 names nothing, not its rounded neighbour"), async () => {
    for (const id of [9007199254740993n, 9223372036854775807n]) {
      expect(await store.reads.pet(id)).toBeNull();
      expect(await store.reads.order(id)).toBeNull();
      expect(await store.reads.category(id)).toBeNull();
      expect(await store.reads.movements({ petId: id, descending: true, limit: 5 })).toEqual([]);
      expect(await store.reads.pets({ ...anyPets, ids: [id] })).toEqual([]);
      expect(await store.reads.orders({ ...anyOrders, petId: id })).toEqual([]);
    }
  });

  test(named("a pet of a category that does not exist is not added"), async () => {
    const pet = { name: "Rex", status: "available", quantity: 1, openOrders: 0 } as const;
    expect(await store.transact(async (s) => s.addPet({ ...pet, categoryId: 999_999 }, NOW))).toBeNull();
  });

  test(named("a change of a record that is not as it was read changes nothing"), async () => {
    const pet = await addPet({ quantity: 5 });
    const change = { name: "Max", categoryId, stock: pet, reason: "restocked" } as const;
    const after = (await store.transact(async (s) => s.changePet(pet, change, NOW))) as PetRecord;
    expect(after).toMatchObject({ name: "Max", version: pet.version + 1, stockVersion: pet.stockVersion });
    expect(await store.transact(async (s) => s.changePet(pet, { ...change, name: "Lost" }, NOW))).toBeNull();
    expect(await store.transact(async (s) => s.removePet(pet, NOW))).toBeNull();
    expect(await store.reads.pet(pet.id)).toEqual(after);

    const { order } = (await place(pet.id)) as { order: OrderRecord };
    const shipped = { ...order, shipDate: NOW };
    expect(await store.transact(async (s) => s.changeOrder(order, shipped))).toMatchObject({ shipDate: NOW });
    expect(await store.transact(async (s) => s.changeOrder(order, { ...shipped, quantity: 2 }))).toBeNull();
    expect(await store.transact(async (s) => s.removeOrder(order))).toBeNull();

    const category = await store.transact((s) => addCategory(s, "Cats"));
    const renamed = { name: "Big cats", description: null };
    expect(await store.transact(async (s) => s.changeCategory(category, renamed))).toMatchObject(renamed);
    expect(
      await store.transact(async (s) => s.changeCategory(category, { ...renamed, name: "?" })),
    ).toBeNull();
    expect(await store.transact(async (s) => s.removeCategory(category))).toBeNull();
  });

  test(named("a category with pets and a pet with open orders stay"), async () => {
    const category = await store.transact((s) => addCategory(s, "Birds"));
    const pet = (await store.transact(async (s) =>
      s.addPet(
        { name: "Kiwi", categoryId: category.id, status: "available", quantity: 2, openOrders: 0 },
        NOW,
      ),
    )) as PetRecord;
    expect(await store.transact(async (s) => s.removeCategory(category))).toBeNull();
    await place(pet.id);
    const ordered = (await store.reads.pet(pet.id)) as PetRecord;
    expect(await store.transact(async (s) => s.removePet(ordered, NOW))).toBeNull();
    expect(await store.reads.pet(pet.id)).toEqual(ordered);
  });

  test(named("units are taken from an available pet that has them, and from no other"), async () => {
    const pet = await addPet({ quantity: 2 });
    expect(await place(pet.id, 3)).toBeNull();
    expect(await place(999_999)).toBeNull();
    expect(await store.reads.pet(pet.id)).toEqual(pet);
    expect((await place(pet.id, 2))?.pet).toMatchObject({ status: "pending", quantity: 0, openOrders: 1 });
    const held = await addPet({ status: "pending", quantity: 2 });
    expect(await place(held.id)).toBeNull();
    const sold = await addPet({ status: "sold", quantity: 0 });
    expect(await place(sold.id)).toBeNull();
    const counter = await addPet();
    expect((await place(counter.id, 1, true))?.pet).toMatchObject({
      status: "sold",
      quantity: 0,
      openOrders: 0,
    });
  });

  test(named("the status that a move leaves is the core's own rule, over all states and moves"), async () => {
    const counts = [0, 1, 2, 3];
    const steps = [-2, -1, 0, 1, 2];
    for (const status of ["available", "pending", "sold"] as const)
      for (const quantity of counts)
        for (const openOrders of counts) {
          const state = { status, quantity, openOrders };
          if (!isPossible(state)) continue;
          for (const units of steps)
            for (const opened of [-1, 0, 1]) {
              const rolledBack = store.transact(async (s) => {
                const pet = (await s.addPet({ name: "Rex", categoryId, ...state }, NOW)) as PetRecord;
                const move = {
                  petId: pet.id,
                  units,
                  openOrders: opened,
                  reason: "changed",
                  orderId: 1,
                } as const;
                const after = await s.moveStock(move, NOW);
                const can =
                  quantity + units >= 0 && openOrders + opened >= 0 && (units >= 0 || status === "available");
                const expected = can ? stockAfter(state, quantity + units, openOrders + opened) : null;
                if (expected === null) expect(after).toBeNull();
                else expect(after).toMatchObject(expected);
                throw new Undone();
              });
              expect(await rolledBack.catch((error: Error) => error.message)).toBe(new Undone().message);
            }
        }
  });

  test(
    named("every change of stock leaves a movement with its balance, and only a change does"),
    async () => {
      const pet = await addPet({ quantity: 5 });
      const { order } = (await place(pet.id, 2)) as { order: OrderRecord };
      await store.transact(async (s) => {
        const same = {
          petId: pet.id,
          units: 0,
          openOrders: 0,
          reason: "changed",
          orderId: order.id,
        } as const;
        await s.moveStock(same, NOW);
        await s.removeOrder(order);
        await s.moveStock({ ...same, units: 2, openOrders: -1, reason: "cancelled" }, NOW);
      });
      const before = (await store.reads.pet(pet.id)) as PetRecord;
      const restock = { ...before, stock: { ...before, quantity: 9 }, reason: "restocked" } as const;
      const restocked = (await store.transact(async (s) => s.changePet(before, restock, NOW))) as PetRecord;
      await store.transact(async (s) => s.removePet(restocked, NOW));
      const ledger = await store.reads.movements({ petId: pet.id, descending: false, limit: 100 });
      expect(
        ledger.map(({ change, balance, reason, orderId }) => [change, balance, reason, orderId]),
      ).toEqual([
        [5, 5, "created", null],
        [-2, 3, "ordered", order.id],
        [2, 5, "cancelled", order.id],
        [4, 9, "restocked", null],
        [-9, 0, "removed", null],
      ]);
    },
  );

  test(
    named("every list of pets is the right part of all pets in the right order, page by page"),
    async () => {
      const other = await store.transact((s) => addCategory(s, "Fish"));
      for (const [index, name] of ["rex", "Rex", "REXY", "Ärger", "zoë", "Zoe", "a", "A", "ab"].entries()) {
        const status = (["available", "pending", "sold"] as const)[index % 3] as Stock["status"];
        await store.transact(async (s) =>
          s.addPet(
            {
              name,
              categoryId: index % 2 === 0 ? other.id : categoryId,
              status,
              quantity: status === "sold" ? 0 : index + 1,
              openOrders: 0,
            },
            NOW,
          ),
        );
      }
      const listed = await pages((after) => store.reads.pets({ ...anyPets, after }), "id");
      const all = await Promise.all(listed.map(async ({ id }) => (await store.reads.pet(id)) as PetRecord));
      const some = all.filter((_, index) => index % 2 === 0).map(({ id }) => id);
      for (const sort of ["id", "name", "quantity"] as const)
        for (const descending of [false, true])
          for (const statuses of [undefined, ["sold"], ["pending", "available"], ["sold", "sold"]] as const)
            for (const category of [undefined, other.id, 999_999])
              for (const ids of [undefined, some])
                for (const prefix of sort === "name" ? [undefined, "re", "rex", "zo", "ä", "q"] : [undefined])
                  for (const maxQuantity of sort === "quantity" ? [0, 3, 100] : [undefined]) {
                    const query: PetQuery = {
                      sort,
                      descending,
                      statuses,
                      categoryId: category,
                      ids,
                      namePrefix: prefix,
                      maxQuantity,
                      limit: 3,
                    };
                    const list = sort === "quantity" ? store.reads.stock : store.reads.pets;
                    const found = await pages<ListedPet | ListedStock>(
                      (after) => list({ ...query, after }),
                      sort,
                    );
                    const expected = all
                      .filter(
                        (pet) =>
                          (!statuses || statuses.some((status) => status === pet.status)) &&
                          (category === undefined || pet.categoryId === category) &&
                          (!ids || ids.includes(pet.id)) &&
                          (prefix === undefined || fold(pet.name).startsWith(prefix)) &&
                          (maxQuantity === undefined || pet.quantity <= maxQuantity),
                      )
                      .sort((a, b) => compare(keyOf(a, sort), keyOf(b, sort)) || a.id - b.id);
                    if (descending) expected.reverse();
                    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
                  }
    },
  );

  test(
    named("every list of orders is the right part of all orders in the right order, page by page"),
    async () => {
      const otherClient = await store.transact((s) => addClient(s));
      const pets = [await addPet({ quantity: 100 }), await addPet({ quantity: 100 })] as const;
      for (let index = 0; index < 24; index++) {
        const client = index % 2 === 0 ? clientId : otherClient.id;
        const complete = index % 5 === 0;
        const shipDate = complete || index % 3 === 0 ? NOW + (index % 4) * DAY_MS : null;
        await store.transact(async (s) => {
          if (index % 7 === 1) await s.addDraft({ clientId: client, quantity: null, shipDate }, NOW);
          else {
            const petId = (pets[index % 2] as PetRecord).id;
            await placeOrder(s, { clientId: client, petId, quantity: 1, shipDate, complete });
          }
        });
      }
      const all = await pages((after) => store.reads.orders({ ...anyOrders, after }), "id");
      for (const sort of ["id", "shipDate"] as const)
        for (const descending of [false, true])
          for (const client of [undefined, otherClient.id])
            for (const petId of [undefined, pets[0].id])
              for (const complete of [undefined, true, false])
                for (const [shippedFrom, shippedBefore] of sort === "id"
                  ? [[]]
                  : [[NOW + DAY_MS], [undefined, NOW + 2 * DAY_MS], [NOW, NOW + DAY_MS]]) {
                  const query: OrderQuery = {
                    sort,
                    descending,
                    clientId: client,
                    petId,
                    complete,
                    shippedFrom,
                    shippedBefore,
                    limit: 3,
                  };
                  const found = await pages((after) => store.reads.orders({ ...query, after }), sort);
                  const expected = all
                    .filter(
                      (order) =>
                        (client === undefined || order.clientId === client) &&
                        (petId === undefined || order.petId === petId) &&
                        (complete === undefined || order.complete === complete) &&
                        (shippedFrom === undefined || (order.shipDate ?? -1) >= shippedFrom) &&
                        (shippedBefore === undefined ||
                          (order.shipDate ?? Number.POSITIVE_INFINITY) < shippedBefore),
                    )
                    .sort(
                      (a, b) =>
                        (sort === "id" ? 0 : (a.shipDate as number) - (b.shipDate as number)) || a.id - b.id,
                    );
                  if (descending) expected.reverse();
                  expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
                }
    },
  );

  test(named("a kept answer is given back for as long as it is asked for, then forgotten"), async () => {
    const answer = { fingerprint: "f", body: '{"id":1}', tag: "o1" };
    await store.transact(async (s) => s.keepAnswer(clientId, "k", answer, NOW, NOW - DAY_MS));
    expect(await store.reads.keptAnswer(clientId, "k", NOW - DAY_MS)).toEqual(answer);
    expect(await store.reads.keptAnswer(clientId + 1, "k", NOW - DAY_MS)).toBeNull();
    expect(await store.reads.keptAnswer(clientId, "K", NOW - DAY_MS)).toBeNull();
    expect(await store.reads.keptAnswer(clientId, "k", NOW)).toBeNull();
    const newer = { ...answer, fingerprint: "g" };
    const tooSoon = store.transact(async (s) => {
      await addCategory(s, "Ghosts of a second request");
      await s.keepAnswer(clientId, "k", newer, NOW + 1, NOW + 1 - DAY_MS);
    });
    expect(await tooSoon.catch((error: unknown) => error)).toBeInstanceOf(Error);
    expect(await store.reads.keptAnswer(clientId, "k", 0)).toEqual(answer);
    await store.transact(async (s) => s.keepAnswer(clientId, "k", newer, NOW + DAY_MS, NOW));
    await store.transact(async (s) => s.forgetAnswers(NOW));
    expect(await store.reads.keptAnswer(clientId, "k", 0)).toEqual(newer);
    await store.transact(async (s) => s.forgetAnswers(NOW + DAY_MS));
    expect(await store.reads.keptAnswer(clientId, "k", 0)).toBeNull();
  });

  accessCases(named, () => store);
  eventCases(named, () => store);
  webhookCases(named, () => store);
  sessionCases(named, () => store);

  test(
    named("what the rules do not allow is refused by the engine itself, and is no trouble of the engine's"),
    async () => {
      const impossible: Stock[] = [
        { status: "available", quantity: 0, openOrders: 0 },
        { status: "pending", quantity: 0, openOrders: 0 },
        { status: "sold", quantity: 1, openOrders: 0 },
        { status: "sold", quantity: 0, openOrders: 1 },
        { status: "available", quantity: -1, openOrders: 0 },
      ];
      for (const stock of impossible) {
        const refused = await addPet(stock).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(Error);
        expect(refused).not.toBeInstanceOf(Unavailable);
      }
    },
  );

  test(named("after all of this the doctor finds nothing"), async () => {
    expect(await store.findings()).toEqual([]);
  });
}

class Undone extends Error {
  override readonly message = "undone on purpose";
}

const anyPets: PetQuery = { sort: "id", descending: false, limit: 4 };
const anyOrders: OrderQuery = { sort: "id", descending: false, limit: 4 };

async function addCategory(store: Writes, name: string) {
  return store.addCategory({ name, description: null }, NOW);
}

async function addClient(store: Writes) {
  return store.addClient({ name: "Shop", plan: "pro", perMinute: 300, perDay: 10_000 }, NOW);
}

async function draft(store: Writes, clientId: number): Promise<OrderRecord> {
  return store.addDraft({ clientId, quantity: null, shipDate: null }, NOW);
}

async function placeOrder(store: Writes, order: Parameters<Writes["placeOrder"]>[0]) {
  return store.placeOrder(order, NOW);
}

/** Follows a list to its end. */
async function pages<R extends ListedPet | ListedStock | OrderRecord>(
  page: (after: PetQuery["after"]) => R[] | Promise<R[]>,
  sort: string,
): Promise<R[]> {
  const all: R[] = [];
  for (let after: PetQuery["after"]; all.length < 1000; ) {
    const records = await page(after);
    const last = records.at(-1);
    if (!last) return all;
    all.push(...records);
    after = { key: keyOf(last, sort), id: last.id };
  }
  throw new Error("a list does not end");
}

function keyOf(record: ListedPet | ListedStock | OrderRecord, sort: string): number | string {
  if (sort === "name" && "name" in record) return fold(record.name);
  return record[sort as "id"];
}

/** As code points compare, on every engine. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" || typeof b === "number") return Number(a) - Number(b);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

async function everything(reads: Reads): Promise<unknown> {
  const listed = await pages((after) => reads.pets({ ...anyPets, after }), "id");
  const pets = [];
  const ledgers = [];
  for (const { id } of listed) {
    pets.push(await reads.pet(id));
    ledgers.push(await reads.movements({ petId: id, descending: false, limit: 1000 }));
  }
  return { pets, ledgers, orders: await pages((after) => reads.orders({ ...anyOrders, after }), "id") };
}
