import type { Caller } from "./context.ts";
import { perform } from "./perform.ts";
import type { Writes } from "./ports.ts";
import type { Rules } from "./rules.ts";

/** A small catalogue to try the API with: categories, and pets with their stock. */
export const demoCatalogue = [
  {
    category: { name: "Dogs", description: "Loyal, loud and always hungry" },
    pets: [
      { name: "Rex", quantity: 5 },
      { name: "Bella", quantity: 1 },
      { name: "Bruno", quantity: 2 },
    ],
  },
  {
    category: { name: "Cats", description: "They let you live with them" },
    pets: [
      { name: "Tom", quantity: 3 },
      { name: "Luna", quantity: 1 },
      { name: "Mia", quantity: 1, status: "pending" },
    ],
  },
  {
    category: { name: "Birds", description: "Small dinosaurs that sing" },
    pets: [
      { name: "Kiwi", quantity: 12 },
      { name: "Coco", quantity: 4 },
    ],
  },
  {
    category: { name: "Fish", description: "Quiet company" },
    pets: [
      { name: "Nemo", quantity: 50 },
      { name: "Dory", quantity: 20 },
      { name: "Bubbles", quantity: 0, status: "sold" },
    ],
  },
] as const;

/** Loads the demo catalogue as the operator would: through the operations, with their events. */
export async function loadDemo(
  store: Writes,
  operatorId: number,
  rules: Rules,
  now: number,
): Promise<{ categories: number; pets: number }> {
  const caller: Caller = { clientId: operatorId, keyId: 0, role: "admin" };
  const run = async (operation: string, input: unknown) =>
    (await perform(store, { operation, caller, input, now }, rules)).body as { id: number };
  let count = 0;
  for (const { category, pets } of demoCatalogue) {
    const { id: categoryId } = await run("categories.create", { body: category });
    for (const { quantity, ...pet } of pets) {
      const { id: petId } = await run("pets.create", { body: { ...pet, categoryId } });
      await run("inventory.set", { petId, body: { quantity } });
      count += 1;
    }
  }
  return { categories: demoCatalogue.length, pets: count };
}
