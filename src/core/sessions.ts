import type { WriteContext } from "./context.ts";
import { fail } from "./failure.ts";
import type { SessionRecord } from "./ports.ts";

/** How long somebody stays signed in to the console: a working day. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
/** How long it may be left alone. */
export const IDLE_MS = 2 * 60 * 60 * 1000;
/** How exactly the last use of a session is known. */
export const USE_NOTED_MS = 60_000;
/** One more ends the oldest. */
export const SESSIONS_OF_A_KEY = 20;
/** How long the link of a first start can be used. */
export const LINK_MS = 15 * 60 * 1000;

/** Sessions are the server's own: a browser's cookie in the place of a key. Only hashes of secrets come here. */
export const sessions = {
  /** Somebody signed in with a key. */
  "sessions.begin": async (cx: WriteContext, { keyId, hash }: { readonly keyId: number } & Hashed) => {
    await cx.store.addSession({ hash, keyId, endsAt: cx.now + SESSION_MS }, SESSIONS_OF_A_KEY, cx.now);
    return { body: undefined };
  },

  /** Somebody signed in by a link, which is then used up. */
  "sessions.redeem": async (cx: WriteContext, { link, hash }: { readonly link: string } & Hashed) => {
    const keyId = await cx.store.takeSignInLink(link, cx.now);
    if (keyId === null)
      fail(
        "invalid_api_key",
        `This sign-in link was used already, or is older than ${LINK_MS / 60_000} minutes. Sign in with an API key.`,
      );
    await cx.store.addSession({ hash, keyId, endsAt: cx.now + SESSION_MS }, SESSIONS_OF_A_KEY, cx.now);
    return { body: undefined };
  },

  /** A link by which somebody can sign in with this key, once. */
  "sessions.offer": async (cx: WriteContext, { keyId, hash }: { readonly keyId: number } & Hashed) => {
    await cx.store.addSignInLink({ hash, keyId, endsAt: cx.now + LINK_MS });
    return { body: undefined };
  },

  "sessions.use": async (cx: WriteContext, { hash }: Hashed) => {
    await cx.store.useSession(hash, cx.now);
    return { body: undefined };
  },

  "sessions.end": async (cx: WriteContext, { hash }: Hashed) => {
    await cx.store.endSession(hash);
    return { body: undefined };
  },
};

interface Hashed {
  readonly hash: string;
}

/** Whether a session is over, by its age or because it was left alone. */
export function isOver({ usedAt, endsAt }: Pick<SessionRecord, "usedAt" | "endsAt">, now: number): boolean {
  return now >= endsAt || now >= usedAt + IDLE_MS;
}
