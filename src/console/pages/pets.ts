import type { Category, NewPet, Pet, PetStatus, PetsListQuery } from "../../../client/src/index.ts";
import { go, hrefOf } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { choiceField, type Field, textField } from "../fields.ts";
import { type Filter, filters } from "../filters.ts";
import { bodyOf, formDialog } from "../form.ts";
import { type List, list } from "../list.ts";
import { categoryName, everyCategory, learnCategories } from "../names.ts";
import { tell } from "../notices.ts";
import { recordField } from "../record-field.ts";
import { button, heading, type Page, type Visit } from "../visit.ts";
import { badge, statusChoices, statuses } from "../words.ts";
import { placeOrder } from "./order-form.ts";

const ON_A_PAGE = 50;

export const petsPage: Page = { title: "Pets", show };

async function show({ account, query, signal }: Visit): Promise<Child> {
  const isStaff = mayAct(account, "staff");
  const categories = await everyCategory(signal);
  const narrowing = filters("pets", query, narrowedBy(categories), () => void pets.reload());
  const pets: List<Pet> = list({
    label: "Pets",
    keyOf: ({ id }) => id,
    load: (signal) =>
      petstore.pets.list({ ...narrowing.asked<PetsListQuery>(), limit: ON_A_PAGE }, { signal }),
    prepare: (found, signal) =>
      learnCategories(
        found.map(({ categoryId }) => categoryId),
        signal,
      ),
    empty: () => h("p", {}, nothing(narrowing.isNarrowed(), isStaff)),
    columns: [
      { name: "Name", cell: ({ id, name }) => h("a", { href: hrefOf(`pets/${id}`) }, name) },
      { name: "Category", cell: ({ categoryId }) => categoryName(categoryId) },
      { name: "Status", kind: "short", cell: ({ status = "available" }) => badge(status) },
      { name: "Number", cell: ({ id }) => id, kind: "number" },
      {
        name: "Actions",
        kind: "acts",
        cell: (pet) =>
          pet.status === "available" &&
          button(isStaff ? "Sell" : "Order", `order-${pet.id}`, () =>
            placeOrder(isStaff, pet, async () => pets.put(await petstore.store.pet(pet.id))),
          ),
      },
    ],
  });
  void pets.reload();
  return [
    heading("Pets", isStaff && button("Add a pet", "add", addPet, "main")),
    narrowing.element,
    pets.element,
  ];
}

function nothing(isNarrowed: boolean, isStaff: boolean): Child {
  if (isNarrowed) return `No pet is like that. Ask for less above${isStaff ? ", or add one" : ""}.`;
  if (!isStaff) return "The store has no pets yet.";
  const categories = h("a", { href: hrefOf("categories") }, "category");
  return ["The store has no pets yet. Add a ", categories, " first, then a pet by the button above."];
}

function narrowedBy(categories: readonly Category[] | undefined): Filter[] {
  return [
    { name: "name", label: "Name starts with" },
    { name: "status", label: "Status", choices: statusChoices },
    categories
      ? {
          name: "categoryId",
          label: "Category",
          choices: [["", "any"], ...categories.map(({ id, name }) => [String(id), name] as const)],
        }
      : { name: "categoryId", label: "Category number", type: "number" },
    {
      name: "sort",
      label: "Order",
      choices: [
        ["", "oldest first"],
        ["-id", "newest first"],
        ["name", "name, A to Z"],
        ["-name", "name, Z to A"],
      ],
    },
  ];
}

function addPet(): void {
  formDialog("Add a pet", {
    fields: petFields({}),
    verb: "Add the pet",
    send: async (values) => {
      const pet = await petstore.pets.create(bodyOf<NewPet>(values));
      tell(`${pet.name} was added.`);
      return () => go(`pets/${pet.id}`);
    },
  });
}

/** What staff can say of a pet. */
export function petFields(pet: {
  readonly name?: string;
  readonly category?: { readonly id: number; readonly name: string };
  readonly status?: PetStatus;
}): Field[] {
  return [
    textField("name", { label: "Name", value: pet.name, required: true }),
    recordField("categoryId", {
      label: "Category",
      hint: "Type the beginning of its name.",
      value: pet.category,
      required: true,
      search: async (name) => petstore.categories.list({ name: name || undefined, limit: 20 }),
    }),
    choiceField<PetStatus>("status", {
      label: "Status",
      hint: "Pending holds the pet: nobody can order it. Sold sets its stock to 0.",
      value: pet.status ?? "available",
      choices: statuses.map((each) => [each, each] as const),
    }),
  ];
}
