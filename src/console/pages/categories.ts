import type { Category, CategoryUpdate, NewCategory } from "../../../client/src/index.ts";
import { performIfAgreed } from "../acts.ts";
import { hrefOf } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { guarded, withRecord } from "../changes.ts";
import { h } from "../dom.ts";
import { type Field, linesField, textField } from "../fields.ts";
import { filters } from "../filters.ts";
import { bodyOf, changedFrom, formDialog } from "../form.ts";
import { type List, list } from "../list.ts";
import { tell } from "../notices.ts";
import { button, heading, lines, type Page, type Visit } from "../visit.ts";
import { none } from "../words.ts";

const ON_A_PAGE = 50;

export const categoriesPage: Page = { title: "Categories", show };

function show({ account, query }: Visit) {
  const isStaff = mayAct(account, "staff");
  const narrowing = filters(
    "categories",
    query,
    [{ name: "name", label: "Name starts with" }],
    () => void categories.reload(),
  );
  const categories: List<Category> = list({
    label: "Categories",
    keyOf: ({ id }) => id,
    load: (signal) =>
      petstore.categories.list({ name: narrowing.value("name"), limit: ON_A_PAGE }, { signal }),
    empty: () => h("p", {}, nothing(narrowing.isNarrowed()), isStaff && " Add one by the button above."),
    columns: [
      { name: "Name", cell: ({ id, name }) => h("a", { href: hrefOf("pets", { categoryId: id }) }, name) },
      { name: "Description", cell: ({ description }) => (description ? lines(description) : none()) },
      { name: "Number", cell: ({ id }) => id, kind: "number" },
      {
        name: "Actions",
        kind: "acts",
        cell: (category) =>
          isStaff && [
            button("Edit", `edit-${category.id}`, () => edit(category, categories.put)),
            button("Remove", `remove-${category.id}`, () => remove(category, categories.drop), "danger"),
          ],
      },
    ],
  });
  void categories.reload();
  return [
    heading("Categories", isStaff && button("Add a category", "add", () => add(categories.put), "main")),
    narrowing.element,
    categories.element,
  ];
}

function nothing(isNarrowed: boolean): string {
  return isNarrowed ? "No category is called so." : "There are no categories yet.";
}

function add(added: (category: Category) => void): void {
  formDialog("Add a category", {
    fields: categoryFields(),
    verb: "Add the category",
    send: async (values) => {
      const category = await petstore.categories.create(bodyOf<NewCategory>(values));
      added(category);
      tell(`${category.name} was added.`);
    },
  });
}

function edit({ id }: Category, saved: (category: Category) => void): Promise<void> {
  const read = () => petstore.categories.get(id).withResponse();
  return withRecord(read, (before) => {
    const change = guarded(before, read, ({ name, description = "" }) => `“${name}”, ${description}`);
    formDialog(`Edit ${before.data.name}`, {
      fields: categoryFields(before.data),
      verb: "Save",
      send: async (values) => {
        const body = bodyOf<CategoryUpdate>(changedFrom(before.data, values, "description"));
        saved(await change((ifMatch) => petstore.categories.update(id, body, { ifMatch })));
        tell("Saved.");
      },
    });
  });
}

function categoryFields(category?: Category): Field[] {
  return [
    textField("name", { label: "Name", value: category?.name, required: true }),
    linesField("description", {
      label: "Description",
      value: category?.description,
      hint: "May be left empty.",
    }),
  ];
}

function remove(category: Category, removed: (category: Category) => void): Promise<void> {
  return performIfAgreed({
    title: `Remove ${category.name}?`,
    text: "A category can be removed when no pet belongs to it.",
    verb: "Remove the category",
    done: `${category.name} was removed.`,
    act: () => petstore.categories.remove(category.id),
    after: () => removed(category),
  });
}
