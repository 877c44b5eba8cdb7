import type { Caller } from "../core/context.ts";
import { Failure } from "../core/failure.ts";
import { hashOf, holdsKey, isWellFormed } from "../core/keys.ts";
import type { KeyRecord, Reads } from "../core/ports.ts";

/** How long a key that was looked up is trusted: a revocation acts within this time. */
const TRUSTED_MS = 500;
/** Keys remembered at once. */
const REMEMBERED_KEYS = 100_000;

interface Remembered {
  readonly key: KeyRecord;
  readonly caller: Caller;
  readonly since: number;
}

/** Who a request is from: its caller, or why its key is refused. */
export type Identify = (request: Request, now: number) => Promise<Caller | Failure> | Caller | Failure;

export function identifier(store: Pick<Reads, "keyByHash">): Identify {
  const remembered = new Map<string, Remembered>();

  const lookUp = async (key: string, now: number): Promise<Caller | Failure> => {
    const record = await store.keyByHash(hashOf(key));
    if (!record)
      return new Failure(
        "invalid_api_key",
        "The API key is unknown. Check that it is whole and of this server.",
      );
    if (remembered.size >= REMEMBERED_KEYS) remembered.clear();
    const caller: Caller = { clientId: record.clientId, keyId: record.id, role: record.role };
    remembered.set(key, { key: record, caller, since: now });
    return refusal(record, now) ?? caller;
  };

  return (request, now) => {
    const key = keyOf(request);
    if (typeof key !== "string") return key;
    const known = remembered.get(key);
    if (known && Math.abs(now - known.since) < TRUSTED_MS) return refusal(known.key, now) ?? known.caller;
    if (!isWellFormed(key)) {
      return new Failure(
        "invalid_api_key",
        "The API key is mistyped: its format or checksum is wrong. Copy it again, whole.",
      );
    }
    return lookUp(key, now);
  };
}

function keyOf(request: Request): string | Failure {
  if (holdsKey(request.url)) {
    return new Failure(
      "invalid_api_key",
      "An API key must not be in the URL, where logs keep it. Send it as X-API-Key, and revoke this one.",
    );
  }
  const header = request.headers.get("x-api-key");
  const authorization = request.headers.get("authorization");
  const bearer = authorization === null ? null : bearerOf(authorization);
  if (bearer instanceof Failure) return bearer;
  const key = header ?? bearer;
  if (key === null) {
    return new Failure(
      "missing_api_key",
      "No API key was sent. Send it as X-API-Key: <API_KEY> or Authorization: Bearer <API_KEY>.",
    );
  }
  if (bearer !== null && bearer !== key) {
    return new Failure("invalid_api_key", "X-API-Key and Authorization carry different keys. Send one.");
  }
  if (key.includes(","))
    return new Failure("invalid_api_key", "The API key was sent more than once. Send it in one header.");
  return key;
}

function bearerOf(authorization: string): string | Failure {
  const token = /^bearer +(\S.*)$/i.exec(authorization)?.[1];
  return (
    token ??
    new Failure("invalid_api_key", "Authorization must be Bearer <API_KEY>; other schemes are not taken.")
  );
}

function refusal(key: KeyRecord, now: number): Failure | undefined {
  if (key.revokedAt !== null)
    return new Failure("revoked_api_key", "This API key was revoked. Ask for a new one.");
  if (key.expiresAt !== null && key.expiresAt <= now) {
    return new Failure(
      "expired_api_key",
      `This API key expired at ${new Date(key.expiresAt).toISOString()}. Ask for a new one.`,
    );
  }
  if (key.clientSuspendedAt !== null) {
    return new Failure("client_suspended", "The client of this API key is suspended. Contact the operator.");
  }
  return undefined;
}
