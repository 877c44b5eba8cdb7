import type { Int64, PetStatus } from "../contract/shapes.ts";
import { afterPrefix } from "../core/names.ts";
import type { ListedPet, ListedStock, PetQuery, PetRecord, PetWithCategory, Reads } from "../core/ports.ts";
import { type Conditions, listing, namesOf, page } from "./page.ts";
import { type Db, type Fragment, fragment, sql } from "./statement.ts";
import { petColumns } from "./stock.ts";

const listColumns = fragment`id, name, category_id as "categoryId", status`;
const stockColumns = fragment`id, quantity, status`;
const [listNames, stockNames] = [listColumns, stockColumns].map(namesOf) as [string, string];

const petById = sql<PetRecord>`select ${petColumns} from pets where id = :id`;

const petWithCategoryById = sql<PetWithCategory>`
  select p.id, p.name, p.category_id as "categoryId", p.status, p.quantity, p.open_orders as "openOrders",
    p.version, p.stock_version as "stockVersion",
    c.name as "categoryName", c.description as "categoryDescription", c.version as "categoryVersion"
  from pets p join categories c on c.id = p.category_id where p.id = :id`;

const anyPet = sql<{ id: number }>`select id from pets limit 1`;
const anyCategory = sql<{ id: number }>`select id from categories limit 1`;

const everyStatus: readonly PetStatus[] = ["available", "pending", "sold"];
const sortColumns = { id: "id", name: "name_key", quantity: "low_stock" } as const;

type PetReads = Pick<Reads, "pet" | "petWithCategory" | "pets" | "stock" | "isEmpty">;

export function petReads(db: Db): PetReads {
  return {
    pet: (id) => db.get(petById, { id }),
    petWithCategory: (id) => db.get(petWithCategoryById, { id }),
    pets: (query) => {
      const { text, values } = petPage(query, listColumns, listNames);
      return db.all(listing<ListedPet>(text), values);
    },
    stock: (query) => {
      const { text, values } = petPage(query, stockColumns, stockNames);
      return db.all(listing<ListedStock>(text), values);
    },
    isEmpty: async () => (await db.get(anyPet, {})) === null && (await db.get(anyCategory, {})) === null,
  };
}

function petPage(query: PetQuery, columns: Fragment, names: string) {
  const { categoryId, namePrefix, maxQuantity } = query;
  const ids = query.ids && padded(query.ids);
  const statuses = query.statuses && [...new Set(query.statuses)];
  const key = sortColumns[query.sort];
  const narrow = (where: Conditions, category = "category_id") => {
    if (categoryId !== undefined) where.add(`${category} = ?`, categoryId);
    if (namePrefix !== undefined) startsWith(where, namePrefix);
    if (maxQuantity !== undefined) where.add("low_stock <= ?", maxQuantity);
  };
  const each = (status: PetStatus) => (where: Conditions) => narrow(where.add("status = ?", status));
  const named = (where: Conditions) => {
    where.add(`id in (${ids?.map(() => "?").join(", ")})`, ...(ids ?? []));
    if (statuses) where.add(`status in (${statuses.map(() => "?").join(", ")})`, ...statuses);
    // By ids alone: of a category with a million pets the index would seem to be less work than a hundred ids.
    narrow(where, "+category_id");
  };
  const isWholeTable = query.sort === "id" && !statuses && categoryId === undefined;
  const branches = ids ? [named] : isWholeTable ? [narrow] : (statuses ?? everyStatus).map(each);
  return page({ ...query, columns, names, table: "pets", key, branches });
}

/** A filter of few different lengths, so that it has few different texts. */
function padded(ids: readonly Int64[]): readonly Int64[] {
  const length = [1, 10, 100].find((each) => each >= ids.length) ?? ids.length;
  return ids.concat(new Array(length - ids.length).fill(ids[0]));
}

export function startsWith(where: Conditions, prefix: string): void {
  where.add("name_key >= ?", prefix);
  const end = afterPrefix(prefix);
  if (end !== null) where.add("name_key < ?", end);
}
