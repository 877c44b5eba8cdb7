import { createHash } from "node:crypto";
import type { Caller, Result } from "../core/context.ts";
import { Failure, fail } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import { ANSWERS_KEPT_MS, type Command, type Performed, refuseReusedKey } from "../core/perform.ts";
import type { Reads } from "../core/ports.ts";
import { type Answer, refusal, responseOf } from "./answer.ts";
import { readBody } from "./body.ts";
import type { Identify } from "./caller.ts";
import type { Cors } from "./cors.ts";
import { type Deprecation, deprecationHeaders, requireBeforeSunset } from "./deprecation.ts";
import { type Path, type Prepared, rankOf } from "./endpoint.ts";
import {
  idempotencyKey,
  ifMatchTags,
  noneMatchHits,
  requireJsonAccepted,
  requireVersion,
  safeRequestId,
} from "./headers.ts";
import { parseJson } from "./json.ts";
import type { Log } from "./log.ts";

export const URL_CHARACTERS = 8 * 1024;
/** How much of a path the log keeps. */
const LOGGED_CHARACTERS = 500;

/** The store as requests use it: reads at once, writes as commands. */
export interface Store extends Reads {
  perform(command: Command): Promise<Performed>;
}

export interface Handling {
  readonly store: Store;
  readonly identify: Identify;
  readonly clock: () => number;
  readonly log: Log;
  readonly cors: Cors;
  readonly deprecation: Deprecation;
  readonly newRequestId: () => string;
  /** Whether there is more work under way than can be finished in time. */
  readonly isOverloaded: () => boolean;
}

export type PathRequest = Request & { readonly params?: Readonly<Record<string, string>> };

/** What is found out about a request on its way. */
interface Exchange {
  readonly request: PathRequest;
  readonly pathname: string;
  readonly search: string;
  readonly now: number;
  caller?: Caller;
  endpoint?: Prepared;
  /** What all answers of the endpoint carry. */
  always?: Record<string, string> | undefined;
}

/** A request's whole life: from the first look at it to the log line. */
export function handler(house: Handling): (path: Path | null, request: PathRequest) => Promise<Response> {
  return async (path, request) => {
    const started = performance.now();
    const preflight = house.cors.preflight(request);
    if (preflight) return preflight;

    const exchange = begun(request, house.clock());
    const requestId = safeRequestId(request.headers.get("x-request-id")) ?? house.newRequestId();
    let answer: Answer;
    try {
      answer = await answered(house, path, exchange);
    } catch (error) {
      answer = refusal(failureOf(house, error, requestId, exchange));
    }
    const { caller, endpoint, pathname, now } = exchange;
    house.log.request({
      time: now,
      requestId,
      method: request.method,
      path: redacted(pathname).slice(0, LOGGED_CHARACTERS),
      operation: endpoint?.id,
      status: answer.status,
      milliseconds: Math.round((performance.now() - started) * 1000) / 1000,
      clientId: caller?.clientId,
      keyId: caller?.keyId,
      code: answer.code,
    });
    const origin = house.cors.headers(request);
    return responseOf(answer, requestId, origin ? { ...exchange.always, ...origin } : exchange.always);
  };
}

/** The checks in the order that the API documents, then the operation. */
async function answered(house: Handling, path: Path | null, exchange: Exchange): Promise<Answer> {
  const { request, pathname, search, now } = exchange;
  if (house.isOverloaded())
    fail("overloaded", "The server has more work than it can finish in time. Repeat the request later.");
  const caller = await house.identify(request, now);
  if (!(caller instanceof Failure)) exchange.caller = caller;
  // Bans and limits stand here: who it is is known, and nothing else was looked at.

  if (pathname.length + search.length > URL_CHARACTERS) {
    fail(
      "uri_too_long",
      `The URL has ${pathname.length + search.length} characters; at most ${URL_CHARACTERS} are taken.`,
    );
  }
  if (!path)
    fail(
      "not_found",
      `There is nothing at ${redacted(pathname).slice(0, 200)}. The paths are in /openapi.json.`,
    );
  const endpoint = path.methods[request.method];
  if (!endpoint) return wrongMethod(path, request.method);
  exchange.endpoint = endpoint;
  exchange.always = alwaysOf(endpoint, house.deprecation, request.params);

  if (caller instanceof Failure) throw caller;
  requireVersion(request.headers.get("api-version"));
  requireJsonAccepted(request.headers.get("accept"));
  if (endpoint.successor)
    requireBeforeSunset(house.deprecation, endpoint.route.at, endpoint.successor.route.at, now);
  if (rankOf(caller.role) < endpoint.rank) refuseRole(endpoint, caller);
  return endpoint.isWrite
    ? write(house, exchange, endpoint, caller)
    : read(house, exchange, endpoint, caller);
}

