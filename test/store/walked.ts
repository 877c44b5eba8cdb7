// Lists, page by page to their end.
import type { ListedPet, ListedStock, OrderQuery, OrderRecord, PetQuery } from "../../src/core/ports.ts";

export const anyPets: PetQuery = { sort: "id", descending: false, limit: 4 };
export const anyOrders: OrderQuery = { sort: "id", descending: false, limit: 4 };

/** Follows a list to its end. */
export async function pages<R extends ListedPet | ListedStock | OrderRecord>(
  page: (after: PetQuery["after"]) => R[] | Promise<R[]>,
  sort: string,
): Promise<R[]> {
  const all: R[] = [];
  for (let after: PetQuery["after"]; all.length < 1000; ) {
    const records = await page(after);
    const last = records.at(-1);
    if (!last) return all;
    all.push(...records);
    after = { key: keyOf(last, sort), id: last.id };
  }
  throw new Error("a list does not end");
}

export function keyOf(record: ListedPet | ListedStock | OrderRecord, sort: string): number | string {
  if (sort === "name" && "name" in record) return fold(record.name);
  return record[sort as "id"];
}

/** As code points compare, on every engine. */
export function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" || typeof b === "number") return Number(a) - Number(b);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
