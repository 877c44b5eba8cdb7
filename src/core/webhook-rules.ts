import { fail } from "./failure.ts";
import { isWorking } from "./key-refusal.ts";
import { isAddress, isPublicAddress } from "./public-addresses.ts";
import { seesAll } from "./sees.ts";
import type { WebhookRecord } from "./webhook-ports.ts";

/** What of an event decides who may see it. */
interface Seen {
  readonly type: string;
  /** The client that it concerns; `null` is the catalogue. */
  readonly clientId: number | null;
}

/** Whether it sees the events of all clients: while the key that it acts for works and is staff's, and not a moment longer. */
export function webhookSeesAll(
  { role, keyRole, keyRevokedAt, keyExpiresAt }: WebhookRecord,
  now: number,
): boolean {
  const key = { revokedAt: keyRevokedAt, expiresAt: keyExpiresAt };
  return seesAll(role) && seesAll(keyRole) && isWorking(key, now);
}

/** Whether it may see an event: the catalogue's, its own client's, or any. */
export function maySee(webhook: WebhookRecord, { clientId }: Pick<Seen, "clientId">, now: number): boolean {
  return clientId === null || clientId === webhook.clientId || webhookSeesAll(webhook, now);
}

/** Whether an event is to be sent to it. */
export function wants(webhook: WebhookRecord, event: Seen, now: number): boolean {
  const isOfItsTypes = webhook.types === null || webhook.types.includes(event.type);
  return isOfItsTypes && maySee(webhook, event, now);
}

/** Whether anything is sent to it: it is enabled, and its client could ask for the events itself. */
export function isAtWork(webhook: WebhookRecord, now: number): boolean {
  const { disabledReason, clientSuspendedAt, keysWorkUntil } = webhook;
  const hasWorkingKey = keysWorkUntil !== null && keysWorkUntil > now;
  return disabledReason === null && clientSuspendedAt === null && hasWorkingKey;
}

/** Refuses an address that nothing would be sent to. Names are looked up when something is sent, and judged again. */
export function requireSendable(url: string, allowPrivate: boolean): void {
  const problem = problemOf(new URL(url), allowPrivate);
  if (problem === null) return;
  fail("invalid_webhook_url", `The address of the webhook ${problem}.`, [{ field: "url", message: problem }]);
}

function problemOf(
  { protocol, username, password, hostname, hash }: URL,
  allowPrivate: boolean,
): string | null {
  if (username !== "" || password !== "") return "must not have a user name or a password";
  if (hash !== "") return "must not have a fragment";
  if (allowPrivate) return null;
  if (protocol !== "https:") return "must begin with https://";
  const host = hostOf(hostname);
  const isLocalName = /(^|\.)(localhost|local|internal)\.?$/.test(host);
  return isLocalName || (isAddress(host) && !isPublicAddress(host))
    ? `must be public, and ${host} is not`
    : null;
}

/** The host of a URL without the brackets of IPv6. */
export function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
