import type { ErrorEntry } from "./errors.ts";

/** What is well asked, and not possible as things stand: the part of the table of errors with the status 409. */
export const conflicts = {
  insufficient_stock: {
    status: 409,
    cause: "The order asks for more units than are in stock.",
    remedy: "Order fewer, or have staff restock with `PUT /store/inventory/{petId}`.",
  },
  pet_not_available: {
    status: 409,
    cause: "The pet is `pending` or `sold`, so nobody can order it.",
    remedy: "Order another pet, or wait for the pet to become `available`.",
  },
  invalid_status_transition: {
    status: 409,
    cause: "The pet cannot go from its present status to the one asked for.",
    remedy: "Restock first with `PUT /store/inventory/{petId}`.",
  },
  order_complete: {
    status: 409,
    cause: "A completed order cannot be changed or cancelled.",
    remedy: "Place a new order.",
  },
  order_is_draft: {
    status: 409,
    cause: "An order without a pet cannot be completed.",
    remedy: "Give the order a `petId` first, or in the same request.",
  },
  category_in_use: {
    status: 409,
    cause: "Pets belong to the category.",
    remedy: "Move or remove its pets first.",
  },
  pet_has_open_orders: {
    status: 409,
    cause: "Open orders hold units of the pet.",
    remedy:
      "Complete or cancel its open orders first. Find ids with `GET /store/orders?petId=1&complete=false`.",
  },
  client_has_open_orders: {
    status: 409,
    cause: "The client has open orders or drafts; the message names the first of them.",
    remedy: "Complete or cancel them first.",
  },
  operator_client: {
    status: 409,
    cause:
      "The operator's own client cannot be removed, suspended, renamed or moved to another plan, and no other can have its name.",
    remedy:
      "Revoke its keys one by one instead, the command line can always make a new one; give another client another name.",
  },
  too_many_keys: {
    status: 409,
    cause: "The client has 100 keys that work.",
    remedy: "Revoke one first.",
  },
  too_many_streams: {
    status: 409,
    cause: "The client has as many streams of events as it may have at once.",
    remedy:
      "Share one stream, or end one first; one that was cut off is noticed after a while, so repeat after `Retry-After`.",
  },
  too_many_webhooks: {
    status: 409,
    cause: "The client has 20 webhooks.",
    remedy: "Remove one first.",
  },
  webhook_disabled: {
    status: 409,
    cause: "Nothing is sent to the webhook: it is disabled.",
    remedy: "Enable it first with `PATCH /webhooks/{webhookId}`.",
  },
  webhook_disabled_by_operator: {
    status: 409,
    cause: "The operator has disabled the webhook, or another one of the client that leads to the same host.",
    remedy: "Ask the operator what is wrong, and to enable it again.",
  },
  idempotency_in_progress: {
    status: 409,
    cause: "A request with the same `Idempotency-Key` is still running.",
    remedy: "Repeat the same request after `Retry-After`.",
  },
} as const satisfies Record<string, ErrorEntry>;
