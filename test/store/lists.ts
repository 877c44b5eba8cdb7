// Every list that the API can ask the store for, by filter and order: what the plans of both engines are held against.
import type { CategoryQuery, EventQuery, OrderQuery, PetQuery } from "../../src/core/ports.ts";

const directions = [false, true];
export const anId = { key: 5, id: 5 };

export function petLists(categoryId = 3): PetQuery[] {
  const lists: PetQuery[] = [];
  for (const descending of directions)
    for (const statuses of [
      undefined,
      ["available"],
      ["available", "sold"],
      ["available", "pending", "sold"],
    ] as const)
      for (const category of [undefined, categoryId])
        for (const ids of [undefined, [1, 2, 3]])
          for (const isNext of [false, true]) {
            const all = { descending, statuses, categoryId: category, ids, limit: 21 };
            const byName = {
              ...all,
              sort: "name",
              after: isNext ? { key: "rex", id: 5 } : undefined,
            } as const;
            const byNumber = { ...all, after: isNext ? anId : undefined };
            lists.push({ ...byNumber, sort: "id" });
            lists.push(byName, { ...byName, namePrefix: "re" });
            if (!ids && category === undefined && !descending)
              lists.push({ ...byNumber, sort: "quantity", maxQuantity: 3 });
          }
  return lists;
}

export function categoryLists(): CategoryQuery[] {
  return directions.flatMap((isNext): CategoryQuery[] => {
    const common = { descending: false, limit: 21 };
    const after = isNext ? { key: "do", id: 5 } : undefined;
    return [
      { ...common, sort: "id", after: isNext ? anId : undefined },
      { ...common, sort: "name", namePrefix: "do", after },
    ];
  });
}

export function orderLists(): OrderQuery[] {
  const lists: OrderQuery[] = [];
  for (const descending of directions)
    for (const clientId of [undefined, 1])
      for (const petId of [undefined, 2])
        for (const complete of [undefined, true, false])
          for (const isNext of [false, true]) {
            const after = isNext ? anId : undefined;
            const byId: OrderQuery = { sort: "id", descending, clientId, petId, complete, limit: 21, after };
            lists.push(byId);
            for (const shipped of [
              { shippedFrom: 1 },
              { shippedBefore: 9 },
              { shippedFrom: 1, shippedBefore: 9 },
            ])
              lists.push({ ...byId, ...shipped, sort: "shipDate" });
          }
  return lists;
}

export function eventLists(): EventQuery[] {
  const lists: EventQuery[] = [];
  for (const after of [0, 5])
    for (const clientId of [undefined, null, 7])
      for (const types of [
        undefined,
        ["pet.created"],
        ["order.placed"],
        ["pet.created", "order.placed", "key.banned"],
      ] as const)
        if (clientId !== null || types?.[0] !== "order.placed")
          lists.push({ after, upTo: 1_000_000, types, clientId, limit: 21 });
  return lists;
}
