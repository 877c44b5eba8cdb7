import type { Api } from "./route.ts";
import { array, oneOf } from "./shape.ts";
import {
  givenId,
  IDS_IN_A_FILTER,
  NewPet,
  NewPets,
  name,
  Pet,
  PetReplacement,
  PetStatus,
  Pets,
  PetUpdate,
  paging,
} from "./shapes.ts";

const rex = { id: 7, name: "Rex", categoryId: 1, status: "available" };
const petId = givenId.described("The pet's id.");

export const pets = {
  list: {
    at: "GET /pets",
    summary: "List pets",
    description:
      "With a `name` filter the pets come in the order of their names; otherwise in the order of `sort`.",
    role: "customer",
    query: {
      id: array(givenId, {
        maxItems: IDS_IN_A_FILTER,
        description: "Only these pets; may be repeated.",
      }).optional(),
      status: array(PetStatus, {
        maxItems: 3,
        description: "Only pets of these statuses; may be repeated.",
      }).optional(),
      categoryId: givenId.described("Only pets of this category.").optional(),
      name: name.described("Only pets whose name starts so, in any case.").optional(),
      sort: oneOf(["id", "-id", "name", "-name"], {
        description: "The order; `-` is downward. `id` by default, `name` with a `name` filter.",
      }).optional(),
      ...paging,
    },
    returns: Pets,
    kind: "list",
    errors: [],
    example: { returns: [rex, { id: 8, name: "Tom", categoryId: 2, status: "pending" }] },
  },
  create: {
    at: "POST /pets",
    summary: "Create a pet",
    description:
      "A new pet is one animal: its stock is 1 (0 if it is created `sold`). Created `pending`, it is held.",
    role: "staff",
    body: NewPet,
    returns: Pet,
    location: "/store/pets/{id}",
    kind: "record",
    errors: ["unknown_category"],
    example: { body: { name: "Rex", categoryId: 1 }, returns: rex },
  },
  createMany: {
    at: "POST /pets/batch",
    summary: "Create many pets",
    description: "1 to 1,000 pets, all or none of them.",
    role: "staff",
    body: NewPets,
    large: true,
    returns: Pets,
    status: 201,
    kind: "plain",
    errors: ["unknown_category"],
    stability: "experimental",
    example: { body: [{ name: "Rex", categoryId: 1 }], returns: [rex] },
  },
  get: {
    at: "GET /pets/{petId}",
    summary: "Get a pet (deprecated)",
    description: "Use `GET /store/pets/{petId}`, which also gives the category and the stock.",
    role: "customer",
    params: { petId },
    returns: Pet,
    kind: "record",
    errors: ["pet_not_found"],
    successor: "store.pet",
    example: { returns: rex },
  },
  replace: {
    at: "PUT /pets/{petId}",
    summary: "Replace a pet",
    description:
      "Without `status` the pet keeps its own. `If-Match` takes the ETag of either representation of the pet.",
    role: "staff",
    params: { petId },
    body: PetReplacement,
    returns: Pet,
    kind: "record",
    errors: ["pet_not_found", "unknown_category", "invalid_status_transition", "pet_has_open_orders"],
    example: {
      body: { name: "Rex", categoryId: 1, status: "pending" },
      returns: { ...rex, status: "pending" },
    },
  },
  update: {
    at: "PATCH /pets/{petId}",
    summary: "Change a pet",
    description: "A JSON merge patch. `If-Match` takes the ETag of either representation of the pet.",
    role: "staff",
    params: { petId },
    body: PetUpdate,
    returns: Pet,
    kind: "record",
    errors: ["pet_not_found", "unknown_category", "invalid_status_transition", "pet_has_open_orders"],
    example: { body: { name: "Rexy" }, returns: { ...rex, name: "Rexy" } },
  },
  remove: {
    at: "DELETE /pets/{petId}",
    summary: "Remove a pet",
    description: "Completed orders keep the pet's id, and its movements stay in the ledger.",
    role: "staff",
    params: { petId },
    kind: "record",
    errors: ["pet_not_found", "pet_has_open_orders"],
    example: {},
  },
} as const satisfies Api;
