import type { Api } from "./route.ts";
import { givenId, StorePet } from "./shapes.ts";

export const store = {
  pet: {
    at: "GET /store/pets/{petId}",
    summary: "Get a pet with its category and stock",
    role: "customer",
    params: { petId: givenId.described("The pet's id.") },
    returns: StorePet,
    kind: "record",
    errors: ["pet_not_found"],
    example: {
      returns: {
        id: 7,
        name: "Rex",
        categoryId: 1,
        status: "available",
        category: { id: 1, name: "Dogs" },
        quantity: 3,
      },
    },
  },
} as const satisfies Api;
