import type { CategoryRecord, OrderRecord, PetRecord, PetWithCategory } from "./ports.ts";

// A tag is made of version columns: it changes when the representation does, and costs nothing to compute.

export function petTag(pet: PetRecord): string {
  return `p${pet.version}`;
}

export function stockTag(pet: PetRecord): string {
  return `s${pet.stockVersion}`;
}

export function storePetTag(pet: PetWithCategory): string {
  return `p${pet.version}-s${pet.stockVersion}-c${pet.categoryId}.${pet.categoryVersion}`;
}

export function categoryTag(category: CategoryRecord): string {
  return `c${category.version}`;
}

export function orderTag(order: OrderRecord): string {
  return `o${order.version}`;
}
