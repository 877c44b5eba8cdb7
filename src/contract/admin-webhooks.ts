import { accessIds } from "./access-shapes.ts";
import type { Api } from "./route.ts";
import { boolean } from "./shape.ts";
import { paging } from "./shapes.ts";
import {
  AdminWebhook,
  AdminWebhooks,
  AdminWebhookUpdate,
  Deliveries,
  DeliveryState,
  webhookIds,
} from "./webhook-shapes.ts";
import { exampleDelivery, exampleWebhook } from "./webhooks.ts";

const { webhookId } = webhookIds;
const { clientId } = accessIds;
const example = { ...exampleWebhook, clientId: 2 };

/** The webhooks of all clients, for operators. */
export const adminWebhooks = {
  list: {
    at: "GET /admin/webhooks",
    summary: "List the webhooks of all clients",
    role: "admin",
    query: {
      clientId: clientId.described("Only webhooks of this client.").optional(),
      enabled: boolean({ description: "Only webhooks that are enabled, or that are not." }).optional(),
      ...paging,
    },
    returns: AdminWebhooks,
    kind: "list",
    errors: [],
    stability: "beta",
    example: { returns: [example] },
  },
  get: {
    at: "GET /admin/webhooks/{webhookId}",
    summary: "Get a webhook of any client",
    role: "admin",
    params: { webhookId },
    returns: AdminWebhook,
    kind: "record",
    errors: ["webhook_not_found"],
    stability: "beta",
    example: { returns: example },
  },
  update: {
    at: "PATCH /admin/webhooks/{webhookId}",
    summary: "Disable or enable a webhook of any client",
    description:
      "What an operator has disabled the client can neither enable, change nor remove, and it can point no other webhook to the same host; those that lead there already go on. The client is told by the event `webhook.disabled`. Whatever disabled it, `true` enables it. It goes on acting for the client's key.",
    role: "admin",
    params: { webhookId },
    body: AdminWebhookUpdate,
    returns: AdminWebhook,
    kind: "record",
    errors: ["webhook_not_found"],
    stability: "beta",
    example: {
      body: { enabled: false },
      returns: { ...example, enabled: false, disabledReason: "operator" },
    },
  },
  deliveries: {
    list: {
      at: "GET /admin/webhooks/{webhookId}/deliveries",
      summary: "List the deliveries of a webhook of any client",
      description: "Newest first, for as long as they are kept, with what was sent.",
      role: "admin",
      params: { webhookId },
      query: { state: DeliveryState.described("Only deliveries in this state.").optional(), ...paging },
      returns: Deliveries,
      kind: "list",
      errors: ["webhook_not_found"],
      stability: "beta",
      example: { returns: [exampleDelivery] },
    },
  },
} as const satisfies Api;
