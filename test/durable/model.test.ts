import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { aStore, type TestStore } from "../harness.ts";
import { seed } from "../seed.ts";
import { step } from "./steps.ts";
import { aWorld } from "./world.ts";

const RUNS = 250;
const LONGEST = 30;
/** How long it walks, and how much longer a busy machine may take to come by everything. */
const WALK_MS = 20_000;
const PATIENCE_MS = 120_000;
const shape = { minLength: 5, maxLength: LONGEST, size: "max" } as const;
let store: TestStore;

beforeAll(async () => {
  store = await aStore();
});

afterAll(() => store.stop());

test(
  "whatever is done in whatever order, the store does as its rules say",
  async () => {
    const seen = new Map<string, number>();
    const until = performance.now() + WALK_MS;
    const isEnough = () => performance.now() > until && everyAnswer.every((answer) => seen.has(answer));
    const property = fc.asyncProperty(fc.array(step, shape), async (steps) => {
      if (isEnough()) return;
      const world = await aWorld(store);
      for (const each of steps) {
        const answered = await world.take(each);
        seen.set(`${each.does} ${answered}`, (seen.get(`${each.does} ${answered}`) ?? 0) + 1);
        await world.compare();
      }
      await world.compareLedgers();
    });
    await fc.assert(property, { seed, numRuns: RUNS, interruptAfterTimeLimit: PATIENCE_MS });
    expect(await store.findings()).toEqual([]);
    // The walk went through every refusal that the rules know, not only over the easy ground.
    for (const answer of everyAnswer) expect(seen.get(answer) ?? 0, answer).toBeGreaterThan(0);
  },
  2 * PATIENCE_MS,
);

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
