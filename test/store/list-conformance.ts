// What every engine owes the core about lists; a part of the one suite.
import { expect, test } from "bun:test";
import { LOW_STOCK } from "../../src/contract/bounds.ts";
import type { ListedPet, ListedStock, OrderQuery, PetQuery, PetRecord } from "../../src/core/ports.ts";
import type { Stock } from "../../src/core/status.ts";
import { addCategory, addClient, addPet, type Beginning, DAY_MS, NOW, placeOrder } from "./opened.ts";
import { anyOrders, anyPets, compare, fold, keyOf, pages } from "./walked.ts";

/** The cases about which records a list has, and in which order. */
export function listCases(named: (name: string) => string, begun: () => Beginning): void {
  test(
    named("every list of pets is the right part of all pets in the right order, page by page"),
    async () => {
      const { store, categoryId } = begun();
      const other = await store.transact((s) => addCategory(s, "Fish"));
      const quantities = [1, 2, 0, 4, LOW_STOCK, 0, LOW_STOCK + 1, 8, 0];
      for (const [index, name] of ["rex", "Rex", "REXY", "Ärger", "zoë", "Zoe", "a", "A", "ab"].entries()) {
        const status = (["available", "pending", "sold"] as const)[index % 3] as Stock["status"];
        await store.transact(async (s) =>
          s.addPet(
            {
              name,
              categoryId: index % 2 === 0 ? other.id : categoryId,
              status,
              quantity: status === "sold" ? 0 : (quantities[index] as number),
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
                  for (const maxQuantity of sort === "quantity" ? [0, 3, LOW_STOCK] : [undefined]) {
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
      const { store, clientId } = begun();
      const otherClient = await store.transact((s) => addClient(s));
      const pets = [
        await addPet(begun(), { quantity: 100 }),
        await addPet(begun(), { quantity: 100 }),
      ] as const;
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
}
