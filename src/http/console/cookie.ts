import { SESSION_MS } from "../../core/sessions.ts";
import { linesOf } from "../wire/reply.ts";
import type { Incoming } from "../wire/request.ts";

/** A page of another origin cannot send it: its preflight is never told that it may. */
export const CONSOLE_HEADER = "x-petstore-console";
const PLAIN_NAME = "petstore_console";
/** A browser keeps a cookie of this name only from the very host, over TLS. */
const SECURE_NAME = `__Host-${PLAIN_NAME}`;
const attributes = "Path=/; HttpOnly; SameSite=Strict";

type Headers = Pick<Incoming["headers"], "get">;

/** The session that a request of the console's own page carries. */
export function sessionOf(headers: Headers): string | undefined {
  const cookies = headers.get("cookie");
  if (cookies === null || !cookies.includes(PLAIN_NAME) || !isFromConsole(headers)) return undefined;
  const pairs = new Map(cookies.split(";").map(pairOf));
  return pairs.get(SECURE_NAME) ?? pairs.get(PLAIN_NAME);
}

/** Whether a browser sends this from our own page: it says so itself, or what it says of where the page is from agrees. */
export function isFromConsole(headers: Headers): boolean {
  if (headers.get(CONSOLE_HEADER) !== "1") return false;
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

/** Whether the browser reached us over TLS, as its page or a proxy that is believed says. */
export function isOverTls(headers: Headers, isProxyTrusted: boolean): boolean {
  if (headers.get("origin")?.startsWith("https://")) return true;
  return isProxyTrusted && headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
}

function setting(value: string, seconds: number, isSecure: boolean): string {
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  const secure = isSecure ? "; Secure" : "";
  return linesOf({ "set-cookie": `${name}=${value}; ${attributes}; Max-Age=${seconds}${secure}` });
}

function pairOf(cookie: string): [name: string, value: string] {
  const equals = cookie.indexOf("=");
  return [cookie.slice(0, equals).trim(), cookie.slice(equals + 1).trim()];
}
