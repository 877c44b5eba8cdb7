import { EventName, StoreEvent, StoreEvents } from "./event-shapes.ts";
import { EVENT_SOURCE } from "./event-types.ts";
import type { Api } from "./route.ts";
import { array, custom, problemsOf, shown, string } from "./shape.ts";
import { paging } from "./shapes.ts";
import { dateTime } from "./times.ts";

const event = {
  specversion: "1.0",
  id: "41",
  source: EVENT_SOURCE,
  type: "pet.created",
  subject: "pets/7",
  time: "2026-11-15T09:30:00.000Z",
  datacontenttype: "application/json",
  data: { id: 7, name: "Rex", categoryId: 1, status: "available" },
};

/** Types that one question can name. */
const TYPES_IN_A_FILTER = 50;

const type = array(EventName, {
  maxItems: TYPES_IN_A_FILTER,
  description: "Only events of these types; may be repeated.",
}).optional();

const eventId = /^\d{1,16}$/;
/** Where somebody stands in the log; 0 is before its first event. */
const position = string({ pattern: eventId.source }, (value) =>
  eventId.test(value) && Number.isSafeInteger(Number(value))
    ? []
    : [`must be the id of an event, got ${shown(value)}`],
);

/** A time, or the word for the present one. */
const since = custom<string>(
  (value) => {
    const [problem] = value === "now" ? [] : problemsOf(dateTime, value);
    return problem?.message.replace("must be", "must be now, or");
  },
  { anyOf: [dateTime.schema, { type: "string", enum: ["now"] }] },
);

export const events = {
  list: {
    at: "GET /events",
    summary: "List events",
    description:
      "What happened in the store, oldest first. Customers see the catalogue's events and those of their own client, staff all. The link `monitor` is always there: it leads to what happens after this page.",
    role: "customer",
    query: {
      type,
      after: position
        .described("Only events after the one with this id: the last that you have dealt with.")
        .optional(),
      since: since
        .described(
          "Where to start: a time (RFC 3339), or `now`. Nothing from then on is left out; some that are up to a minute older may come first.",
        )
        .optional(),
      ...paging,
    },
    returns: StoreEvents,
    kind: "list",
    errors: ["events_expired"],
    stability: "beta",
    example: { returns: [event] },
  },
  stream: {
    at: "GET /events/stream",
    summary: "Stream events",
    description:
      "Server-sent events: `id` is the event's, `event` its type, `data` the event as `GET /events` gives it. Without a last id it starts now. It costs one request, however long it lasts, and ends when its key may no longer ask or the server stops: connect again with the last id, as browsers do by themselves.",
    role: "customer",
    query: {
      type,
      lastEventId: position
        .described("As the header `Last-Event-ID`, for those who cannot send it; the header goes before.")
        .optional(),
    },
    returns: StoreEvent,
    kind: "stream",
    errors: ["events_expired", "too_many_streams"],
    stability: "beta",
    example: { returns: event },
  },
} as const satisfies Api;
