import type { Caller } from "../core/context.ts";
import { Failure, Unavailable } from "../core/failure.ts";
import { hashOf, holdsKey, isWellFormed } from "../core/key-format.ts";
import { keyRefusal } from "../core/key-refusal.ts";
import type { Awaitable, KnownKey, LimitedKey, Reads } from "../core/ports.ts";
import { CallerTable, NOWHERE } from "./caller-table.ts";
import { inOnePiece } from "./one-piece.ts";
import type { Incoming } from "./wire/request.ts";

/**
 * Keys after which a new generation begins; a key that two of them have not seen is looked up anew. As many as there may
 * be clients in memory: with more keys than this, remembering them again costs most requests a sixth more.
 */
const KEYS_IN_A_GENERATION = 2_000_000;
/** Refused keys remembered at once: a program that goes on with a wrong key costs no more look-ups. */
const REMEMBERED_REFUSALS = 10_000;
/** How exactly the last use of a key is known. */
const LAST_USED_MS = 60_000;

/** Who is calling, with what the limiter must know. */
export interface KnownCaller extends Caller, LimitedKey {
  readonly lifts: number;
  readonly expiresAt: number | null;
}

/** What of a request says who sends it. */
export type Asked = Pick<Incoming, "url" | "headers" | "peer">;

export interface Callers {
  /** Who a request is from, or why its key is refused; `rememberedOnly` looks nothing up. */
  identify(request: Asked, now: number, rememberedOnly?: boolean): Awaitable<KnownCaller | Failure>;
  /** Looks every key up anew: who may do what has changed. */
  forget(): void;
}

export interface CallerOptions {
  readonly store: Pick<Reads, "keyByHash">;
  /** A key was looked up: the limiter learns what is known of it. */
  readonly introduce: (known: KnownKey, askedAt: number) => void;
  readonly keyWasUsed: (keyId: number, at: number) => void;
  readonly keysInAGeneration?: number;
  /** Who is signed in to the console; nobody looks at a cookie without it. */
  readonly sessions?: Sessions | undefined;
}

/** Who a request without a key is from, if its cookie says so. */
export interface Sessions {
  identify(
    request: Asked,
    now: number,
    rememberedOnly?: boolean,
  ): Awaitable<KnownCaller | Failure> | undefined;
  forget(): void;
}

export function callers(options: CallerOptions): Callers {
  const { sessions } = options;
  const remembered = generations(options);
  const lookUps = keyLookUps(options, remembered);

  return {
    identify(request, now, rememberedOnly) {
      const key = keyOf(request);
      if (typeof key !== "string")
        return (key === missingKey ? sessions?.identify(request, now, rememberedOnly) : undefined) ?? key;
      const known = remembered.recall(key, now);
      if (known) return known;
      const refused = lookUps.refusalOf(key);
      if (refused) return refused;
      if (!isWellFormed(key)) return key === "" ? emptyKey : mistypedKey;
      return rememberedOnly ? overloaded : lookUps.ask(key, now);
    },
    forget() {
      remembered.forget();
      lookUps.forget();
      sessions?.forget();
    },
  };
}

/** Asks the database for keys: once for a burst of one key, and not again for one that it refused. */
function keyLookUps({ store, introduce, keyWasUsed }: CallerOptions, remembered: Generations) {
  let refusals = new Map<string, Failure>();
  let underWay = new Map<string, Promise<KnownCaller | Failure>>();

  const lookUp = async (sent: string, now: number): Promise<KnownCaller | Failure> => {
    const key = inOnePiece(sent);
    const underWayThen = underWay;
    const askedAt = performance.now();
    let known: KnownKey | null;
    try {
      known = await store.keyByHash(hashOf(key));
    } catch (error) {
      // Whose key it is cannot be known now: it is refused, and counted as a request without one.
      return error instanceof Failure ? error : new Unavailable(error);
    }
    const found = known ? (keyRefusal(known, now) ?? known) : unknownKey;
    // What was read while everything was forgotten may be old already.
    const isCurrent = underWayThen === underWay;
    if (found instanceof Failure) {
      if (refusals.size >= REMEMBERED_REFUSALS) refusals.clear();
      if (isCurrent) refusals.set(key, found);
      return found;
    }
    introduce(found, askedAt);
    const caller = callerOf(found);
    if (isCurrent) remembered.remember(key, caller, now);
    keyWasUsed(caller.keyId, now);
    return caller;
  };
  return {
    refusalOf: (key: string) => refusals.get(key),
    ask(key: string, now: number): Promise<KnownCaller | Failure> {
      const underWayThen = underWay;
      let asked = underWay.get(key);
      if (!asked) {
        asked = lookUp(key, now).finally(() => underWayThen.delete(key));
        underWay.set(key, asked);
      }
      return asked;
    },
    forget(): void {
      refusals = new Map();
      underWay = new Map();
    },
  };
}

