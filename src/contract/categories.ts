import type { Api } from "./route.ts";
import {
  Categories,
  Category,
  CategoryReplacement,
  CategoryUpdate,
  givenId,
  NewCategory,
  name,
  paging,
} from "./shapes.ts";

const dogs = { id: 1, name: "Dogs", description: "Loyal, loud, always hungry" };
const categoryId = givenId.described("The category's id.");

export const categories = {
  list: {
    at: "GET /categories",
    summary: "List categories",
    description:
      "With a `name` filter the categories come in the order of their names; otherwise of their ids.",
    role: "customer",
    query: {
      name: name.described("Only categories whose name starts so, in any case.").optional(),
      ...paging,
    },
    returns: Categories,
    kind: "list",
    errors: [],
    example: { returns: [dogs, { id: 2, name: "Cats" }] },
  },
  create: {
    at: "POST /categories",
    summary: "Create a category",
    role: "staff",
    body: NewCategory,
    returns: Category,
    location: "/categories/{id}",
    kind: "record",
    errors: [],
    example: { body: { name: dogs.name, description: dogs.description }, returns: dogs },
  },
  get: {
    at: "GET /categories/{categoryId}",
    summary: "Get a category",
    role: "customer",
    params: { categoryId },
    returns: Category,
    kind: "record",
    errors: ["category_not_found"],
    example: { returns: dogs },
  },
  replace: {
    at: "PUT /categories/{categoryId}",
    summary: "Replace a category",
    description: "Without `description` the category has none afterwards.",
    role: "staff",
    params: { categoryId },
    body: CategoryReplacement,
    returns: Category,
    kind: "record",
    errors: ["category_not_found"],
    example: { body: { name: "Hounds" }, returns: { id: 1, name: "Hounds" } },
  },
  update: {
    at: "PATCH /categories/{categoryId}",
    summary: "Change a category",
    description: "A JSON merge patch; `description: null` clears the description.",
    role: "staff",
    params: { categoryId },
    body: CategoryUpdate,
    returns: Category,
    kind: "record",
    errors: ["category_not_found"],
    example: { body: { description: null }, returns: { id: 1, name: "Dogs" } },
  },
  remove: {
    at: "DELETE /categories/{categoryId}",
    summary: "Remove a category",
    role: "staff",
    params: { categoryId },
    kind: "record",
    errors: ["category_not_found", "category_in_use"],
    example: {},
  },
} as const satisfies Api;
