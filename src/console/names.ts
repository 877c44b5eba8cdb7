import type { Category } from "../../client/src/index.ts";
import { hrefOf } from "./address.ts";
import { petstore } from "./api.ts";
import { type Child, h } from "./dom.ts";
import { none } from "./words.ts";

/** How many names can be asked for at once. */
const AT_ONCE = 100;
/** Categories that are looked up one by one on a page, when there are more than one list has. */
const ONE_BY_ONE = 10;

const pets = new Map<number, string>();
const categories = new Map<number, string>();
let areCategoriesListed = false;

/** Another page begins: names may have changed. */
export function forgetNames(): void {
  pets.clear();
  categories.clear();
  areCategoriesListed = false;
}

/** Learns the names of these pets, in one request. */
export async function learnPets(ids: readonly (number | undefined)[], signal?: AbortSignal): Promise<void> {
  const unknown = [...new Set(ids)].filter((id) => id !== undefined).filter((id) => !pets.has(id));
  if (unknown.length === 0) return;
  const found = await petstore.pets.list({ id: unknown.slice(0, AT_ONCE), limit: AT_ONCE }, { signal });
  for (const { id, name } of found) pets.set(id, name);
}

/** A name that came with something else. */
export function notePet(id: number, name: string): void {
  pets.set(id, name);
}

/** Learns the names of these categories: a shop has few, so they are listed first. */
export async function learnCategories(ids: readonly number[], signal?: AbortSignal): Promise<void> {
  const unknown = () => [...new Set(ids)].filter((id) => !categories.has(id));
  if (unknown().length > 0 && !areCategoriesListed) {
    areCategoriesListed = true;
    noteCategories(await petstore.categories.list({ limit: AT_ONCE }, { signal }));
  }
  const others = unknown().slice(0, ONE_BY_ONE);
  noteCategories(await Promise.all(others.map((id) => petstore.categories.get(id, { signal }))));
}

/** The categories to choose from, if one list has them all. */
export async function everyCategory(signal: AbortSignal): Promise<readonly Category[] | undefined> {
  const found = await petstore.categories.list({ limit: AT_ONCE }, { signal });
  areCategoriesListed = true;
  noteCategories(found);
  return found.hasNext ? undefined : found;
}

/** A pet by its name, as a link; by its number if it is gone. */
export function petLink(id: number | undefined): Child {
  if (id === undefined) return none();
  const name = pets.get(id);
  return name === undefined ? `pet ${id}, removed` : h("a", { href: hrefOf(`pets/${id}`) }, name);
}

export function petName(id: number): string {
  return pets.get(id) ?? `pet ${id}`;
}

export function categoryName(id: number): string {
  return categories.get(id) ?? `category ${id}`;
}

function noteCategories(found: readonly Category[]): void {
  for (const { id, name } of found) categories.set(id, name);
}
