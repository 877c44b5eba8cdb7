import { CryptoHasher } from "bun";
import { after } from "../core/after.ts";
import type { Caller, Result } from "../core/context.ts";
import { Failure } from "../core/failure.ts";
import { KEY_BYTES } from "../core/key-format.ts";
import { ANSWERS_KEPT_MS, type Command, type Performed, refuseReusedKey, replay } from "../core/perform.ts";
import type { Awaitable, Reads, Standing } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import type { Answer } from "./answer.ts";
import { readBody } from "./body.ts";
import type { Prepared } from "./endpoint.ts";
import type { Handling } from "./exchange.ts";
import { idempotencyKey, ifMatchTags, noneMatchHits, refuseCondition } from "./headers.ts";
import { parseJson } from "./json.ts";
import { linesOf } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

/** The store as requests use it: reads at once, writes as commands. */
export interface Store extends Reads {
  perform(command: Command): Promise<Performed>;
}

/** The path's variable parts, by name. */
export type PathParams = Readonly<Record<string, string>>;

/** A request that may call its operation. */
export interface Call {
  readonly request: Incoming;
  readonly params: PathParams;
  readonly now: number;
  readonly endpoint: Prepared;
  readonly caller: Caller;
  readonly standing?: Standing | undefined;
}

/** Reads the parameters, asks, and answers; 304 if the caller has the record already. */
export function read(store: Store, rules: Rules, call: Call): Awaitable<Answer> {
  const { request, params, endpoint, caller, now, standing } = call;
  const input = endpoint.input.parameters(params, request.search);
  return after(endpoint.operation({ caller, store, now, rules, standing }, input), shown, call);
}

function shown(result: Result, call: Call): Answer {
  const { tag } = result;
  if (tag !== undefined && noneMatchHits(call.request.headers.get("if-none-match"), tag))
    return { status: 304, body: null, headerLines: tagLine(tag) };
  return success(call, result);
}

/** What a write needs of the house. */
export type Desk = Pick<Handling, "store" | "callers" | "clock">;

/** Sends the write as a command; it is answered when it is on disk. */
export async function write(desk: Desk, call: Call): Promise<Answer> {
  return success(call, await desk.store.perform(await commandOf(desk, call)));
}

/** The answer that is kept for the command's idempotency key; nothing if it was not done yet. */
export async function keptAnswer(store: Store, call: Call, command: Command): Promise<Answer | null> {
  const { caller, now, idempotency } = command;
  if (!idempotency) return null;
  const kept = await store.keptAnswer(caller.clientId, idempotency.key, now - ANSWERS_KEPT_MS);
  return kept && success(call, replay(kept, idempotency));
}

/** Reads body and parameters: the write as a command. */
export async function commandOf({ store, callers, clock }: Desk, call: Call): Promise<Command> {
  const { request, params, endpoint, caller, now } = call;
  const { route } = endpoint;
  const read = route.body ? readBody(request, route, caller.clientId) : nothing;
  // Most bodies have come with their headers.
  const bytes = read instanceof Promise ? await read : read;
  if (read instanceof Promise) {
    // Its key may have been revoked while the body was on its way.
    const refused = await callers.identify(request, clock());
    if (refused instanceof Failure) throw refused;
  }
  const json = route.body ? parseJson(bytes) : undefined;
  const input = endpoint.input.parameters(params, request.search);
  const key = idempotencyKey(request.headers.get("idempotency-key"));
  const ifMatch = ifMatchTags(request.headers.get("if-match"));
  if (ifMatch && !endpoint.takesIfMatch) refuseCondition("If-Match", route.at);
  if (request.headers.get("if-none-match") !== null) refuseCondition("If-None-Match", route.at);
  if (route.body) {
    try {
      input.body = endpoint.input.body(json);
    } catch (error) {
      // Only a valid body was ever kept, so a known key means that this one differs: that comes first.
      if (key && (await store.keptAnswer(caller.clientId, key, now - ANSWERS_KEPT_MS))) refuseReusedKey(key);
      throw error;
    }
  }
  const { clientId, keyId, role } = caller;
  return {
    operation: endpoint.id,
    changesAccess: route.access && true,
    caller: { clientId, keyId, role },
    input,
    now,
    random: route.access || route.random ? crypto.getRandomValues(new Uint8Array(KEY_BYTES)) : undefined,
    ifMatch,
    idempotency: key === undefined ? undefined : { key, fingerprint: fingerprint(call, bytes) },
  };
}

const nothing = new Uint8Array();

function success({ request, endpoint }: Call, result: Performed): Answer {
  const { route, successStatus, location } = endpoint;
  let headerLines = result.tag === undefined ? "" : tagLine(result.tag);
  if (result.isReplay) headerLines += replayedLine;
  if (location) headerLines += `location: ${location(result.body as Record<string, unknown>)}\r\n`;
  if (route.kind === "list")
    headerLines += `link: ${pageLinks(request.pathname, withoutCursor(request.search), result)}\r\n`;
  return {
    status: successStatus,
    headerLines,
    body: result.body === undefined ? null : JSON.stringify(result.body),
  };
}

const replayedLine = linesOf({ "idempotency-replayed": "true" });

function tagLine(tag: string): string {
  return `etag: "${tag}"\r\n`;
}

/** Relative addresses, so that they hold behind any proxy. */
function pageLinks(pathname: string, query: string, { next, monitor }: Result): string {
  const first = `<${pathname}${query}>; rel="first"`;
  if (next === undefined && monitor === undefined) return first;
  const at = `<${pathname}${query === "" ? "?" : `${query}&`}cursor=`;
  const onward = next === undefined ? "" : `${at}${next}>; rel="next", `;
  const later = monitor === undefined ? "" : `${at}${monitor}>; rel="monitor", `;
  return `${onward}${later}${first}`;
}

/** Names as they are, and values that can stand in a header as they were written. */
const PLAIN_QUERY = /^\?[\w.-]+=[\w.,~+%-]*(?:&[\w.-]+=[\w.,~+%-]*)*$/;

/** A query without its cursor; as its caller wrote it, if that is plain. */
function withoutCursor(search: string): string {
  if (search === "" || (search.startsWith("?cursor=") && !search.includes("&"))) return "";
  if (!PLAIN_QUERY.test(search)) {
    const query = new URLSearchParams(search);
    query.delete("cursor");
    return query.size > 0 ? `?${query}` : "";
  }
  // It was taken, so there is one cursor at most.
  const isFirst = search.startsWith("?cursor=");
  const start = isFirst ? 0 : search.indexOf("&cursor=");
  if (start === -1) return search;
  const end = search.indexOf("&", start + 1);
  const rest = end === -1 ? "" : search.slice(end);
  return isFirst ? rest.replace("&", "?") : search.slice(0, start) + rest;
}

/** What makes two requests the same; an answer is for those who may do as much, and one about keys for the key that asked alone. */
function fingerprint({ request, endpoint, caller }: Call, body: Uint8Array): string {
  const { method, pathname, search } = request;
  const asker = endpoint.route.access ? caller.keyId : caller.role;
  return new CryptoHasher("sha256")
    .update(`${method} ${pathname}${search} ${asker}\n`)
    .update(body)
    .digest("base64url");
}
