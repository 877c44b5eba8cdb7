import { DAY_MS } from "../contract/days.ts";
import type { Caller, Result, WriteContext } from "./context.ts";
import { fail } from "./failure.ts";
import { keyRefusal, refuseRemoved } from "./key-refusal.ts";
import { operation } from "./operations.ts";
import type { NewEvent, Writes } from "./ports.ts";
import type { Rules } from "./rules.ts";

/** How long a success is kept for a repeated idempotency key. */
export const ANSWERS_KEPT_MS = DAY_MS;

/** A write as a value: it can be queued, carried to another thread, and run again. */
export interface Command {
  readonly operation: string;
  readonly caller: Caller;
  readonly input: unknown;
  readonly now: number;
  /** Whether it changes who may do what; two of those at once could break a rule over several rows. */
  readonly changesAccess?: true | undefined;
  /** For an operation that makes a secret. */
  readonly random?: Uint8Array | undefined;
  readonly ifMatch?: readonly string[] | "any" | undefined;
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
}

export interface Performed extends Result {
  readonly isReplay?: boolean;
}

/** A write, whole, inside one transaction: the kept answer, or the operation with its events and answer. */
export async function perform(store: Writes, command: Command, rules: Rules): Promise<Performed> {
  const { caller, now, idempotency } = command;
  if (command.changesAccess) await requireWorking(store, caller, now);
  if (idempotency) {
    const kept = await store.claimKey(caller.clientId, idempotency.key, now - ANSWERS_KEPT_MS);
    if (kept) return replay(kept, idempotency);
  }
  const events: NewEvent[] = [];
  const audited: Audited[] = [];
  const cx: WriteContext = {
    caller,
    store,
    now,
    rules,
    ifMatch: command.ifMatch,
    audit: (subject) => void audited.push({ subject, input: command.input, isOfAccess: true }),
    trail: (subject, input) => void audited.push({ subject, input, isOfAccess: false }),
    random: () => command.random ?? noRandom(command.operation),
    emit: (type, subject, data, clientId) =>
      void events.push({ type, subject, clientId: clientId ?? null, data }),
  };
  const result = await operation(command.operation)(cx, command.input);
  if (events.length > 0) await store.emit(events, now);
  if (audited.length > 0) await keepAudit(store, command, audited);
  if (idempotency) {
    const body = result.body === undefined ? null : JSON.stringify(result.body);
    const answer = { fingerprint: idempotency.fingerprint, body, tag: result.tag ?? null };
    await store.keepAnswer(caller.clientId, idempotency.key, answer, now, now - ANSWERS_KEPT_MS);
  }
  return result.secret ? { ...result, body: { ...(result.body as object), ...result.secret } } : result;
}

/**
 * A key may have been revoked since it was looked up, while its request waited: with its last one it must not make itself another.
 * Two changes of access never run at once, so what is seen here is how it is.
 */
async function requireWorking(store: Writes, { keyId }: Caller, now: number): Promise<void> {
  // A command of the operator has no key.
  if (keyId === 0) return;
  const key = await store.key(keyId);
  const client = key && (await store.client(key.clientId));
  if (!client) refuseRemoved();
  const refused = keyRefusal({ ...key, clientSuspendedAt: client.suspendedAt }, now);
  if (refused) throw refused;
}

interface Audited {
  readonly subject: string;
  readonly input: unknown;
  /** Whether who may do what has changed. */
  readonly isOfAccess: boolean;
}

/** Who did what to whom, in the transaction of the change; if who may do what has changed, every process then looks its keys up anew. */
async function keepAudit(
  store: Writes,
  { operation, caller, now }: Command,
  audited: readonly Audited[],
): Promise<void> {
  const keyId = caller.keyId === 0 ? null : caller.keyId;
  for (const { subject, input } of audited)
    await store.addAudit({ at: now, keyId, operation, subject, input: JSON.stringify(input, plainNumber) });
  if (audited.some(({ isOfAccess }) => isOfAccess)) await store.raiseAccessRevision();
}

function plainNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function noRandom(operation: string): never {
  throw new Error(`${operation} was given no random bytes.`);
}

/** The kept answer, for the same request only. */
export function replay(
  kept: { fingerprint: string; body: string | null; tag: string | null },
  { key, fingerprint }: { key: string; fingerprint: string },
): Performed {
  if (kept.fingerprint !== fingerprint) refuseReusedKey(key);
  return {
    body: kept.body === null ? undefined : JSON.parse(kept.body),
    ...(kept.tag !== null && { tag: kept.tag }),
    isReplay: true,
  };
}

export function refuseReusedKey(key: string): never {
  fail(
    "idempotency_key_reused",
    `The Idempotency-Key "${key}" was used for another request in the last 24 hours: method, address, body (byte by byte) and the API key's role must be the same. Repeat that request exactly, or use a new key for a new one.`,
  );
}
