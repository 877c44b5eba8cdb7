import { Role } from "./access-shapes.ts";
import { SECRET_OVERLAP_HOURS, WEBHOOK_URL_CHARACTERS } from "./bounds.ts";
import { eventTypes } from "./event-types.ts";
import { array, boolean, int, object, oneOf, partial, string, type Value } from "./shape.ts";
import { givenId, id, text } from "./shapes.ts";
import { dateTime, moment } from "./times.ts";

const DESCRIPTION_CHARACTERS = 500;

const types = array(oneOf(eventTypes), {
  minItems: 1,
  maxItems: eventTypes.length,
  description: "Only events of these types; without it, all that the webhook may see.",
});
const description = text(DESCRIPTION_CHARACTERS, false).described("What the webhook is for.");

const fields = {
  url: string(
    {
      format: "uri",
      maxLength: WEBHOOK_URL_CHARACTERS,
      description:
        "Where events are sent: https, on a public address, without user name, password and fragment.",
    },
    urlProblems,
  ),
  types: types.optional(),
  description: description.optional(),
};

export const NewWebhook = object(fields, { id: "NewWebhook", description: "What creates a webhook." });

export const WebhookUpdate = object(
  partial({
    id: givenId,
    url: fields.url,
    types: types.nullable(),
    description: description.nullable(),
    enabled: boolean({
      description:
        "`false` sends nothing more; `true` sends what still waits, and then what happens from now on.",
    }),
  }),
  {
    id: "WebhookUpdate",
    description:
      "The fields of a webhook to change; `null` clears the types or the description. An `id` must be the path's.",
  },
);
export type WebhookUpdate = Value<typeof WebhookUpdate>;

const shown = {
  id,
  ...fields,
  enabled: boolean({ description: "Whether events are sent." }),
  disabledReason: oneOf(["asked", "gone", "failing", "operator"], {
    description:
      "Why it is not enabled: the client asked for it, the receiver answered 410, nothing was delivered for 5 days, or the operator disabled it, and then only the operator enables it again.",
  }).optional(),
  failingSince: moment.described("When the first try failed since the last success.").optional(),
  role: Role,
  sees: oneOf(["own", "all"], {
    description:
      "`own`: the catalogue, and the client's own orders, keys, quota and webhooks. `all`: every event, while the key in `keyId` works and is staff's.",
  }),
  keyId: id.described("The client's key that made it or changed it last."),
  previousSecretUntil: moment
    .described("Until then deliveries are signed with the previous secret as well.")
    .optional(),
  replaying: boolean({ description: "Whether past events are being sent again." }),
  createdAt: moment,
};

export const Webhook = object(shown, {
  id: "Webhook",
  description: "An address that events are sent to, without its secret.",
});
export type Webhook = Value<typeof Webhook>;
export const Webhooks = array(Webhook, { id: "Webhooks", description: "A page of webhooks." });

export const AdminWebhook = object(
  { ...shown, clientId: id.described("The client that it belongs to.") },
  { id: "AdminWebhook", description: "A webhook of any client, without its secret." },
);
export type AdminWebhook = Value<typeof AdminWebhook>;
export const AdminWebhooks = array(AdminWebhook, {
  id: "AdminWebhooks",
  description: "A page of the webhooks of all clients.",
});

export const AdminWebhookUpdate = object(
  partial({
    id: givenId,
    enabled: boolean({
      description:
        "`false` sends nothing more, and the client cannot enable it; `true` sends what still waits, and then what happens from now on.",
    }),
  }),
  {
    id: "AdminWebhookUpdate",
    description: "What an operator can change of a client's webhook. An `id` must be the path's.",
  },
);

export const CreatedWebhook = object(
  {
    ...shown,
    secret: string({
      description:
        "What deliveries are signed with, `whsec_` and base64, shown this once; a replayed answer leaves it out.",
    }).optional(),
  },
  { id: "CreatedWebhook", description: "A webhook with its new secret." },
);

export const SecretRotation = object(
  {
    overlapHours: int({
      minimum: 0,
      maximum: SECRET_OVERLAP_HOURS,
      description: "How long deliveries are signed with the old secret as well, in hours.",
    }).default(24),
  },
  { id: "SecretRotation", description: "What replaces the secret of a webhook by a new one." },
);

export const NewReplay = object(
  { since: dateTime.described("Events from this time on are sent again.") },
  { id: "NewReplay", description: "What sends past events again." },
);

export const DeliveryState = oneOf(["pending", "delivered", "failed"], {
  id: "DeliveryState",
  description:
    "`pending` waits for its first or next try, `delivered` was answered 2xx, `failed` is given up.",
});
export type DeliveryState = Value<typeof DeliveryState>;

export const failureReasons = [
  "timeout",
  "dns",
  "private_address",
  "connection_refused",
  "connection_reset",
  "connection_failed",
  "tls",
  "invalid_response",
  "redirect",
  "gone",
  "status_4xx",
  "status_5xx",
  "not_permitted",
] as const;

export const Delivery = object(
  {
    id,
    webhookId: id.described("The webhook's id."),
    messageId: string({ description: "The event's id, and the header `webhook-id`: the same in every try." }),
    type: string({ description: "The event's type; `webhook.ping` of a ping." }),
    cause: oneOf(["event", "resend", "replay", "ping"], { description: "Why it is sent." }),
    state: DeliveryState,
    attempts: int({ minimum: 0, description: "Tries that were begun." }),
    createdAt: moment,
    attemptedAt: moment.described("When the last try began.").optional(),
    nextAttemptAt: moment
      .described("When it is tried next; of a try under way, when it counts as lost.")
      .optional(),
    requestBody: string({ description: "What is sent: the event as JSON." }),
    reason: oneOf(failureReasons, {
      description: "Why the last try failed. `not_permitted`: the webhook may not see the event any more.",
    }).optional(),
    responseStatus: int({
      description: "The status that the receiver answered the last try with.",
    }).optional(),
    responseBody: string({ description: "The first 1,000 characters of its body." }).optional(),
    durationMs: int({ minimum: 0, description: "How long the last try took." }).optional(),
  },
  { id: "Delivery", description: "One event on its way to one webhook, with the outcome of the last try." },
);
export type Delivery = Value<typeof Delivery>;
export const Deliveries = array(Delivery, {
  id: "Deliveries",
  description: "A page of deliveries, newest first.",
});

export const webhookIds = {
  webhookId: givenId.described("The webhook's id."),
  deliveryId: givenId.described("The delivery's id."),
};

/** What is wrong with an address whoever asks; whether it is public is a rule of the core. */
function* urlProblems(value: string): Generator<string> {
  if (value.length > WEBHOOK_URL_CHARACTERS)
    yield `must have at most ${WEBHOOK_URL_CHARACTERS} characters, has ${value.length}`;
  else if (!URL.canParse(value) || !/^https?:\/\//i.test(value))
    yield "must be a whole address such as https://shop.example/events";
  // Those who read addresses leave them out: it would look like another.
  else if (/[\s\p{C}]/u.test(value)) yield "must not hold blanks or characters that nobody sees";
}
