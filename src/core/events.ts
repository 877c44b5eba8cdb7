import type { PetstoreApi } from "../contract/api.ts";
import type { StoreEvent } from "../contract/event-shapes.ts";
import { EVENT_SOURCE } from "../contract/event-types.ts";
import type { Subscription } from "../contract/route.ts";
import type { Operations, ReadContext } from "./context.ts";
import { WITHIN_A_GAP } from "./event-gap.ts";
import { fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { EventRecord } from "./ports.ts";
import { clientSeen } from "./sees.ts";

/** Events come in the order of their times but for what waits, or for clocks that differ: no longer than this. */
export const OUT_OF_ORDER_MS = 60_000;

export const events: Operations<PetstoreApi["events"]> = {
  async list(cx, { type, after, since, limit, cursor }) {
    if (after !== undefined && since !== undefined) refuseBoth();
    const position = readCursor(cursor, "events", "id", "number")?.id ?? numberOf(after);
    const upTo = await cx.store.lastEvent();
    const start = position === undefined ? await startOf(cx, since, upTo) : position;
    const records = await cx.store.events({
      after: start,
      upTo,
      types: type,
      clientId: clientSeen(cx),
      limit: limit + 1,
    });
    if (position !== undefined) await requireKept(cx, position, cursor === undefined ? "after" : "cursor");
    const page = pageOf(records, limit, shownEvent, (last) => cursorAt(last.id));
    return { ...page, monitor: page.next ?? cursorAt(Math.max(start, upTo)) };
  },

  async stream(cx, { type, lastEventId }) {
    const last = numberOf(lastEventId);
    const after = last ?? (await cx.store.lastEvent());
    if (last !== undefined) await requireKept(cx, last, "lastEventId");
    return { body: { after, types: type, clientId: clientSeen(cx) } };
  },
};

/** Whether a subscriber sees an event. */
export function isFor({ types, clientId }: Subscription, event: EventRecord): boolean {
  if (types && !types.includes(event.type)) return false;
  return clientId === undefined || event.clientId === null || event.clientId === clientId;
}

/** An event in the form of CloudEvents 1.0. */
export function shownEvent({ id, type, subject, clientId, data, at }: EventRecord): StoreEvent {
  const event = {
    specversion: "1.0",
    id: String(id),
    source: EVENT_SOURCE,
    type,
    subject,
    time: iso(at),
    datacontenttype: "application/json",
    ...(clientId !== null && { clientid: String(clientId) }),
    data: JSON.parse(data),
  };
  return event as StoreEvent;
}

/** In this order: what happens after the records were read, and before a reader begins, nobody would tell it. */
const BEGIN_ANEW =
  "Begin anew first, with since=now or a stream without a last id, and read the records after that.";

/** Refuses to go on where events are missing: behind what is no longer kept, beyond what there ever was, and where a restore has left numbers out. */
async function requireKept(cx: Pick<ReadContext, "store">, position: number, field: string): Promise<void> {
  const { forgotten, given } = await cx.store.eventBounds();
  if (position < forgotten)
    fail(
      "events_expired",
      `Events up to ${forgotten} are no longer kept, and you have read up to ${position}. ${BEGIN_ANEW}`,
    );
  if (position > given) {
    const message = `names event ${position}, but the last is ${given}; if the store was restored from a backup, begin anew first and read the records after that`;
    fail("invalid_parameter", `The parameter ${field} ${message}.`, [{ field, message }]);
  }
  if (position > forgotten && given - position > WITHIN_A_GAP && (await isInGap(cx, position)))
    fail(
      "events_expired",
      `The store was restored from a backup that is older than event ${position}, up to which you have read. ${BEGIN_ANEW}`,
    );
}

/** Whether a position is among the numbers that a restore has left out: it is no event's, and none follows soon. */
async function isInGap({ store }: Pick<ReadContext, "store">, position: number): Promise<boolean> {
  const near = await store.events({ after: position - 1, upTo: position + WITHIN_A_GAP, limit: 1 });
  return near.length === 0;
}

function startOf({ store }: ReadContext, since: string | undefined, upTo: number) {
  if (since === undefined) return 0;
  return since === "now" ? upTo : store.lastEventBefore(Date.parse(since) - OUT_OF_ORDER_MS, upTo);
}

function numberOf(id: string | undefined): number | undefined {
  return id === undefined ? undefined : Number(id);
}

function cursorAt(id: number): string {
  return cursorAfter("events", "id", { key: id, id });
}

function refuseBoth(): never {
  const message = "must not be given beside after: both say where to start";
  fail("invalid_parameter", `The parameter since ${message}.`, [{ field: "since", message }]);
}
