import { type Account, type ApiError, type Limits, Petstore, type Role } from "../../client/src/index.ts";
import { type Fetch, patient } from "./patience.ts";
import { meanAnew, repeating } from "./repeats.ts";
import { tellTabs, untilLooked } from "./tabs.ts";
import { forPeople, SessionEnded } from "./words.ts";

/** Where the API is: beside the page, whatever a proxy put in front of both. */
const base = new URL(".", location.href).href;
/** Says that a request is of this page, which no page of another origin can, and whether it came over TLS: a proxy may not tell. */
const ours = { "x-petstore-console": location.protocol === "https:" ? "tls" : "1" };
const TIMEOUT_MS = 120_000;

let ending = new AbortController();

/**
 * The API, as the key that was signed in with. It is told apart by the cookie, which no script can read. Each session has one of its
 * own: what was begun in one, and only waits or is tried again, is not sent in another.
 */
export let petstore = clientOf(ending.signal);

/** Ends what was begun until now: it was somebody else's. */
export function startAnew(): void {
  ending.abort(new SessionEnded("The session is over."));
  ending = new AbortController();
  petstore = clientOf(ending.signal);
  meanAnew();
}

/** Asks who is signed in; everything else waits until that is known. */
export function whoIsIt(): PromiseLike<Account> {
  return asking.account.get();
}

const asking = clientBy(patient(sendOurs, isDaySpent));

let whenSignedOut = () => {};

/** Has something done whenever the server no longer knows who we are. */
export function onSignedOut(act: () => void): void {
  whenSignedOut = act;
}

/** Trades a key for a session; `undefined`, or why it was refused. The key is not kept. */
export function signInWithKey(key: string): Promise<string | undefined> {
  return session("POST", { "x-api-key": key });
}

/** Uses up the link of a first start. */
export function signInByLink(link: string): Promise<string | undefined> {
  return session("POST", { "x-petstore-link": link });
}

export function signOut(): Promise<string | undefined> {
  return session("DELETE", {});
}

const roles: readonly Role[] = ["customer", "staff", "admin"];

/** Whether the account's key has this role or one above. */
export function mayAct({ key }: Account, role: Role): boolean {
  return roles.indexOf(key.role) >= roles.indexOf(role);
}

async function session(method: string, headers: Record<string, string>): Promise<string | undefined> {
  try {
    const response = await fetch(`${base}console/session`, { method, headers: { ...ours, ...headers } });
    if (!response.ok) return forPeople((await response.json()) as Pick<ApiError, "message" | "code">);
    tellTabs();
    return undefined;
  } catch {
    return "The server could not be reached. Try again.";
  }
}

function clientOf(ended: AbortSignal): Petstore {
  const atOnce: Fetch = async (url, init) => {
    await untilLooked();
    init.signal?.throwIfAborted();
    return sendOurs(url, init);
  };
  const send = repeating(patient(atOnce, isDaySpent));
  return clientBy((url, { signal, ...init }) =>
    send(url, { ...init, signal: signal ? AbortSignal.any([ended, signal]) : ended }),
  );
}

function clientBy(fetch: Fetch): Petstore {
  return new Petstore({
    baseUrl: base,
    fetch,
    // Whoever looks at a page sees what it waits for; the client would wait in silence.
    pace: false,
    maxRetries: 2,
    timeoutMs: TIMEOUT_MS,
  });
}

/** Sends a request as the page's own. */
async function sendOurs(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(ours)) headers.set(name, value);
  const response = await fetch(url, { ...init, headers });
  if (response.status === 401) whenSignedOut();
  return response;
}

/** To ask costs nothing, and is no strike. */
async function isDaySpent(): Promise<boolean> {
  const response = await sendOurs(`${base}account/limits`, {});
  if (!response.ok) return false;
  const { day } = (await response.json()) as Limits;
  return day.remaining === 0;
}
