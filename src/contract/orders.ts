import type { Api } from "./route.ts";
import { boolean, oneOf } from "./shape.ts";
import { givenId, NewOrder, Order, Orders, OrderUpdate, paging } from "./shapes.ts";
import { dateTime } from "./times.ts";

const order = { id: 12, petId: 7, quantity: 2, shipDate: "2026-11-30T12:00:00.000Z", complete: false };
const orderId = givenId.described("The order's id.");
const stockRules = ["unknown_pet", "pet_not_available", "insufficient_stock", "order_is_draft"] as const;

export const orders = {
  list: {
    at: "GET /store/orders",
    summary: "List orders",
    description:
      "A customer sees the orders of its own client, staff see all. With `shippedAfter` or `shippedBefore` they come in the order of their ship dates, otherwise of their ids.",
    role: "customer",
    query: {
      petId: givenId.described("Only orders of this pet.").optional(),
      complete: boolean({ description: "Only completed, or only open, orders." }).optional(),
      shippedAfter: dateTime.described("Only orders with a ship date at or after this time.").optional(),
      shippedBefore: dateTime.described("Only orders with a ship date before this time.").optional(),
      sort: oneOf(["id", "-id", "shipDate", "-shipDate"], {
        description: "The order; `-` is downward. `id` by default, `shipDate` with a filter of ship dates.",
      }).optional(),
      ...paging,
    },
    returns: Orders,
    kind: "list",
    errors: [],
    example: { returns: [order] },
  },
  place: {
    at: "POST /store/orders",
    summary: "Place an order",
    description:
      "Takes the units from stock at once. Without `petId` the order is a draft and holds nothing. With `complete: true` it is a sale over the counter.",
    role: "customer",
    body: NewOrder,
    returns: Order,
    location: "/store/orders/{id}",
    kind: "record",
    errors: stockRules,
    example: { body: { petId: 7, quantity: 2, shipDate: order.shipDate }, returns: order },
  },
  get: {
    at: "GET /store/orders/{orderId}",
    summary: "Get an order",
    role: "customer",
    params: { orderId },
    returns: Order,
    kind: "record",
    errors: ["order_not_found"],
    example: { returns: order },
  },
  update: {
    at: "PATCH /store/orders/{orderId}",
    summary: "Change or complete an order",
    description:
      "A JSON merge patch. More units are taken from stock, fewer go back; another pet exchanges both; `petId: null` makes a draft; `complete: true` completes, and sets `shipDate` to now unless one is given.",
    role: "customer",
    params: { orderId },
    body: OrderUpdate,
    returns: Order,
    kind: "record",
    errors: ["order_not_found", "order_complete", ...stockRules],
    example: { body: { complete: true }, returns: { ...order, complete: true } },
  },
  cancel: {
    at: "DELETE /store/orders/{orderId}",
    summary: "Cancel an order",
    description: "The units go back to stock and the record is gone.",
    role: "customer",
    params: { orderId },
    kind: "record",
    errors: ["order_not_found", "order_complete"],
    example: {},
  },
} as const satisfies Api;
