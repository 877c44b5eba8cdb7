import { Failure } from "../../core/failure.ts";
import { hashOf } from "../../core/key-format.ts";
import { SESSION_MS } from "../../core/sessions.ts";
import { type TrustedProxies, trustsPeer } from "../address.ts";
import { linesOf } from "../wire/reply.ts";
import type { Incoming } from "../wire/request.ts";

/** A page of another origin cannot send it: its preflight is never told that it may. */
export const CONSOLE_HEADER = "x-petstore-console";
/** What our own page says in it, by whether it came over TLS. */
const [OVER_TLS, OVER_PLAIN_HTTP] = ["tls", "1"];
const PLAIN_NAME = "petstore_console";
/** A browser keeps a cookie of this name only from the very host, over TLS. */
const SECURE_NAME = `__Host-${PLAIN_NAME}`;
const attributes = "Path=/; HttpOnly; SameSite=Strict";

type Headers = Pick<Incoming["headers"], "get">;
type Sent = Pick<Incoming, "headers" | "peer">;

/** Reads the console's cookie, and whether its browser reached us over TLS. */
export interface CookieReader {
  isOverTls(request: Sent): boolean;
  /** The hash of the session that a request of the console's own page carries, or why it is none. */
  sessionOf(request: Sent): string | Failure | undefined;
}

export function cookieReader(trustProxy: TrustedProxies): CookieReader {
  const isTrusted = trustsPeer(trustProxy);
  const isOverTls = ({ headers, peer }: Sent): boolean => {
    if (headers.get(CONSOLE_HEADER) === OVER_TLS || headers.get("origin")?.startsWith("https://"))
      return true;
    return isTrusted(peer) && headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
  };
  return {
    isOverTls,
    sessionOf(request) {
      const cookies = request.headers.get("cookie");
      if (cookies === null || !cookies.includes(PLAIN_NAME) || !isFromConsole(request.headers))
        return undefined;
      // Another host of the domain, or whoever answers for this one over plain HTTP, can plant one of the plain name.
      const isSecure = isOverTls(request);
      const sessions = sessionsIn(cookies, isSecure ? SECURE_NAME : PLAIN_NAME);
      if (sessions.length > 1) return twoCookies;
      return sessions[0] === undefined ? undefined : hashIn(sessions[0], isSecure);
    },
  };
}

/** What a session is stored under: given as the one cookie, it is not found as the other. */
export function hashIn(session: string, isSecure: boolean): string {
  // No cookie holds a semicolon: no plain one can say the same.
  return hashOf(isSecure ? `${SECURE_NAME};${session}` : session);
}

const twoCookies = new Failure(
  "missing_api_key",
  "Two cookies have the name of the console's: one of them is not the server's. Delete the cookies of this site, and sign in again.",
);

/** Whether a browser sends this from our own page: it says so itself, or what it says of where the page is from agrees. */
export function isFromConsole(headers: Headers): boolean {
  const said = headers.get(CONSOLE_HEADER);
  if (said !== OVER_PLAIN_HTTP && said !== OVER_TLS) return false;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  return origin === null || (URL.canParse(origin) && new URL(origin).host === headers.get("host"));
}

/** The header that hands a session to the browser: out of reach of scripts, and of other sites. */
export function cookieLine(session: string, isSecure: boolean): string {
  return setting(session, SESSION_MS / 1000, isSecure);
}

/** The headers that take it away, whichever name it has. */
export function goneLines(isSecure: boolean): string {
  return setting("", 0, false) + (isSecure ? setting("", 0, true) : "");
}

function setting(value: string, seconds: number, isSecure: boolean): string {
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  const secure = isSecure ? "; Secure" : "";
  return linesOf({ "set-cookie": `${name}=${value}; ${attributes}; Max-Age=${seconds}${secure}` });
}

/** The values of the cookies with this name. */
function sessionsIn(cookies: string, name: string): string[] {
  // Only blanks of HTTP are no part of a name: with others before it, `__Host-` would bind it to nothing.
  const pairs = cookies.split(";").map((pair) => pair.replace(/^[ \t]+/, ""));
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1).trimEnd());
}
