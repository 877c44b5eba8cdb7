// A corner of a real store, and the model beside it.
import { expect } from "bun:test";
import { NOON, type Person, type Reply, type TestStore } from "../harness.ts";
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
import { GONE, type Step } from "./steps.ts";

export const NOW = new Date(NOON).toISOString();

/** A run's own corner of the store, with a customer of its own and the model beside it. */
interface World {
  readonly staff: Person;
  readonly customer: Person;
  readonly model: Model;
  readonly categoryIds: number[];
  readonly petIds: number[];
  readonly orderIds: number[];
  /** What records looked like when they were last seen. */
  readonly tags: Map<string, { tag: string | null; text: string }>;
}

type Steps = { readonly [S in Step as S["does"]]: (step: S) => Promise<Reply> };

export async function aWorld(store: TestStore) {
  const { staff } = store;
  const customer = await store.newPerson("customer");
  const model = new Model(NOW);
  const world: World = {
    staff,
    customer,
    model,
    categoryIds: [],
    petIds: [],
    orderIds: [],
    tags: new Map(),
  };
  for (const category of ["Dogs", "Cats"]) {
    const { body } = await staff.post("/categories", { name: category });
    world.categoryIds.push(body.id);
    model.categories.add(body.id);
  }
  const steps = stepsIn(world);

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
    compare: () => compare(world),
    compareLedgers: () => compareLedgers(world),
  };
}

function stepsIn(world: World): Steps {
  const { staff, customer, model, orderIds } = world;
  const fieldsOf = (pet: PetFields) => petFields(world, pet);
  return {
    createPet: ({ pet }) => create(world, "/pets", [petFields(world, pet)], petFields(world, pet), 201),
    createMany: ({ pets }) => create(world, "/pets/batch", pets.map(fieldsOf), pets.map(fieldsOf), 201),
    changePet: async ({ pet, isWhole, ...fields }) => {
      const id = onePet(world, pet);
      const patch = petFields(world, fields);
      if (!isWhole) return matching(model.changePet(id, patch), await staff.patch(`/pets/${id}`, patch));
      const whole = { categoryId: oneCategory(world, 0), name: "Rex", ...defined(patch) };
      return matching(model.changePet(id, whole), await staff.put(`/pets/${id}`, whole));
    },
    removePet: async ({ pet }) => {
      const id = onePet(world, pet);
      return matching(model.removePet(id), await staff.delete(`/pets/${id}`));
    },
    removeCategory: async ({ category }) => {
      const id = oneCategory(world, category);
      return matching(model.removeCategory(id), await staff.delete(`/categories/${id}`));
    },
    setStock: async ({ pet, quantity }) => {
      const id = onePet(world, pet);
      return matching(model.setStock(id, quantity), await staff.put(`/store/inventory/${id}`, { quantity }));
    },
    place: async (fields) => {
      const body = orderFields(world, fields);
      const { order, ...expected } = model.place(body);
      const reply = await customer.post("/store/orders", body);
      if (!order) return matching(expected, reply);
      const placed: ModelOrder = { id: reply.body.id, ...order };
      model.orders.set(placed.id, placed);
      orderIds.push(placed.id);
      return matching({ ...expected, body: shownOrder(placed) }, reply);
    },
    changeOrder: async ({ order, ...fields }) => {
      const path = `/store/orders/${oneOrder(world, order)}`;
      const patch = orderFields(world, fields);
      const reply = matching(
        model.changeOrder(oneOrder(world, order), patch),
        await customer.patch(path, patch),
      );
      if (reply.status === 200) watch(world, path, reply);
      return reply;
    },
    cancel: async ({ order }) => {
      const id = oneOrder(world, order);
      return matching(model.cancel(id), await customer.delete(`/store/orders/${id}`));
    },
  };
}

async function create(
  { model, staff, petIds }: World,
  path: string,
  pets: PetPatch[],
  body: unknown,
  success: number,
) {
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
}

interface PetFields {
  readonly name?: string | undefined;
  readonly category?: number | undefined;
  readonly status?: Status | undefined;
}

function petFields(world: World, { name, category, status }: PetFields): PetPatch {
  return { name, categoryId: category === undefined ? undefined : oneCategory(world, category), status };
}

function orderFields(
  world: World,
  { pet, quantity, shipDate, complete }: { pet?: number | null | undefined } & OrderPatch,
): OrderPatch {
  return { petId: typeof pet === "number" ? onePet(world, pet) : pet, quantity, shipDate, complete };
}

function onePet({ petIds, model }: World, number: number): number {
  return one(petIds, model.pets, number);
}

function oneOrder({ orderIds, model }: World, number: number): number {
  return one(orderIds, model.orders, number);
}

function oneCategory({ categoryIds, model }: World, number: number): number {
  return one(categoryIds, model.categories, number);
}

function one(
  all: readonly number[],
  known: ReadonlyMap<number, unknown> | ReadonlySet<number>,
  number: number,
): number {
  const ids = all.filter((id) => known.has(id) === (number !== GONE));
  return ids[number % ids.length] ?? 999_999_999;
}

/** Every pet and order of the run is as the model has it, through each view of it. */
async function compare(world: World): Promise<void> {
  const { petIds, customer, model } = world;
  const pets = petIds.map(async (id) => {
    const path = `/store/pets/${id}`;
    const reply = await customer.get(path);
    const pet = model.pets.get(id);
    if (!pet) return expect(reply.body.code).toBe("pet_not_found");
    watch(world, path, reply);
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
}

/** The ledger adds up, and lists and inventory show what single records show. */
async function compareLedgers({ petIds, model, staff, customer }: World): Promise<void> {
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
}

/** A record that looks different has another tag. */
function watch({ tags }: World, path: string, { headers, text }: Reply): void {
  const before = tags.get(path);
  const tag = headers.get("etag");
  if (before && before.text !== text) expect(tag).not.toBe(before.tag);
  tags.set(path, { tag, text });
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
