import { Failure, Unavailable } from "../../core/failure.ts";
import { keyRefusal } from "../../core/key-refusal.ts";
import type { KnownKey, Reads, SessionRecord } from "../../core/ports.ts";
import { isOver, USE_NOTED_MS } from "../../core/sessions.ts";
import type { TrustedProxies } from "../address.ts";
import { type Asked, callerOf, type KnownCaller, overloaded, type Sessions } from "../caller.ts";
import { cookieReader } from "./cookie.ts";

/** How long a session that was looked up is used again: what ends it is known everywhere within a second. */
const REMEMBERED_MS = 500;
/** Sessions remembered at once; more are looked up anew. */
const REMEMBERED = 1000;

export interface SessionOptions {
  readonly trustProxy: TrustedProxies;
  readonly store: Pick<Reads, "session">;
  /** A key was looked up: the limiter learns what is known of it. */
  readonly introduce: (known: KnownKey, askedAt: number) => void;
  /** Notes that a session, and with it its key, is in use. */
  readonly wasUsed: (hash: string, keyId: number, now: number) => void;
}

interface Remembered extends Pick<SessionRecord, "endsAt"> {
  readonly caller: KnownCaller;
  usedAt: number;
  readonly until: number;
}

/** Who is signed in: a cookie stands for the key that it was traded for, with all that holds for that key. */
export function signedIn({ trustProxy, store, introduce, wasUsed }: SessionOptions): Sessions {
  const { sessionOf } = cookieReader(trustProxy);
  const remembered = new Map<string, Remembered>();
  /** A stream is looked at again and again: somebody who only leaves it open does nothing. */
  const noticed = new WeakSet<Asked>();

  const lookUp = async (request: Asked, hash: string, now: number): Promise<KnownCaller | Failure> => {
    const askedAt = performance.now();
    let found: SessionRecord | null;
    try {
      found = await store.session(hash);
    } catch (error) {
      return error instanceof Failure ? error : new Unavailable(error);
    }
    if (!found || isOver(found, now)) return sessionIsOver;
    const { key, usedAt, endsAt } = found;
    const refused = keyRefusal(key, now);
    if (refused) return refused;
    introduce(key, askedAt);
    if (remembered.size >= REMEMBERED) remembered.clear();
    const session = { caller: callerOf(key), usedAt, endsAt, until: askedAt + REMEMBERED_MS };
    remembered.set(hash, session);
    return noted(request, hash, session, now);
  };
  const noted = (request: Asked, hash: string, session: Remembered, now: number): KnownCaller => {
    if (noticed.has(request)) return session.caller;
    noticed.add(request);
    if (now - session.usedAt >= USE_NOTED_MS) {
      session.usedAt = now;
      wasUsed(hash, session.caller.keyId, now);
    }
    return session.caller;
  };

  return {
    identify(request, now, rememberedOnly) {
      const hash = sessionOf(request);
      if (typeof hash !== "string") return hash;
      const known = remembered.get(hash);
      if (known && performance.now() < known.until && works(known, now))
        return noted(request, hash, known, now);
      return rememberedOnly ? overloaded : lookUp(request, hash, now);
    },
    forget: () => remembered.clear(),
  };
}

function works({ caller: { expiresAt }, ...session }: Remembered, now: number): boolean {
  return !isOver(session, now) && (expiresAt === null || expiresAt > now);
}

const sessionIsOver = new Failure(
  "missing_api_key",
  "You are signed out of the console: the session is over. Sign in again.",
);
