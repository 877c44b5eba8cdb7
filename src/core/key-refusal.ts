import { Failure } from "./failure.ts";
import { iso } from "./iso.ts";
import type { KnownKey } from "./ports.ts";

// Made once: a refusal costs no stack trace.
const revokedKey = new Failure("revoked_api_key", "This API key was revoked. Ask for a new one.");
const suspendedClient = new Failure(
  "client_suspended",
  "The client of this API key is suspended. Contact the operator.",
);

/** Until when a key works. */
type Life = Pick<KnownKey, "revokedAt" | "expiresAt">;

/** Whether a key is neither revoked nor expired. */
export function isWorking({ revokedAt, expiresAt }: Life, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

/** Why a key that was found does not work, if so. */
export function keyRefusal(
  { revokedAt, expiresAt, clientSuspendedAt }: Life & Pick<KnownKey, "clientSuspendedAt">,
  now: number,
): Failure | undefined {
  if (revokedAt !== null) return revokedKey;
  if (expiresAt !== null && expiresAt <= now) {
    const at = iso(expiresAt);
    return new Failure("expired_api_key", `This API key expired at ${at}. Ask for a new one.`);
  }
  return clientSuspendedAt === null ? undefined : suspendedClient;
}

/** The client was removed since its key was looked up. */
export function refuseRemoved(): never {
  throw revokedKey;
}
