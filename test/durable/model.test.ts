import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { aStore, NOON, type Reply, type TestStore } from "../harness.ts";
import { seed } from "../seed.ts";
import {
  type Expected,
  Model,
  type ModelOrder,
  type OrderPatch,
  type PetPatch,
  type Status,
  shownItem,
  shownOrder,
  shownPet,
  statusOf,
} from "./model.ts";

const RUNS = 250;
const LONGEST = 30;
const NOW = new Date(NOON).toISOString();
const shape = { minLength: 5, maxLength: LONGEST, size: "max" } as const;

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

test("whatever is done in whatever order, the store does as its rules say", async () => {
  const seen = new Map<string, number>();
  const property = fc.asyncProperty(fc.array(step, shape), async (steps) => {
    const world = await aWorld();
    for (const each of steps) {
      const answered = await world.take(each);
      seen.set(`${each.does} ${answered}`, (seen.get(`${each.does} ${answered}`) ?? 0) + 1);
      await world.compare();
    }
    await world.compareLedgers();
  });
  await fc.assert(property, { seed, numRuns: RUNS, interruptAfterTimeLimit: 40_000 });
  expect(await store.findings()).toEqual([]);
  // The walk went through every refusal that the rules know, not only over the easy ground.
  for (const answer of everyAnswer) expect(seen.get(answer) ?? 0, answer).toBeGreaterThan(0);
}, 60_000);

const everyAnswer = [
  "createPet 201",
  "createPet unknown_category",
  "createMany 201",
  "createMany unknown_category",
  "changePet 200",
  "changePet pet_not_found",
  "changePet unknown_category",
  "changePet invalid_status_transition",
  "changePet pet_has_open_orders",
  "removePet 204",
  "removePet pet_not_found",
  "removePet pet_has_open_orders",
  "removeCategory 204",
  "removeCategory category_not_found",
  "removeCategory category_in_use",
  "setStock 200",
  "setStock pet_not_found",
  "place 201",
  "place unknown_pet",
  "place pet_not_available",
  "place insufficient_stock",
  "place order_is_draft",
  "changeOrder 200",
  "changeOrder order_not_found",
  "changeOrder order_complete",
  "changeOrder order_is_draft",
  "changeOrder unknown_pet",
  "changeOrder pet_not_available",
  "changeOrder insufficient_stock",
  "cancel 204",
  "cancel order_not_found",
  "cancel order_complete",
];

// Records are named by a number that is taken round the ones that the run has made, so that a shorter run still
// means something; the last number means one that is gone, or never was.
const GONE = 9;
const which = fc.nat({ max: GONE });
const units = fc.constantFrom(1, 1, 1, 2, 3, 5);
const status = fc.constantFrom<Status>("available", "pending", "sold");
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const clearable = <T>(value: fc.Arbitrary<T>) => fc.option(optional(value), { nil: null, freq: 8 });
const shipDate = fc.constantFrom("2026-12-01T08:00:00.000Z", "2027-01-01T00:00:00.000Z");
const name = fc.constantFrom("Rex", "Tom", "Mia");
const newPet = fc.record({ name, category: which, status: optional(status) });
const placing = {
  pet: fc.option(which, { nil: undefined, freq: 8 }),
  quantity: optional(units),
  shipDate: optional(shipDate),
  complete: optional(fc.constantFrom(false, false, true)),
};

