import type { DeliveryState } from "../contract/webhook-shapes.ts";
import { FAILING_MS, nextAttempt } from "./attempts.ts";
import type { WriteContext } from "./context.ts";
import { shownEvent } from "./events.ts";
import { iso } from "./iso.ts";
import type { EventRecord } from "./ports.ts";
import { signedHeaders } from "./signature.ts";
import type {
  DeliveryRecord,
  DisabledReason,
  FailureReason,
  NewDeliveryRecord,
  WebhookRecord,
} from "./webhook-ports.ts";
import { isAtWork, maySee, wants, webhookSeesAll } from "./webhook-rules.ts";

/** Deliveries after which a step ends, with all those of its last event. */
const ROWS_AT_ONCE = 2000;
const EVENTS_AT_ONCE = 500;
/** A try that has no outcome after this long counts as lost: well beyond the time that a receiver has. */
export const LEASE_MS = 60_000;
/** Of removed webhooks: what one step looks at, and drops of their deliveries. */
const REMOVED_AT_ONCE = 100;
const FORGOTTEN_AT_ONCE = 1000;
/** A step that saw a webhook before it was removed can add deliveries to it for a moment, and no longer than this. */
const LATE_MS = 10 * 60_000;

/** How many deliveries of a webhook are to be begun. */
export interface Share {
  readonly webhookId: number;
  readonly limit: number;
}

