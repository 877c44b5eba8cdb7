import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { aStore, type Reply, type TestStore } from "../harness.ts";

/** Rounds of one scenario, and how many of them run side by side so that their writes share commits. */
const ROUNDS = 150;
const SIDE_BY_SIDE = 25;

let store: TestStore;
let categoryId: number;
beforeAll(async () => {
  store = await aStore();
  categoryId = (await store.staff.post("/categories", { name: "Dogs" })).body.id;
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

test("two orders of one pet completed at the same moment leave it sold", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(2);
    const [one, other] = [await order(pet), await order(pet)];
    return {
      pet,
      first: () => store.customer.patch(`/store/orders/${one}`, { complete: true }),
      second: () => store.customer.patch(`/store/orders/${other}`, { complete: true }),
    };
  });
  expect(outcomes).toEqual(new Set(["200 200 sold 0"]));
});

test("a hold and an order: the order is placed before the hold, or refused after it", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(2);
    return {
      pet,
      first: () => store.staff.patch(`/pets/${pet}`, { status: "pending" }),
      second: () => store.customer.post("/store/orders", { petId: pet }),
    };
  });
  expect(outcomes).toEqual(new Set(["200 201 pending 1", "200 pet_not_available pending 2"]));
});

test("a hold and an order of the last unit: both, or the hold alone", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(1);
    return {
      pet,
      first: () => store.staff.patch(`/pets/${pet}`, { status: "pending" }),
      second: () => store.customer.post("/store/orders", { petId: pet }),
    };
  });
  expect(outcomes).toEqual(new Set(["200 201 pending 0", "200 pet_not_available pending 1"]));
});

test("a removal and an order: never an order of a pet that is gone", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(1);
    return {
      pet,
      first: () => store.staff.delete(`/pets/${pet}`),
      second: () => store.customer.post("/store/orders", { petId: pet }),
    };
  });
  expect(outcomes).toEqual(new Set(["204 unknown_pet gone", "pet_has_open_orders 201 pending 0"]));
});

test("a restock and a cancel: the cancelled units come before the count, or on top of it", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(1);
    const placed = await order(pet);
    return {
      pet,
      first: () => store.staff.put(`/store/inventory/${pet}`, { quantity: 5 }),
      second: () => store.customer.delete(`/store/orders/${placed}`),
    };
  });
  expect(outcomes).toEqual(new Set(["200 204 available 5", "200 204 available 6"]));
});

test("a restock to the largest count and a cancel: whichever is first, neither is a fault of the server", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(1);
    const placed = await order(pet);
    return {
      pet,
      first: () => store.staff.put(`/store/inventory/${pet}`, { quantity: 2_147_483_647 }),
      second: () => store.customer.delete(`/store/orders/${placed}`),
    };
  });
  expect([...outcomes].filter((outcome) => /internal_error/.test(outcome))).toEqual([]);
});

test("a category's removal and a pet's creation: never a pet without its category", async () => {
  const outcomes = await rounds(async () => {
    const { body: category } = await store.staff.post("/categories", { name: "Cats" });
    return {
      pet: undefined,
      first: () => store.staff.delete(`/categories/${category.id}`),
      second: () => store.staff.post("/pets", { name: "Tom", categoryId: category.id }),
    };
  });
  expect(outcomes).toEqual(new Set(["204 unknown_category", "category_in_use 201"]));
});

test("a category's removal and a pet's move into it: never a pet without its category", async () => {
  const outcomes = await rounds(async () => {
    const { body: category } = await store.staff.post("/categories", { name: "Birds" });
    const pet = await aPet(1);
    return {
      pet,
      first: () => store.staff.delete(`/categories/${category.id}`),
      second: () => store.staff.patch(`/pets/${pet}`, { categoryId: category.id }),
    };
  });
  expect(outcomes).toEqual(new Set(["204 unknown_category available 1", "category_in_use 200 available 1"]));
});

test("a sale by staff and an order: one of them takes the pet", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(1);
    return {
      pet,
      first: () => store.staff.patch(`/pets/${pet}`, { status: "sold" }),
      second: () => store.customer.post("/store/orders", { petId: pet }),
    };
  });
  expect(outcomes).toEqual(new Set(["200 pet_not_available sold 0", "pet_has_open_orders 201 pending 0"]));
});

