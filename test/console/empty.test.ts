import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();

/** What staff reads on each page of an empty store, and when nothing is like what is asked for. */
const said = [
  [
    "orders",
    "Orders",
    "There are no orders yet. Place one by the button above.",
    "complete=false",
    "No order is like that. Ask for less above, or place one.",
  ],
  [
    "pets",
    "Pets",
    "The store has no pets yet. Add a category first, then a pet by the button above.",
    "status=sold",
    "No pet is like that. Ask for less above, or add one.",
  ],
  [
    "categories",
    "Categories",
    "There are no categories yet. Add one by the button above.",
    "name=Cats",
    "No category is called so. Add one by the button above.",
  ],
  [
    "inventory",
    "Inventory",
    "The store has no pets yet. They are added under Pets.",
    "maxQuantity=1",
    "No pet is like that. Ask for less above.",
  ],
] as const;

test("an empty store says so on every page and what to do first; a list that was narrowed says that nothing is like that", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, ["", "Overview"]);
  const empty = visitor.page.locator(".empty");
  for (const [path, heading, whole, query, narrowed] of said) {
    await visitor.open(path, heading);
    expect(await empty.textContent()).toBe(whole);
    await visitor.open(`${path}?${query}`, heading);
    expect(await empty.textContent()).toBe(narrowed);
  }
  await visitor.open("pets?sort=name", "Pets");
  expect(await empty.textContent()).toStartWith("The store has no pets yet.");
  expect(visitor.faults).toEqual([]);
});
