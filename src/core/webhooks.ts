import type { PetstoreApi } from "../contract/api.ts";
import { WEBHOOKS_OF_A_CLIENT } from "../contract/bounds.ts";
import { EVENT_SOURCE } from "../contract/event-types.ts";
import { roles } from "../contract/route.ts";
import type { WebhookUpdate } from "../contract/webhook-shapes.ts";
import { type Operations, requireMatch, requireSameId, type WriteContext } from "./context.ts";
import { deliveries, shownDelivery } from "./deliveries.ts";
import { OUT_OF_ORDER_MS } from "./events.ts";
import { Conflict, fail } from "./failure.ts";
import { iso } from "./iso.ts";
import { refuseRemoved } from "./key-refusal.ts";
import { isWithin } from "./keys.ts";
import { ownWebhook, requireEnabled, requireNoDisabledHost, requireOwnSay } from "./own-webhooks.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import { shownWebhook, tagged } from "./shown-webhooks.ts";
import { secretFrom } from "./signature.ts";
import { webhookTag } from "./tags.ts";
import { change, switched } from "./webhook-changes.ts";
import type { WebhookChange, WebhookRecord } from "./webhook-ports.ts";
import { requireSendable } from "./webhook-rules.ts";

const HOUR_MS = 60 * 60 * 1000;

export const webhooks: Operations<PetstoreApi["webhooks"]> = {
  async list(cx, { limit, cursor }) {
    const { clientId, role } = cx.caller;
    const list = `webhooks/${clientId}`;
    const after = readCursor(cursor, list, "id", "number");
    const shownRoles = roles.filter((each) => isWithin(each, role));
    const query = { clientId, roles: shownRoles, descending: false, after, limit: limit + 1 } as const;
    const records = await cx.store.webhooks(query);
    const shown = (webhook: WebhookRecord) => shownWebhook(webhook, cx.now);
    return pageOf(records, limit, shown, (last) => cursorAfter(list, "id", { key: last.id, id: last.id }));
  },

  async create(cx, { body }) {
    const { url, types, description = null } = body;
    const { clientId, keyId, role } = cx.caller;
    requireSendable(url, cx.rules.webhooks.allowPrivate);
    // Two at once could both find room for one.
    if (!(await cx.store.lockedClient(clientId))) refuseRemoved();
    await requireNoDisabledHost(cx, url);
    if ((await cx.store.countWebhooks(clientId)) >= WEBHOOKS_OF_A_CLIENT) {
      fail(
        "too_many_webhooks",
        `The client has ${WEBHOOKS_OF_A_CLIENT} webhooks, the most that it may have. Remove one first.`,
      );
    }
    const secret = secretFrom(cx.random());
    const startsAfter = await cx.store.lastEvent();
    const webhook = await cx.store.addWebhook(
      { clientId, keyId, role, url, types: wanted(types), description, secret, startsAfter },
      cx.now,
    );
    cx.trail(`webhooks/${webhook.id}`, { body: withoutQuery(body) });
    return { ...tagged(webhook, cx.now), secret: { secret } };
  },

  async get(cx, { webhookId }) {
    return tagged(await ownWebhook(cx, webhookId), cx.now);
  },

  async update(cx, { webhookId, body }) {
    const before = await ownWebhook(cx, webhookId);
    requireMatch(cx, webhookTag(before, cx.now));
    requireSameId(body.id, webhookId);
    requireOwnSay(before);
    if (body.url !== undefined) {
      requireSendable(body.url, cx.rules.webhooks.allowPrivate);
      await requireNoDisabledHost(cx, body.url);
    }
    const webhook = await change(cx, before, await changed(cx, before, body));
    if (webhook !== before) cx.trail(`webhooks/${webhook.id}`, { webhookId, body: withoutQuery(body) });
    return tagged(webhook, cx.now);
  },

  async remove(cx, { webhookId }) {
    const webhook = await ownWebhook(cx, webhookId);
    requireMatch(cx, webhookTag(webhook, cx.now));
    requireOwnSay(webhook);
    if (!(await cx.store.removeWebhook(webhook.id, cx.now))) throw new Conflict();
    cx.trail(`webhooks/${webhook.id}`, { webhookId });
    return { body: undefined };
  },

  async rotate(cx, { webhookId, body: { overlapHours } }) {
    const before = await ownWebhook(cx, webhookId);
    const secret = secretFrom(cx.random());
    const webhook = await change(cx, before, {
      ...before,
      secret,
      previousSecret: overlapHours === 0 ? null : before.secret,
      previousSecretUntil: overlapHours === 0 ? null : cx.now + overlapHours * HOUR_MS,
    });
    cx.trail(`webhooks/${webhook.id}`, { webhookId, body: { overlapHours } });
    return { body: shownWebhook(webhook, cx.now), secret: { secret } };
  },

  async ping(cx, { webhookId }) {
    const { id, clientId } = requireEnabled(await ownWebhook(cx, webhookId));
    const event = pingEvent(id, cx);
    const ping = await cx.store.addDelivery(
      {
        webhookId: id,
        eventId: null,
        messageId: event.id,
        type: event.type,
        aboutClientId: clientId,
        body: JSON.stringify(event),
        cause: "ping",
      },
      cx.now,
    );
    return { body: shownDelivery(ping) };
  },

  async replay(cx, { webhookId, body: { since } }) {
    const before = requireEnabled(await ownWebhook(cx, webhookId));
    const replayUpTo = await cx.store.lastEvent();
    const asked = await cx.store.lastEventBefore(Date.parse(since) - OUT_OF_ORDER_MS, replayUpTo);
    const replayAfter = Math.min(asked, before.replayAfter ?? asked);
    const isNone = replayAfter >= replayUpTo;
    const webhook = isNone ? before : await change(cx, before, { ...before, replayAfter, replayUpTo });
    return { body: shownWebhook(webhook, cx.now) };
  },

  deliveries,
};

/** It acts for the key that changes it. */
async function changed(
  { store, caller }: WriteContext,
  before: WebhookRecord,
  {
    url = before.url,
    types,
    description = before.description,
    enabled = before.disabledReason === null,
  }: WebhookUpdate,
): Promise<WebhookChange> {
  return {
    ...before,
    keyId: caller.keyId,
    url,
    types: types === undefined ? before.types : wanted(types),
    description,
    failingSince: url === before.url ? before.failingSince : null,
    ...(await switched(store, before, enabled ? null : (before.disabledReason ?? "asked"))),
  };
}

/** What the trail tells of an address: receivers take tokens in queries, and the trail is kept for ever. */
function withoutQuery<T extends { readonly url?: string | undefined }>(body: T): T {
  return body.url === undefined ? body : { ...body, url: body.url.replace(/\?.*$/s, "?...") };
}

/** An event that is not in the log: only this webhook is told of it. */
function pingEvent(webhookId: number, { now, random }: WriteContext) {
  return {
    specversion: "1.0",
    id: `ping_${Buffer.from(random()).toString("hex").slice(0, 16)}`,
    source: EVENT_SOURCE,
    type: "webhook.ping",
    subject: `webhooks/${webhookId}`,
    time: iso(now),
    datacontenttype: "application/json",
    data: { webhookId },
  };
}

function wanted(types: readonly string[] | null | undefined): readonly string[] | null {
  return types ? [...new Set(types)] : null;
}
