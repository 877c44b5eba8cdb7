// What every engine owes the core about stock and its ledger; a part of the one suite.
import { expect, test } from "bun:test";
import type { OrderRecord, PetRecord } from "../../src/core/ports.ts";
import { isPossible, stockAfter } from "../../src/core/status.ts";
import { addPet, type Beginning, NOW, place } from "./opened.ts";

/** The cases about units, and who has them. */
export function stockCases(named: (name: string) => string, begun: () => Beginning): void {
  test(named("units are taken from an available pet that has them, and from no other"), async () => {
    const { store } = begun();
    const pet = await addPet(begun(), { quantity: 2 });
    expect(await place(begun(), pet.id, 3)).toBeNull();
    expect(await place(begun(), 999_999)).toBeNull();
    expect(await store.reads.pet(pet.id)).toEqual(pet);
    expect((await place(begun(), pet.id, 2))?.pet).toMatchObject({
      status: "pending",
      quantity: 0,
      openOrders: 1,
    });
    const held = await addPet(begun(), { status: "pending", quantity: 2 });
    expect(await place(begun(), held.id)).toBeNull();
    const sold = await addPet(begun(), { status: "sold", quantity: 0 });
    expect(await place(begun(), sold.id)).toBeNull();
    const counter = await addPet(begun());
    expect((await place(begun(), counter.id, 1, true))?.pet).toMatchObject({
      status: "sold",
      quantity: 0,
      openOrders: 0,
    });
  });

  test(named("the status that a move leaves is the core's own rule, over all states and moves"), async () => {
    const { store, categoryId } = begun();
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
      const { store } = begun();
      const pet = await addPet(begun(), { quantity: 5 });
      const { order } = (await place(begun(), pet.id, 2)) as { order: OrderRecord };
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
      const ledger = await store.reads.movements({ petId: pet.id, limit: 100 });
      expect(
        ledger.map(({ change, balance, reason, orderId }) => [change, balance, reason, orderId]),
      ).toEqual([
        [-9, 0, "removed", null],
        [4, 9, "restocked", null],
        [2, 5, "cancelled", order.id],
        [-2, 3, "ordered", order.id],
        [5, 5, "created", null],
      ]);
    },
  );
}

class Undone extends Error {
  override readonly message = "undone on purpose";
}
