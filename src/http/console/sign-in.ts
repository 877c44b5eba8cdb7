import { Failure, fail } from "../../core/failure.ts";
import { hashOf } from "../../core/key-format.ts";
import type { TrustedProxies } from "../address.ts";
import type { Answer } from "../answer.ts";
import type { KnownCaller } from "../caller.ts";
import type { Path } from "../endpoint.ts";
import type { Exchange } from "../exchange.ts";
import { refusedCaller } from "../handle.ts";
import { cookieLine, cookieReader, goneLines, hashIn, isFromConsole } from "./cookie.ts";

/** Carries the secret of a sign-in link; in a URL it would be kept by logs. */
const LINK_HEADER = "x-petstore-link";
const TOKEN_BYTES = 32;

export interface SignInOptions {
  readonly trustProxy: TrustedProxies;
  /** Looks every session up anew. */
  readonly forgetSessions: () => void;
}

/** Where the console's page signs in and out. */
export function signInPath({ trustProxy, forgetSessions }: SignInOptions): Path {
  const { isOverTls, sessionOf } = cookieReader(trustProxy);

  /** Trades a key, or a link that was not used yet, for a session. A session itself is not enough: it would never end. */
  const signIn = async (exchange: Exchange): Promise<Answer> => {
    const { caller, request } = exchange;
    requireConsole(exchange);
    const token = newToken();
    const isSecure = isOverTls(request);
    const hash = hashIn(token, isSecure);
    const link = request.headers.get(LINK_HEADER);
    if (link !== null) await act(exchange, "sessions.redeem", { link: hashOf(link), hash });
    else if (caller instanceof Failure) return refusedCaller(caller);
    else if (!carriesKey(exchange)) fail("missing_api_key", "Sign in with an API key, sent as X-API-Key.");
    else await act(exchange, "sessions.begin", { keyId: (caller as KnownCaller).keyId, hash });
    await endSession(exchange);
    return { status: 204, body: null, headerLines: cookieLine(token, isSecure) };
  };

  const signOut = async (exchange: Exchange): Promise<Answer> => {
    requireConsole(exchange);
    await endSession(exchange);
    return { status: 204, body: null, headerLines: goneLines(isOverTls(exchange.request)) };
  };

  /** Ends the session that the browser had until now, if there is one. */
  const endSession = async (exchange: Exchange): Promise<void> => {
    const hash = sessionOf(exchange.request);
    if (typeof hash !== "string") return;
    await act(exchange, "sessions.end", { hash });
    forgetSessions();
  };

  return {
    pattern: "/console/session",
    methods: {},
    allow: "POST, DELETE, OPTIONS",
    beside: { POST: signIn, DELETE: signOut },
    leaving: "DELETE",
  };
}

function requireConsole({ request }: Exchange): void {
  if (!isFromConsole(request.headers))
    fail(
      "forbidden",
      "Only the console's own page, /console, signs in and out here. Programs send their key.",
    );
}

function carriesKey({ request: { headers } }: Exchange): boolean {
  return headers.get("x-api-key") !== null || headers.get("authorization") !== null;
}

/** The server's own doing, whoever asks: what it is allowed to was decided before. */
async function act({ house, now }: Exchange, operation: string, input: object): Promise<void> {
  const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
  await house.store.perform({ operation, caller, input, now });
}

function newToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString("base64url");
}
