import type { Category, Page } from "../../client/src/index.ts";
import { hrefOf } from "./address.ts";
import { petstore } from "./api.ts";
import { type Child, h } from "./dom.ts";
import { none } from "./words.ts";

/** How many names can be asked for at once. */
const AT_ONCE = 100;

const pets = new Map<number, string>();
const categories = new Map<number, string>();
/** As far as categories were listed: by their numbers, a page after the other. */
let listed: Page<Category> | undefined;

/** Another page begins: names may have changed. */
export function forgetNames(): void {
  pets.clear();
  categories.clear();
  listed = undefined;
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

/** Learns the names of these categories: by going on with the list, or one by one where that takes fewer requests. */
export async function learnCategories(ids: readonly number[], signal: AbortSignal): Promise<void> {
  const unknown = () => [...new Set(ids)].filter((id) => !categories.has(id));
  while (listed?.hasNext && unknown().length > listsUpTo(Math.max(0, ...unknown()))) {
    noteListed(await listed.next());
    signal.throwIfAborted();
  }
  noteCategories(await Promise.all(unknown().map((id) => petstore.categories.get(id, { signal }))));
}

/** How many more lists it takes at the most until this category is among them. */
function listsUpTo(id: number): number {
  return Math.max(0, Math.ceil((id - (listed?.at(-1)?.id ?? 0)) / AT_ONCE));
}

/** The categories to choose from, if one list has them all. */
export async function everyCategory(signal: AbortSignal): Promise<readonly Category[] | undefined> {
  const found = await petstore.categories.list({ limit: AT_ONCE }, { signal });
  noteListed(found);
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

/** Whether the name of a pet is known. */
export function knowsPet(id: number): boolean {
  return pets.has(id);
}

export function categoryName(id: number): string {
  return categories.get(id) ?? `category ${id}`;
}

function noteListed(found: Page<Category> | undefined): void {
  listed = found;
  noteCategories(found ?? []);
}

function noteCategories(found: readonly Category[]): void {
  for (const { id, name } of found) categories.set(id, name);
}
