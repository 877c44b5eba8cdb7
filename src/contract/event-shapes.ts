import { clientEvents, EVENT_SOURCE, type EventType, eventTypes } from "./event-types.ts";
import { array, int, object, oneOf, type Shape, string, union, type Value } from "./shape.ts";
import { Category, InventoryItem, id, Order, Pet, PetStatus } from "./shapes.ts";
import { moment } from "./times.ts";

const PetStatusChange = object(
  { ...Pet.fields, previousStatus: PetStatus },
  { id: "PetStatusChange", description: "A pet as it is now, and the status that it had." },
);

const StockChange = object(
  {
    ...InventoryItem.fields,
    change: int({ format: "int64", description: "Units added, or taken if negative." }),
  },
  { id: "StockChange", description: "The stock of a pet after a change, and the change." },
);

const clientId = id.described("The client's id.");
const keyId = id.described("The key's id.");

const QuotaWarning = object(
  {
    clientId,
    limit: int({ minimum: 1, description: "Requests that the client may send in a UTC day." }),
    used: int({ minimum: 0, description: "Requests that are spent." }),
    resetAt: int({ minimum: 0, description: "When the day ends, in Unix seconds." }),
  },
  { id: "QuotaWarning", description: "A client has spent most of its day's requests." },
);

const StrikeWarning = object(
  {
    keyId,
    clientId,
    strikes: int({ minimum: 1, description: "Strikes that count now." }),
    threshold: int({ minimum: 1, description: "The strike that bans the key." }),
  },
  { id: "StrikeWarning", description: "A key has half of the strikes that ban it." },
);

const KeyBan = object(
  {
    keyId,
    clientId,
    cause: oneOf(["strikes", "admin"], { description: "Whether strikes or an admin banned it." }),
    level: int({ minimum: 0, description: "How many bans were earned before, lately." }),
    until: moment.described("When the ban ends."),
  },
  { id: "KeyBan", description: "A key is refused for a time." },
);

const KeyUnban = object(
  { keyId, clientId },
  { id: "KeyUnban", description: "A key's ban was lifted before its end." },
);

const WebhookDisabled = object(
  {
    webhookId: id.described("The webhook's id."),
    clientId,
    reason: oneOf(["gone", "failing", "operator"], {
      description:
        "The receiver answered 410, nothing was delivered for 5 days, or the operator disabled it.",
    }),
    failingSince: moment
      .described("When the first try failed since the last success; of an operator's only if it failed.")
      .optional(),
  },
  { id: "WebhookDisabled", description: "Events are no longer sent to a webhook." },
);

/** What the data of each event is; an event commits with the change that it tells of. */
export const eventData = {
  "pet.created": Pet,
  "pet.updated": Pet,
  "pet.status_changed": PetStatusChange,
  "pet.deleted": Pet,
  "category.created": Category,
  "category.updated": Category,
  "category.deleted": Category,
  "inventory.changed": StockChange,
  "inventory.depleted": InventoryItem,
  "order.placed": Order,
  "order.updated": Order,
  "order.completed": Order,
  "order.cancelled": Order,
  "quota.warning": QuotaWarning,
  "key.strike_warning": StrikeWarning,
  "key.banned": KeyBan,
  "key.unbanned": KeyUnban,
  "webhook.disabled": WebhookDisabled,
} as const satisfies Record<EventType, Shape<unknown>>;

export type EventData = { readonly [T in EventType]: Value<(typeof eventData)[T]> };

export const EventName = oneOf(eventTypes, { id: "EventType", description: "What happened." });

const ofAClient = new Set<EventType>(clientEvents);

/** An event of one type in the form of CloudEvents 1.0. */
function eventShape<T extends EventType>(type: T) {
  const fields = {
    specversion: oneOf(["1.0"], { description: "The version of CloudEvents." }),
    id: string({ description: "The event's number in the log, as `after` and `Last-Event-ID` take it." }),
    source: oneOf([EVENT_SOURCE], { description: "Where it comes from; with the id it names the event." }),
    type: oneOf([type], { description: "What happened." }),
    subject: string({ description: "What it happened to, such as `pets/7`." }),
    time: moment.described("When it happened."),
    datacontenttype: oneOf(["application/json"], { description: "What the data is." }),
    ...(ofAClient.has(type) && {
      clientid: string({ description: "The id of the client that it concerns." }),
    }),
    data: eventData[type] as unknown as Shape<EventData[T]>,
  };
  return object(fields, { id: componentName(type), description: `\`${type}\`.` });
}

type EventShapes = { readonly [T in EventType]: ReturnType<typeof eventShape<T>> };
const eventShapes = Object.fromEntries(eventTypes.map((type) => [type, eventShape(type)])) as EventShapes;

export const StoreEvent = union("type", eventShapes, {
  id: "StoreEvent",
  description: "Something that happened in the store, as a CloudEvent.",
});
export type StoreEvent = Value<typeof StoreEvent>;

export const StoreEvents = array(StoreEvent, {
  id: "StoreEvents",
  description: "A page of events, oldest first.",
});

/** `pet.status_changed` is `PetStatusChangedEvent`. */
function componentName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Event`;
}
