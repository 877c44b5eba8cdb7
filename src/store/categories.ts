import { foldName } from "../core/names.ts";
import type { CategoryRecord, Reads, Writes } from "../core/ports.ts";
import { type Conditions, listing, page } from "./page.ts";
import { startsWith } from "./pets.ts";
import { type Db, fragment, sql } from "./statement.ts";

const columns = fragment`id, name, description, version`;

const categoryById = sql<CategoryRecord>`select ${columns} from categories where id = :id`;

const insertCategory = sql<CategoryRecord>`
  insert into categories (name, name_key, description, created_at)
  values (:name, :nameKey, :description, :now) returning ${columns}`;

const updateCategory = sql<CategoryRecord>`
  update categories set name = :name, name_key = :nameKey, description = :description, version = version + 1
  where id = :id and version = :version returning ${columns}`;

const deleteCategory = sql<CategoryRecord>`
  delete from categories where id = :id and version = :version
    and not exists (select 1 from pets where category_id = categories.id)
  returning ${columns}`;

export function categoryReads(db: Db): Pick<Reads, "category" | "categories"> {
  return {
    category: (id) => db.get(categoryById, { id }),
    categories: ({ namePrefix, ...query }) => {
      const narrow = (where: Conditions) => {
        if (namePrefix !== undefined) startsWith(where, namePrefix);
      };
      const key = query.sort === "name" ? "name_key" : "id";
      const { text, values } = page({ ...query, columns, table: "categories", key, branches: [narrow] });
      return db.all(listing<CategoryRecord>(text), values);
    },
  };
}

export function categoryWrites(db: Db): Pick<Writes, "addCategory" | "changeCategory" | "removeCategory"> {
  return {
    addCategory: async (category, now) =>
      (await db.get(insertCategory, {
        ...category,
        nameKey: foldName(category.name),
        now,
      })) as CategoryRecord,
    changeCategory: ({ id, version }, change) =>
      db.get(updateCategory, { ...change, nameKey: foldName(change.name), id, version }),
    removeCategory: ({ id, version }) => db.get(deleteCategory, { id, version }),
  };
}
