import type { InventoryItem, Pet } from "../contract/shapes.ts";
import type { ListedPet, ListedStock } from "./ports.ts";

// A pet's one row as its two representations.

export function shownPet({ id, name, categoryId, status }: ListedPet): Pet {
  return { id, name, categoryId, status };
}

export function shownItem({ id, quantity, status }: ListedStock): InventoryItem {
  return { petId: id, quantity, status };
}