test("a completion and a cancel of one order: one of them wins", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(1);
    const placed = await order(pet);
    return {
      pet,
      first: () => store.customer.patch(`/store/orders/${placed}`, { complete: true }),
      second: () => store.customer.delete(`/store/orders/${placed}`),
    };
  });
  expect(outcomes).toEqual(new Set(["200 order_complete sold 0", "order_not_found 204 available 1"]));
});

test("two orders that trade their pets at the same moment: both, or only the one that finds its pet free", async () => {
  const outcomes = await rounds(async () => {
    const [one, other] = [await aPet(1), await aPet(2)];
    const [placed, otherPlaced] = [await order(one), await order(other)];
    return {
      pet: one,
      first: () => store.customer.patch(`/store/orders/${placed}`, { petId: other }),
      second: () => store.customer.patch(`/store/orders/${otherPlaced}`, { petId: one }),
    };
  });
  expect(outcomes).toEqual(new Set(["200 200 pending 0", "200 pet_not_available available 1"]));
});

test("two changes that saw the same version: one is made, the other is told to look again", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(3);
    const seen = (await store.staff.get(`/store/pets/${pet}`)).headers.get("etag") as string;
    return {
      pet,
      first: () => store.staff.patch(`/pets/${pet}`, { name: "One" }, { "if-match": seen }),
      second: () => store.staff.patch(`/pets/${pet}`, { name: "Other" }, { "if-match": seen }),
    };
  });
  expect(outcomes).toEqual(
    new Set(["200 precondition_failed available 3", "precondition_failed 200 available 3"]),
  );
});

test("two changes of a client that saw the same one: one is made, the other is told to look again", async () => {
  const outcomes = await rounds(async () => {
    const { body, headers } = await store.admin.post("/admin/clients", { name: "Shop" });
    const change = (name: string) =>
      store.admin.patch(`/admin/clients/${body.id}`, { name }, { "if-match": headers.get("etag") as string });
    return { pet: undefined, first: () => change("One"), second: () => change("Other") };
  });
  expect(outcomes).toEqual(new Set(["200 precondition_failed", "precondition_failed 200"]));
});

test("stock set to zero and an order: what was taken stays taken", async () => {
  const outcomes = await rounds(async () => {
    const pet = await aPet(3);
    return {
      pet,
      first: () => store.staff.put(`/store/inventory/${pet}`, { quantity: 0 }),
      second: () => store.customer.post("/store/orders", { petId: pet }),
    };
  });
  expect(outcomes).toEqual(new Set(["200 201 pending 0", "200 pet_not_available sold 0"]));
});

interface Round {
  /** The pet whose state at the end is part of the outcome. */
  readonly pet: number | undefined;
  readonly first: () => Promise<Reply>;
  readonly second: () => Promise<Reply>;
}

type Ask = () => Promise<Reply>;

/** Both at the same moment; every other time one after the other, so that each order of the two is surely seen. */
const starts: readonly ((one: Ask, other: Ask) => Promise<[Reply, Reply]>)[] = [
  (one, other) => Promise.all([one(), other()]),
  async (one, other) => [await one(), await other()],
];

/** Every outcome that was seen: the answers of both, and the pet afterwards. Who is sent first alternates. */
async function rounds(prepare: () => Promise<Round>): Promise<Set<string>> {
  const outcomes = new Set<string>();
  const oneRound = async (number: number) => {
    const { pet, first, second } = await prepare();
    const start = starts[number % starts.length] as (typeof starts)[number];
    const replies = number % 4 < 2 ? await start(first, second) : (await start(second, first)).toReversed();
    const after = pet === undefined ? "" : ` ${await state(pet)}`;
    outcomes.add(replies.map(({ status, body }) => body?.code ?? status).join(" ") + after);
  };
  for (let round = 0; round < ROUNDS; round += SIDE_BY_SIDE)
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, index) => oneRound(round + index)));
  return outcomes;
}

async function aPet(quantity: number): Promise<number> {
  const { body } = await store.staff.post("/pets", { name: "Rex", categoryId });
  if (quantity !== 1) await store.staff.put(`/store/inventory/${body.id}`, { quantity });
  return body.id;
}

async function order(petId: number): Promise<number> {
  return (await store.customer.post("/store/orders", { petId })).body.id;
}

async function state(pet: number): Promise<string> {
  const { status, body } = await store.customer.get(`/store/inventory/${pet}`);
  return status === 404 ? "gone" : `${body.status} ${body.quantity}`;
}
