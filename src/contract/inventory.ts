import type { Api } from "./route.ts";
import { array } from "./shape.ts";
import {
  givenId,
  InventoryItem,
  InventoryItems,
  InventoryUpdate,
  lowStockFilter,
  Movements,
  PetStatus,
  paging,
} from "./shapes.ts";

const item = { petId: 7, quantity: 3, status: "available" };
const petId = givenId.described("The pet's id.");

export const inventory = {
  list: {
    at: "GET /store/inventory",
    summary: "List stock",
    description:
      "With `maxQuantity`, which is for stock that runs low, the entries come lowest first; otherwise in the order of their pets' ids.",
    role: "customer",
    query: {
      status: array(PetStatus, {
        maxItems: 3,
        description: "Only entries of these statuses; may be repeated.",
      }).optional(),
      maxQuantity: lowStockFilter.described("Only entries with at most this stock.").optional(),
      ...paging,
    },
    returns: InventoryItems,
    kind: "list",
    errors: [],
    example: { returns: [item] },
  },
  get: {
    at: "GET /store/inventory/{petId}",
    summary: "Get the stock of a pet",
    role: "customer",
    params: { petId },
    returns: InventoryItem,
    kind: "record",
    errors: ["pet_not_found"],
    example: { returns: item },
  },
  set: {
    at: "PUT /store/inventory/{petId}",
    summary: "Set the stock of a pet",
    description:
      "Stock is what can be ordered now; units in open orders are not part of it. 0 makes the pet `sold`, or `pending` while orders are open; stock that rises from 0 makes it `available`.",
    role: "staff",
    params: { petId },
    body: InventoryUpdate,
    returns: InventoryItem,
    kind: "record",
    errors: ["pet_not_found"],
    example: { body: { quantity: 3 }, returns: item },
  },
  movements: {
    at: "GET /store/inventory/{petId}/movements",
    summary: "List the movements of a pet's stock",
    description: "The ledger, newest first; it outlives the pet. The changes of a pet add up to its stock.",
    role: "staff",
    params: { petId },
    query: paging,
    returns: Movements,
    kind: "list",
    errors: ["pet_not_found"],
    stability: "beta",
    example: {
      returns: [
        {
          id: 2,
          petId: 7,
          change: -2,
          balance: 1,
          reason: "ordered",
          orderId: 12,
          at: "2026-11-15T09:30:00.000Z",
        },
        { id: 1, petId: 7, change: 3, balance: 3, reason: "created", at: "2026-11-15T09:00:00.000Z" },
      ],
    },
  },
} as const satisfies Api;
