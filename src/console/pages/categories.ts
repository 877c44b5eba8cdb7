import type { Category, NewCategory } from "../../../client/src/index.ts";
import { performIfAgreed } from "../acts.ts";
import { hrefOf } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { h } from "../dom.ts";
import { filters } from "../filters.ts";
import { bodyOf, formDialog, textField } from "../form.ts";
import { type List, list } from "../list.ts";
import { tell } from "../notices.ts";
import { button, heading, type Page, type Visit } from "../visit.ts";
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
    empty: () => h("p", {}, isStaff ? "No such category. Add it by the button above." : "No such category."),
    columns: [
      { name: "Name", cell: ({ id, name }) => h("a", { href: hrefOf("pets", { categoryId: id }) }, name) },
      { name: "Description", cell: ({ description }) => description ?? none() },
      { name: "Number", cell: ({ id }) => id, kind: "number" },
      {
        name: "Actions",
        kind: "acts",
        cell: (category) =>
          isStaff && [
            button("Edit", `edit-${category.id}`, () => save(category, categories.put)),
            button("Remove", `remove-${category.id}`, () => remove(category, categories.drop), "danger"),
          ],
      },
    ],
  });
  void categories.reload();
  return [
    heading(
      "Categories",
      isStaff && button("Add a category", "add", () => save(undefined, categories.put), "main"),
    ),
    narrowing.element,
    categories.element,
  ];
}

function save(before: Category | undefined, saved: (category: Category) => void): void {
  formDialog(before ? `Edit ${before.name}` : "Add a category", {
    fields: [
      textField("name", { label: "Name", value: before?.name, required: true }),
      textField("description", {
        label: "Description",
        value: before?.description,
        hint: "May be left empty.",
      }),
    ],
    verb: before ? "Save" : "Add the category",
    send: async (values) => {
      const body = bodyOf<NewCategory>(values);
      const { id } = before ?? {};
      saved(
        await (id === undefined ? petstore.categories.create(body) : petstore.categories.replace(id, body)),
      );
      tell(before ? "Saved." : `${body.name} was added.`);
    },
  });
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
