// What every engine owes the core: the same cases for each of them, none left out.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Unavailable } from "../../src/core/failure.ts";
import type { OrderRecord, PetRecord, Reads } from "../../src/core/ports.ts";
import type { Stock } from "../../src/core/status.ts";
import { accessCases } from "./access-conformance.ts";
import { banCases } from "./ban-conformance.ts";
import { eventCases } from "./event-conformance.ts";
import { listCases } from "./list-conformance.ts";
import {
  addCategory,
  addClient,
  addPet,
  type Beginning,
  DAY_MS,
  draft,
  NOW,
  type OpenedStore,
  place,
  placeOrder,
} from "./opened.ts";
import { sessionCases } from "./session-conformance.ts";
import { stockCases } from "./stock-conformance.ts";
import { tallyCases } from "./tally-conformance.ts";
import { anyOrders, anyPets, pages } from "./walked.ts";
import { webhookCases } from "./webhook-conformance.ts";

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

  const begun = (): Beginning => ({ store, categoryId, clientId });

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

  test(named("a store has keys from its first one on, though that is revoked"), async () => {
    const fresh = await open();
    const { id } = await fresh.transact((s) => addClient(s));
    expect(await fresh.reads.hasKeys()).toBe(false);
    await fresh.transact(async (s) => {
      expect(await s.hasKeys()).toBe(false);
      const key = { clientId: id, role: "admin", name: null, hash: "first", lastFour: "abcd" } as const;
      await s.revokeKey((await s.addKey({ ...key, expiresAt: null }, NOW)).id, NOW);
      expect(await s.hasKeys()).toBe(true);
    });
    expect(await fresh.reads.hasKeys()).toBe(true);
    await fresh.close();
  });

  test(named("ids go upward and are never used again"), async () => {
    const first = await addPet(begun());
    await store.transact(async (s) => expect(await s.removePet(first, NOW)).not.toBeNull());
    expect((await addPet(begun())).id).toBeGreaterThan(first.id);
    const order = await store.transact((s) => draft(s, clientId));
    await store.transact(async (s) => expect(await s.removeOrder(order)).not.toBeNull());
    expect((await store.transact((s) => draft(s, clientId))).id).toBeGreaterThan(order.id);
  });

  test(named("an id past 2^53 names nothing, not its rounded neighbour"), async () => {
    for (const id of [9007199254740993n, 9223372036854775807n]) {
      expect(await store.reads.pet(id)).toBeNull();
      expect(await store.reads.order(id)).toBeNull();
      expect(await store.reads.category(id)).toBeNull();
      expect(await store.reads.movements({ petId: id, limit: 5 })).toEqual([]);
      expect(await store.reads.pets({ ...anyPets, ids: [id] })).toEqual([]);
      expect(await store.reads.orders({ ...anyOrders, petId: id })).toEqual([]);
    }
  });

  test(named("a pet of a category that does not exist is not added"), async () => {
    const pet = { name: "Rex", status: "available", quantity: 1, openOrders: 0 } as const;
    expect(await store.transact(async (s) => s.addPet({ ...pet, categoryId: 999_999 }, NOW))).toBeNull();
  });

  test(named("a change of a record that is not as it was read changes nothing"), async () => {
    const pet = await addPet(begun(), { quantity: 5 });
    const change = { name: "Max", categoryId, stock: pet, reason: "restocked" } as const;
    const after = (await store.transact(async (s) => s.changePet(pet, change, NOW))) as PetRecord;
    expect(after).toMatchObject({ name: "Max", version: pet.version + 1, stockVersion: pet.stockVersion });
    expect(await store.transact(async (s) => s.changePet(pet, { ...change, name: "Lost" }, NOW))).toBeNull();
    expect(await store.transact(async (s) => s.removePet(pet, NOW))).toBeNull();
    expect(await store.reads.pet(pet.id)).toEqual(after);

    const { order } = (await place(begun(), pet.id)) as { order: OrderRecord };
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
    await place(begun(), pet.id);
    const ordered = (await store.reads.pet(pet.id)) as PetRecord;
    expect(await store.transact(async (s) => s.removePet(ordered, NOW))).toBeNull();
    expect(await store.reads.pet(pet.id)).toEqual(ordered);
  });

  stockCases(named, begun);
  listCases(named, begun);

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
  banCases(named, () => store);
  tallyCases(named, () => store);
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
        const refused = await addPet(begun(), stock).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(Error);
        expect(refused).not.toBeInstanceOf(Unavailable);
      }
    },
  );

  test(named("after all of this the doctor finds nothing"), async () => {
    expect(await store.findings()).toEqual([]);
  });
}

async function everything(reads: Reads): Promise<unknown> {
  const listed = await pages((after) => reads.pets({ ...anyPets, after }), "id");
  const pets = [];
  const ledgers = [];
  for (const { id } of listed) {
    pets.push(await reads.pet(id));
    ledgers.push(await reads.movements({ petId: id, limit: 1000 }));
  }
  return { pets, ledgers, orders: await pages((after) => reads.orders({ ...anyOrders, after }), "id") };
}