type Generations = ReturnType<typeof generations>;

/** Callers by their keys, those that were not seen for long forgotten: to forget all at once would make every key a look-up again. */
function generations({ keysInAGeneration = KEYS_IN_A_GENERATION, keyWasUsed }: CallerOptions) {
  let remembered = new CallerTable();
  let earlier = new CallerTable();
  const remember = (key: string, caller: KnownCaller, usedAt: number): number => {
    if (remembered.size >= keysInAGeneration) {
      earlier = remembered;
      remembered = new CallerTable();
    }
    return remembered.put(key, caller, usedAt);
  };
  /** Takes a key over that only the generation before knows. */
  const broughtOver = (key: string): number => {
    const row = earlier.size === 0 ? NOWHERE : earlier.find(key);
    return row === NOWHERE ? NOWHERE : remember(key, earlier.callerAt(row), earlier.usedAt(row));
  };
  /** Who has a key that is not over; its use is noted. */
  const recall = (key: string, now: number): KnownCaller | undefined => {
    const found = remembered.find(key);
    const row = found === NOWHERE ? broughtOver(key) : found;
    if (row === NOWHERE) return undefined;
    const caller = remembered.callerAt(row);
    if (caller.expiresAt !== null && caller.expiresAt <= now) return undefined;
    if (now - remembered.usedAt(row) >= LAST_USED_MS) {
      remembered.use(row, now);
      keyWasUsed(caller.keyId, now);
    }
    return caller;
  };
  const forget = (): void => {
    remembered = new CallerTable();
    earlier = new CallerTable();
  };
  return { remember, recall, forget };
}

/** What of a key is remembered. */
export function callerOf(key: KnownKey): KnownCaller {
  const { id: keyId, clientId, role, perMinute, perDay, bannedUntil, lifts, expiresAt } = key;
  return { keyId, clientId, role, perMinute, perDay, bannedUntil, lifts, expiresAt };
}

// Made once: a refusal costs no stack trace.
const unknownKey = new Failure(
  "invalid_api_key",
  "The API key is unknown. Check that it is whole and of this server.",
);
const mistypedKey = new Failure(
  "invalid_api_key",
  "The API key is mistyped: its format or checksum is wrong. Copy it again, whole.",
);
const emptyKey = new Failure(
  "invalid_api_key",
  "The API key is empty. Send it whole; perhaps the setting that should hold it has no value.",
);
const missingKey = new Failure(
  "missing_api_key",
  "No API key was sent. Send it as X-API-Key: <API_KEY> or Authorization: Bearer <API_KEY>.",
);
const keyInUrl = new Failure(
  "invalid_api_key",
  "An API key must not be in the URL, where logs keep it. Send it as X-API-Key, and revoke this one.",
);
const twoKeys = new Failure("invalid_api_key", "X-API-Key and Authorization carry different keys. Send one.");
const keySentTwice = new Failure(
  "invalid_api_key",
  "The API key was sent more than once. Send it in one header.",
);
const otherScheme = new Failure(
  "invalid_api_key",
  "Authorization must be Bearer <API_KEY>; other schemes are not taken.",
);
export const overloaded = new Failure(
  "overloaded",
  "The server has more work than it can finish in time. Repeat the request later.",
);

function keyOf(request: Asked): string | Failure {
  if (holdsKey(request.url)) return keyInUrl;
  const header = request.headers.get("x-api-key");
  const authorization = request.headers.get("authorization");
  const bearer = authorization === null ? null : bearerOf(authorization);
  if (bearer instanceof Failure) return bearer;
  const key = header ?? bearer;
  if (key === null) return missingKey;
  if (bearer !== null && bearer !== key) return twoKeys;
  return key.includes(",") ? keySentTwice : key;
}

function bearerOf(authorization: string): string | Failure {
  return /^bearer +(\S.*)$/i.exec(authorization)?.[1] ?? otherScheme;
}
