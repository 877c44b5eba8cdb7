import type { Share } from "../core/delivering.ts";
import type { WebhookRecord } from "../core/webhook-ports.ts";

/** Tries under way at once, of one instance. */
export const TRIES_AT_ONCE = 100;
/** Of them those to webhooks whose last try failed: however many receivers are dead, the others have room. */
export const FAILING_TRIES_AT_ONCE = 50;
/** To all webhooks of one client: however slow its receivers are, other clients have room. */
export const TRIES_OF_A_CLIENT = 20;
/** To one webhook. */
export const TRIES_OF_A_WEBHOOK = 10;
/** To one whose last try failed: enough to find out that it is back. */
export const TRIES_OF_A_FAILING_WEBHOOK = 1;

/** How many tries are under way, and how many of them to webhooks that were failing. */
export interface UnderWay {
  readonly byWebhook: ReadonlyMap<number, number>;
  readonly byClient: ReadonlyMap<number, number>;
  readonly all: number;
  readonly failing: number;
}

/** How many deliveries of each webhook may be begun now, in the order in which they are given. */
export function sharesOf(webhooks: readonly WebhookRecord[], underWay: UnderWay): Share[] {
  const { byWebhook, all, failing } = underWay;
  const byClient = new Map(underWay.byClient);
  let room = TRIES_AT_ONCE - all;
  let failingRoom = FAILING_TRIES_AT_ONCE - failing;
  const shares: Share[] = [];
  for (const { id, clientId, failingSince } of webhooks) {
    const isFailing = failingSince !== null;
    const most = isFailing ? TRIES_OF_A_FAILING_WEBHOOK : TRIES_OF_A_WEBHOOK;
    const own = most - (byWebhook.get(id) ?? 0);
    const ofClient = byClient.get(clientId) ?? 0;
    const limit = Math.min(own, TRIES_OF_A_CLIENT - ofClient, room, isFailing ? failingRoom : room);
    if (limit <= 0) continue;
    byClient.set(clientId, ofClient + limit);
    room -= limit;
    if (isFailing) failingRoom -= limit;
    shares.push({ webhookId: id, limit });
  }
  return shares;
}
