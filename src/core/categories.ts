import type { PetstoreApi } from "../contract/api.ts";
import type { Category, Int64 } from "../contract/shapes.ts";
import {
  type Operations,
  type ReadContext,
  requireMatch,
  requireSameId,
  type WriteContext,
} from "./context.ts";
import { Conflict, fail } from "./failure.ts";
import { foldName, namedSo } from "./names.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { CategoryRecord } from "./ports.ts";
import { categoryTag } from "./tags.ts";

export const categories: Operations<PetstoreApi["categories"]> = {
  async list(cx, { name, limit, cursor }) {
    const sort = name === undefined ? "id" : "name";
    const records = await cx.store.categories({
      sort,
      descending: false,
      namePrefix: name === undefined ? undefined : foldName(name),
      after: readCursor(cursor, "categories", sort, sort === "name" ? "string" : "number"),
      limit: limit + 1,
    });
    const cursorOf = (last: CategoryRecord) =>
      cursorAfter("categories", sort, { key: sort === "name" ? foldName(last.name) : last.id, id: last.id });
    return namedSo(pageOf(records, limit, shownCategory, cursorOf), name);
  },

  async create(cx, { body: { name, description = null } }) {
    const category = await cx.store.addCategory({ name, description }, cx.now);
    const body = shownCategory(category);
    cx.emit("category.created", `categories/${category.id}`, body);
    return { body, tag: categoryTag(category) };
  },

  async get(cx, { categoryId }) {
    const category = await knownCategory(cx, categoryId);
    return { body: shownCategory(category), tag: categoryTag(category) };
  },

  async replace(cx, { categoryId, body: { id, name, description = null } }) {
    return changeCategory(cx, categoryId, { id, name, description });
  },

  async update(cx, { categoryId, body }) {
    return changeCategory(cx, categoryId, body);
  },

  async remove(cx, { categoryId }) {
    const before = await knownCategory(cx, categoryId);
    requireMatch(cx, categoryTag(before));
    if (!(await cx.store.removeCategory(before))) {
      const now = await cx.store.category(categoryId);
      if (now?.version !== before.version) throw new Conflict();
      fail(
        "category_in_use",
        `Pets belong to category ${categoryId}. Move or remove them first: GET /pets?categoryId=${categoryId}.`,
      );
    }
    cx.emit("category.deleted", `categories/${before.id}`, shownCategory(before));
    return { body: undefined };
  },
};

export function shownCategory({ id, name, description }: Omit<CategoryRecord, "version">): Category {
  return description === null ? { id, name } : { id, name, description };
}

interface CategoryFields {
  id?: Int64 | undefined;
  name?: string | undefined;
  description?: string | null | undefined;
}

async function changeCategory(cx: WriteContext, categoryId: Int64, fields: CategoryFields) {
  const before = await knownCategory(cx, categoryId);
  requireMatch(cx, categoryTag(before));
  requireSameId(fields.id, categoryId);
  const { name = before.name, description = before.description } = fields;
  if (name === before.name && description === before.description) {
    return { body: shownCategory(before), tag: categoryTag(before) };
  }
  const category = await cx.store.changeCategory(before, { name, description });
  if (!category) throw new Conflict();
  const body = shownCategory(category);
  cx.emit("category.updated", `categories/${category.id}`, body);
  return { body, tag: categoryTag(category) };
}

async function knownCategory(cx: ReadContext, categoryId: Int64): Promise<CategoryRecord> {
  const category = await cx.store.category(categoryId);
  return (
    category ??
    fail("category_not_found", `There is no category ${categoryId}. Find ids with GET /categories.`)
  );
}