const step = fc.oneof(
  { weight: 4, arbitrary: does("createPet", { pet: newPet }) },
  { weight: 1, arbitrary: does("createMany", { pets: fc.array(newPet, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 6,
    arbitrary: does("changePet", {
      pet: which,
      name: optional(name),
      category: fc.option(which, { nil: undefined, freq: 2 }),
      status: optional(status),
      isWhole: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: does("removePet", { pet: which }) },
  { weight: 1, arbitrary: does("removeCategory", { category: which }) },
  { weight: 5, arbitrary: does("setStock", { pet: which, quantity: fc.constantFrom(0, 0, 1, 2, 5, 9) }) },
  { weight: 10, arbitrary: does("place", placing) },
  {
    weight: 10,
    arbitrary: does("changeOrder", {
      order: which,
      pet: clearable(which),
      quantity: clearable(units),
      shipDate: clearable(shipDate),
      complete: optional(fc.constantFrom(true, true, false)),
    }),
  },
  { weight: 4, arbitrary: does("cancel", { order: which }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function does<const Name extends string, T>(word: Name, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record({ does: fc.constant(word), ...fields } as unknown as {
    [K in keyof ({ does: Name } & T)]: fc.Arbitrary<({ does: Name } & T)[K]>;
  });
}

/** A run's own corner of the store, with a customer of its own and the model beside it. */
async function aWorld() {
  const { staff } = store;
  const customer = await store.newPerson("customer");
  const model = new Model(NOW);
  const categoryIds: number[] = [];
  const petIds: number[] = [];
  const orderIds: number[] = [];
  const tags = new Map<string, { tag: string | null; text: string }>();
  for (const category of ["Dogs", "Cats"]) {
    const { body } = await staff.post("/categories", { name: category });
    categoryIds.push(body.id);
    model.categories.add(body.id);
  }

  const one = (
    all: readonly number[],
    known: ReadonlyMap<number, unknown> | ReadonlySet<number>,
    number: number,
  ) => {
    const ids = all.filter((id) => known.has(id) === (number !== GONE));
    return ids[number % ids.length] ?? 999_999_999;
  };
  const onePet = (number: number) => one(petIds, model.pets, number);
  const oneOrder = (number: number) => one(orderIds, model.orders, number);
  const oneCategory = (number: number) => one(categoryIds, model.categories, number);
  const petFields = (fields: {
    name?: string | undefined;
    category?: number | undefined;
    status?: Status | undefined;
  }): PetPatch => ({
    name: fields.name,
    categoryId: fields.category === undefined ? undefined : oneCategory(fields.category),
    status: fields.status,
  });
  const orderFields = ({
    pet,
    quantity,
    shipDate,
    complete,
  }: { pet?: number | null | undefined } & OrderPatch): OrderPatch => ({
    petId: typeof pet === "number" ? onePet(pet) : pet,
    quantity,
    shipDate,
    complete,
  });

  const create = async (path: string, pets: PetPatch[], body: unknown, success: number) => {
    const refusal = model.createPets(pets);
    const reply = await staff.post(path, body);
    if (refusal) {
      expect(`${reply.status} ${reply.body.code}`).toBe(refusal);
      return reply;
    }
    expect(reply.status).toBe(success);
    const created = [reply.body].flat();
    expect(created).toEqual(pets.map((pet, index) => shownPet(model.born(created[index].id, pet))));
    petIds.push(...created.map(({ id }) => id));
    return reply;
  };

  const steps: { [S in Step as S["does"]]: (step: S) => Promise<Reply> } = {
    createPet: ({ pet }) => create("/pets", [petFields(pet)], petFields(pet), 201),
    createMany: ({ pets }) => create("/pets/batch", pets.map(petFields), pets.map(petFields), 201),
    changePet: async ({ pet, isWhole, ...fields }) => {
      const id = onePet(pet);
      const patch = petFields(fields);
      if (!isWhole) return matching(model.changePet(id, patch), await staff.patch(`/pets/${id}`, patch));
      const whole = { categoryId: oneCategory(0), name: "Rex", ...defined(patch) };
      return matching(model.changePet(id, whole), await staff.put(`/pets/${id}`, whole));
    },
    removePet: async ({ pet }) => {
      const id = onePet(pet);
      return matching(model.removePet(id), await staff.delete(`/pets/${id}`));
    },
    removeCategory: async ({ category }) => {
      const id = oneCategory(category);
      return matching(model.removeCategory(id), await staff.delete(`/categories/${id}`));
    },
    setStock: async ({ pet, quantity }) => {
      const id = onePet(pet);
      return matching(model.setStock(id, quantity), await staff.put(`/store/inventory/${id}`, { quantity }));
    },
    place: async (fields) => {
      const body = orderFields(fields);
      const { order, ...expected } = model.place(body);
      const reply = await customer.post("/store/orders", body);
      if (!order) return matching(expected, reply);
      const placed: ModelOrder = { id: reply.body.id, ...order };
      model.orders.set(placed.id, placed);
      orderIds.push(placed.id);
      return matching({ ...expected, body: shownOrder(placed) }, reply);
    },
    changeOrder: async ({ order, ...fields }) => {
      const path = `/store/orders/${oneOrder(order)}`;
      const patch = orderFields(fields);
      const reply = matching(model.changeOrder(oneOrder(order), patch), await customer.patch(path, patch));
      if (reply.status === 200) watch(path, reply);
      return reply;
    },
    cancel: async ({ order }) => {
      const id = oneOrder(order);
      return matching(model.cancel(id), await customer.delete(`/store/orders/${id}`));
    },
  };

  /** A record that looks different has another tag. */
  const watch = (path: string, { headers, text }: Reply) => {
    const before = tags.get(path);
    const tag = headers.get("etag");
    if (before && before.text !== text) expect(tag).not.toBe(before.tag);
    tags.set(path, { tag, text });
  };

  // Something to start with: a pet alone, a pet with more, and an order.
  const rex = { name: "Rex", category: 0, status: undefined } as const;
  await steps.createMany({ does: "createMany", pets: [rex, { ...rex, name: "Tom", category: 1 }] });
  await steps.setStock({ does: "setStock", pet: 1, quantity: 5 });
  await steps.place({ does: "place", pet: 1, quantity: 2, shipDate: undefined, complete: undefined });

  return {
    /** Does one step on both sides; gives what it was answered. */
    async take(taken: Step): Promise<string> {
      const { status, body } = await (steps[taken.does] as (step: Step) => Promise<Reply>)(taken);
      return body?.code ?? String(status);
    },

    /** Every pet and order of the run is as the model has it, through each view of it. */
    async compare(): Promise<void> {
      const pets = petIds.map(async (id) => {
        const path = `/store/pets/${id}`;
        const reply = await customer.get(path);
        const pet = model.pets.get(id);
        if (!pet) return expect(reply.body.code).toBe("pet_not_found");
        watch(path, reply);
        const { category, quantity, ...shown } = reply.body;
        expect({ ...shown, quantity, of: category.id }).toEqual({
          ...(shownPet(pet) as object),
          quantity: pet.stock,
          of: pet.categoryId,
        });
      });
      const orders = customer.get("/store/orders?limit=100").then(({ body }) => {
        expect(body).toEqual([...model.orders.values()].map(shownOrder));
      });
      await Promise.all([...pets, orders]);
    },

    /** The ledger adds up, and lists and inventory show what single records show. */
    async compareLedgers(): Promise<void> {
      for (const id of petIds) {
        const pet = model.pets.get(id);
        const { body: movements } = await staff.get(`/store/inventory/${id}/movements?limit=100`);
        const sum = (Array.isArray(movements) ? movements : []).reduce((all, { change }) => all + change, 0);
        expect(sum).toBe(pet?.stock ?? 0);
        if (!pet) continue;
        expect((await customer.get(`/store/inventory/${id}`)).body).toEqual(shownItem(pet));
        const open = await customer.get(`/store/orders?petId=${id}&complete=false&limit=100`);
        expect(open.body).toHaveLength(pet.open);
      }
      const alive = [...model.pets.values()];
      for (const each of ["available", "pending", "sold"] as const) {
        if (petIds.length === 0) break;
        const ids = petIds.map((id) => `id=${id}`).join("&");
        const { body } = await customer.get(`/pets?${ids}&status=${each}&limit=100`);
        expect(body).toEqual(alive.filter((pet) => statusOf(pet) === each).map(shownPet));
      }
    },
  };
}

/** The reply is the one that the model expects. */
function matching(expected: Expected, reply: Reply): Reply {
  const { status, body } = reply;
  expect({ status, code: body?.code }).toEqual({ status: expected.status, code: expected.code });
  if (expected.body !== undefined) expect(body).toEqual(expected.body);
  return reply;
}

function defined<T extends object>(fields: T): Partial<T> {
  return JSON.parse(JSON.stringify(fields));
}
