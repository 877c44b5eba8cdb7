import type { StoreEvent } from "./api.ts";
import { WebhookError } from "./errors.ts";

/** Every type of event. */
export type EventType = StoreEvent["type"];

/** A ping that was asked for; it is in no list and no stream of events. */
export interface WebhookPing extends Omit<StoreEvent, "type" | "clientid" | "data"> {
  type: "webhook.ping";
  data: { webhookId: number };
}

/** What webhooks are sent: every event, by its type, and the ping. An `id` is the same in every delivery: what was seen already can be left out. */
export type PetstoreEvent<T extends EventType | "webhook.ping" = EventType | "webhook.ping"> = Extract<
  StoreEvent | WebhookPing,
  { type: T }
>;

/** How a webhook is verified. */
export interface VerifyOptions {
  /** How far the delivery's time may be from now, either way; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** Now, in milliseconds since 1970; the clock's time by default. */
  readonly now?: number | undefined;
}

type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Proves that a webhook comes from the store and is recent (Standard Webhooks), and gives its event.
 * The body must be what arrived, byte by byte. While a secret is being replaced, give both.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: GivenHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<PetstoreEvent> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature").split(" ");
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds))
    throw new WebhookError(`The webhook's time, ${timestamp}, is more than ${toleranceSeconds} s from now.`);
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const signed = joined(encoder.encode(`${id}.${timestamp}.`), bytes);
  for (const secret of [secrets].flat()) {
    const key = await keyOf(secret);
    for (const signature of signatures) {
      const given = signature.startsWith("v1,") && bytesOf(signature.slice("v1,".length));
      if (given && (await crypto.subtle.verify("HMAC", key, given, signed))) return eventOf(bytes);
    }
  }
  throw new WebhookError("No signature of the webhook fits the secret.");
}

function eventOf(body: Uint8Array): PetstoreEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw new WebhookError("The webhook's body is not JSON.", { cause });
  }
}

const encoder = new TextEncoder();

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Names in any case, as programs hand them on. */
function headerOf(headers: GivenHeaders, name: string): string {
  const given =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (!given) throw new WebhookError(`The webhook has no header ${name}.`);
  return String(given);
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ""));
  if (!bytes?.length) throw new WebhookError("A webhook secret is whsec_ and base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