/** A try to be made: the request, signed, and which try of what it is. */
export interface Attempt {
  readonly deliveryId: number;
  readonly webhookId: number;
  readonly attempt: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came of a try; without a reason it is a success. */
export interface Attempted {
  readonly deliveryId: number;
  readonly attempt: number;
  /** Where it was made: the webhook may have got another address since. */
  readonly url: string;
  readonly reason: FailureReason | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  /** What the receiver asked for. */
  readonly retryAfterSeconds: number | null;
  /** From 0 to 1, for the jitter. */
  readonly chance: number;
}

/** What follows from the outcome of a try. */
export interface Noted {
  /** `null`: the try was not the last one any more, so nothing follows. */
  readonly state: DeliveryState | null;
  /** Why its webhook was disabled because of it. */
  readonly disabled: Unreachable | null;
}

type Unreachable = Extract<DisabledReason, "gone" | "failing">;

/** Operations that no endpoint has: the worker's. */
export const delivering = {
  /** One step of making deliveries of events: whether that was all, and for how many webhooks. */
  "delivering.fanOut": async ({ store, now }: WriteContext) => {
    const reached = await store.lockedFanOut();
    // Before the webhooks: one that is not among them was made after every event up to here.
    const last = await store.lastEvent();
    const webhooks = (await store.enabledWebhooks()).filter((each) => isAtWork(each, now));
    if (webhooks.length === 0) {
      // Their clients are suspended, or have no key that works: what happens meanwhile is not sent later.
      await store.moveFanOut(last);
      return { body: { isDone: true, webhooks: 0 } };
    }
    const first = webhooks.reduce((least, { startsAfter }) => Math.min(least, startsAfter), last);
    const after = Math.max(reached, first);
    if (after >= last) return { body: { isDone: true, webhooks: webhooks.length } };
    const events = await store.events({ after, upTo: last, limit: EVENTS_AT_ONCE });
    const audience = audienceOf(webhooks, now);
    const rows: NewDeliveryRecord[] = [];
    let position = last;
    let isDone = events.length < EVENTS_AT_ONCE;
    for (const event of events) {
      if (rows.length >= ROWS_AT_ONCE) {
        isDone = false;
        break;
      }
      for (const webhook of audience(event))
        if (event.id > webhook.startsAfter && wants(webhook, event, now))
          rows.push(deliveryOf(webhook, event, "event"));
      position = event.id;
    }
    await store.addDeliveries(rows, now);
    await store.moveFanOut(isDone ? last : position);
    return { body: { isDone, webhooks: webhooks.length } };
  },

  /** One step of sending past events to a webhook again, and whether that was all. */
  "delivering.replay": async (
    { store, now }: WriteContext,
    { webhookId }: { readonly webhookId: number },
  ) => {
    const webhook = await store.webhook(webhookId);
    if (!webhook || webhook.replayAfter === null) return { body: { isDone: true } };
    const { replayAfter: after, replayUpTo } = webhook;
    const upTo = replayUpTo as number;
    const events = await store.events({ after, upTo, limit: EVENTS_AT_ONCE });
    const wanted = isAtWork(webhook, now) ? events.filter((event) => wants(webhook, event, now)) : [];
    const isDone = events.length < EVENTS_AT_ONCE;
    const changed = await store.changeWebhook(webhook, {
      ...webhook,
      replayAfter: isDone ? null : (events.at(-1)?.id ?? upTo),
      replayUpTo: isDone ? null : upTo,
    });
    // Another instance has done this step, or somebody has changed the webhook: the next look sees how it is then.
    if (!changed) return { body: { isDone: true } };
    await store.addDeliveries(
      wanted.map((event) => deliveryOf(webhook, event, "replay")),
      now,
    );
    return { body: { isDone } };
  },

  /** Begins tries: they are this instance's until their leases end. Nothing is sent before this is committed. */
  "delivering.claim": async (
    { store, now }: WriteContext,
    { shares }: { readonly shares: readonly Share[] },
  ) => {
    const attempts: Attempt[] = [];
    for (const { webhookId, limit } of shares) {
      const webhook = await store.webhook(webhookId);
      if (!webhook || !isAtWork(webhook, now)) continue;
      for (const delivery of await store.takeDeliveries(webhookId, now, now + LEASE_MS, limit)) {
        if (maySee(webhook, { clientId: delivery.aboutClientId }, now))
          attempts.push(attemptOf(webhook, delivery, now));
        else await store.noteDelivery({ ...unsent, id: delivery.id, attempt: delivery.attempts });
      }
    }
    return { body: attempts };
  },

  /** Notes what came of a try, and what follows from it for the delivery and its webhook. */
  "delivering.note": async (cx: WriteContext, attempted: Attempted): Promise<{ body: Noted }> => {
    const { store, now } = cx;
    const { deliveryId: id, attempt, url, reason, chance, retryAfterSeconds, ...response } = attempted;
    const before = await store.delivery(id);
    const isPing = before?.cause === "ping";
    const webhook = before && !isPing ? await store.webhook(before.webhookId) : null;
    // It has another address by now, of which this says nothing.
    const hasMoved = webhook !== null && webhook.url !== url;
    const isLast = reason === null || isPing || (reason === "gone" && !hasMoved);
    const nextAt = isLast ? null : nextAttempt(attempt, now, chance, retryAfterSeconds);
    const state = reason === null ? "delivered" : nextAt === null ? "failed" : "pending";
    const { durationMs, responseStatus, responseBody } = response;
    const noted = await store.noteDelivery({
      id,
      attempt,
      state,
      nextAt,
      reason,
      responseStatus,
      responseBody,
      durationMs,
    });
    const disabled = noted && webhook && !hasMoved ? await judge(cx, webhook, reason) : null;
    return { body: { state: noted && state, disabled } };
  },

  /** Drops some deliveries that are no longer kept; whether that was all. */
  "delivering.forget": async ({ store }: WriteContext, { before }: { readonly before: number }) => ({
    body: { isDone: !(await store.forgetDeliveries(before)) },
  }),

  /** Drops some deliveries of removed webhooks with an id above this one; behind which to go on, `null` if that was all. */
  "delivering.forgetRemoved": async (
    { store, now }: WriteContext,
    { after }: { readonly after: number },
  ): Promise<{ body: { after: number | null } }> => {
    const removed = await store.removedWebhooks(after, REMOVED_AT_ONCE);
    let room = FORGOTTEN_AT_ONCE;
    let reached = after;
    for (const { id, removedAt } of removed) {
      room -= await store.forgetDeliveriesOf(id, room);
      if (room === 0) return { body: { after: reached } };
      if (removedAt <= now - LATE_MS) await store.forgetRemovedWebhook(id);
      reached = id;
    }
    return { body: { after: removed.length < REMOVED_AT_ONCE ? null : reached } };
  },
};

const unsent = {
  state: "failed",
  nextAt: null,
  reason: "not_permitted",
  responseStatus: null,
  responseBody: null,
  durationMs: null,
} as const;

/** Who may be told of an event, without asking every webhook of every client. */
function audienceOf(
  webhooks: readonly WebhookRecord[],
  now: number,
): (event: EventRecord) => readonly WebhookRecord[] {
  const byClient = Map.groupBy(webhooks, ({ clientId }) => clientId);
  const ofAll = webhooks.filter((webhook) => webhookSeesAll(webhook, now));
  return ({ clientId }) => {
    if (clientId === null) return webhooks;
    const others = ofAll.filter((webhook) => webhook.clientId !== clientId);
    return [...(byClient.get(clientId) ?? []), ...others];
  };
}

function deliveryOf(
  webhook: WebhookRecord,
  event: EventRecord,
  cause: "event" | "replay",
): NewDeliveryRecord {
  return {
    webhookId: webhook.id,
    eventId: cause === "event" ? event.id : null,
    messageId: String(event.id),
    type: event.type,
    aboutClientId: event.clientId,
    body: JSON.stringify(shownEvent(event)),
    cause,
  };
}

function attemptOf(webhook: WebhookRecord, delivery: DeliveryRecord, now: number): Attempt {
  const { id: deliveryId, webhookId, attempts: attempt, messageId, body } = delivery;
  const { url, secret, previousSecret, previousSecretUntil } = webhook;
  const isOverlapping = previousSecret !== null && (previousSecretUntil ?? 0) > now;
  const secrets = isOverlapping ? [secret, previousSecret] : [secret];
  return { deliveryId, webhookId, attempt, url, body, headers: signedHeaders(messageId, now, body, secrets) };
}

/** A success clears the webhook; a failure after five days of them disables it, and so does a receiver that is gone. */
async function judge(
  cx: WriteContext,
  webhook: WebhookRecord,
  reason: FailureReason | null,
): Promise<Unreachable | null> {
  const { failingSince } = webhook;
  if (reason === null) {
    if (failingSince !== null) await cx.store.noteFailing(webhook, null);
  } else if (reason === "gone") return disable(cx, webhook, "gone");
  else if (failingSince === null) await cx.store.noteFailing(webhook, cx.now);
  else if (cx.now - failingSince >= FAILING_MS) return disable(cx, webhook, "failing");
  return null;
}

async function disable(
  cx: WriteContext,
  webhook: WebhookRecord,
  reason: Unreachable,
): Promise<Unreachable | null> {
  if (!(await cx.store.disableWebhook(webhook, reason))) return null;
  const { id, clientId, failingSince } = webhook;
  const since = iso(failingSince ?? cx.now);
  const data = { webhookId: id, clientId, reason, failingSince: since };
  cx.emit("webhook.disabled", `webhooks/${id}`, data, clientId);
  return reason;
}