async function read(
  house: Handling,
  exchange: Exchange,
  endpoint: Prepared,
  caller: Caller,
): Promise<Answer> {
  const { request, search, now } = exchange;
  const input = endpoint.input.parameters(request.params ?? {}, search);
  const result = await endpoint.operation({ caller, store: house.store, now }, input);
  const { tag } = result;
  if (tag !== undefined && noneMatchHits(request.headers.get("if-none-match"), tag)) {
    return { status: 304, body: null, headers: { etag: `"${tag}"` } };
  }
  return success(exchange, endpoint, result);
}

async function write(
  house: Handling,
  exchange: Exchange,
  endpoint: Prepared,
  caller: Caller,
): Promise<Answer> {
  const { request, pathname, search, now } = exchange;
  const bytes = endpoint.route.body ? await readBody(request, endpoint.route) : nothing;
  const json = endpoint.route.body ? parseJson(bytes) : undefined;
  const input = endpoint.input.parameters(request.params ?? {}, search);
  const key = idempotencyKey(request.headers.get("idempotency-key"));
  if (endpoint.route.body) {
    try {
      input.body = endpoint.input.body(json);
    } catch (error) {
      // Only a valid body was ever kept, so a known key means that this one differs: that comes first.
      if (key && (await house.store.keptAnswer(caller.clientId, key, now - ANSWERS_KEPT_MS)))
        refuseReusedKey(key);
      throw error;
    }
  }
  const performed = await house.store.perform({
    operation: endpoint.id,
    caller,
    input,
    now,
    ifMatch: ifMatchTags(request.headers.get("if-match")),
    idempotency:
      key === undefined
        ? undefined
        : { key, fingerprint: fingerprint(request.method, pathname + search, bytes) },
  });
  return success(exchange, endpoint, performed);
}

function success({ pathname, search }: Exchange, endpoint: Prepared, result: Performed): Answer {
  const headers: Record<string, string> = {};
  if (result.tag !== undefined) headers.etag = `"${result.tag}"`;
  if (result.isReplay) headers["idempotency-replayed"] = "true";
  if (endpoint.route.location)
    headers.location = filled(endpoint.route.location, result.body as Record<string, unknown>);
  if (endpoint.route.kind === "list") headers.link = pageLinks(pathname, search, result);
  return {
    status: endpoint.successStatus,
    headers,
    body: result.body === undefined ? null : JSON.stringify(result.body),
  };
}

const nothing = new Uint8Array();

function begun(request: PathRequest, now: number): Exchange {
  const { url } = request;
  // Without a usable Host header the runtime gives the path alone.
  const path = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", path);
  return {
    request,
    now,
    pathname: query < 0 ? url.slice(path) : url.slice(path, query),
    search: query < 0 ? "" : url.slice(query),
  };
}

function wrongMethod(path: Path, method: string): Answer {
  if (method === "OPTIONS") return { status: 204, body: null, headers: { allow: path.allow } };
  const answer = refusal(
    new Failure("method_not_allowed", `${path.pattern} has no ${method}. It takes ${path.allow}.`),
  );
  return { ...answer, headers: { ...answer.headers, allow: path.allow } };
}

function alwaysOf({ route, successor }: Prepared, deprecation: Deprecation, params: PathRequest["params"]) {
  if (successor) return deprecationHeaders(deprecation, filled(successor.path, params ?? {}));
  return route.stability ? { "x-api-stability": route.stability } : undefined;
}

function filled(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

function refuseRole(endpoint: Prepared, caller: Caller): never {
  fail(
    "forbidden",
    `${endpoint.route.at} needs a key of the role ${endpoint.route.role}; this key has the role ${caller.role}.`,
  );
}

/** Relative addresses, so that they hold behind any proxy. */
function pageLinks(pathname: string, search: string, { next }: Result): string {
  const query = new URLSearchParams(search);
  query.delete("cursor");
  const first = query.size > 0 ? `${pathname}?${query}` : pathname;
  if (next === undefined) return `<${first}>; rel="first"`;
  query.set("cursor", next);
  return `<${pathname}?${query}>; rel="next", <${first}>; rel="first"`;
}

function fingerprint(method: string, address: string, body: Uint8Array): string {
  return createHash("sha256").update(`${method} ${address}\n`).update(body).digest("base64url");
}

/** What the caller is told; what is behind it goes to the log. */
function failureOf(
  house: Handling,
  error: unknown,
  requestId: string,
  { request, endpoint }: Exchange,
): Failure {
  if (error instanceof Failure) {
    if (error.cause !== undefined)
      house.log.error(error.message, { requestId, operation: endpoint?.id, cause: String(error.cause) });
    return error;
  }
  if (request.signal.aborted) return new Failure("invalid_json", "The body ended early.");
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  house.log.error(redacted(message), { requestId, operation: endpoint?.id, stack: redacted(stack ?? "") });
  return new Failure(
    "internal_error",
    `Something went wrong on our side. Report it with the request id ${requestId}.`,
  );
}
