import { after, attempt } from "../core/after.ts";
import { causeOf, Failure, fail, Unavailable } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import type { Awaitable } from "../core/ports.ts";
import { some } from "../core/some.ts";
import type { LimitState } from "../core/windows.ts";
import { admit } from "./admit.ts";
import { type Answer, commonLines, jsonLine, refusal } from "./answer.ts";
import { type KnownCaller, overloaded } from "./caller.ts";
import { type Deprecation, deprecationHeaders, sunsetFailure } from "./deprecation.ts";
import { type Path, type Prepared, rankOf } from "./endpoint.ts";
import type { Exchange, Handling } from "./exchange.ts";
import { follow } from "./follow.ts";
import { requireAccepted, requireVersion, safeRequestId } from "./headers.ts";
import { type RequestLine, TRACE_ID } from "./log.ts";
import { type Call, type PathParams, read, write } from "./operate.ts";
import { quotaLines, rateLines } from "./rates.ts";
import { rehearsalOf, rehearse } from "./rehearsal.ts";
import { traced } from "./traced.ts";
import { linesOf, type Reply } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

export const URL_CHARACTERS = 8 * 1024;
/** How much of a path the log keeps. */
const LOGGED_CHARACTERS = 500;

/** A request's whole life: from the first look at it to the log line. Nothing waits that need not. */
export function handler(
  house: Handling,
): (path: Path | null, params: PathParams, request: Incoming) => Awaitable<Reply> {
  const met = house.tracer && traced(house);
  return (path, params, request) => {
    const started = performance.now();
    const preflight = request.method === "OPTIONS" ? house.cors.preflight(request) : null;
    if (preflight) {
      house.meter.answered(
        placeOf(house, path, request),
        preflight.status,
        performance.now() - started,
        undefined,
      );
      return replyOf(preflight);
    }

    const now = house.clock();
    const span = met && house.tracer?.begin(request.headers, now, started);
    const exchange: Exchange = {
      house: span && met ? met(span) : house,
      span,
      request,
      path,
      params,
      endpoint: path?.methods[request.method],
      requestId: safeRequestId(request.headers.get("x-request-id")) ?? house.newRequestId(),
      started,
      now,
      isOverloaded: house.isOverloaded(),
      caller: undefined,
      state: undefined,
      judgedAt: now,
      standing: undefined,
    };
    return after(attempt(answered, refused, exchange), sent, exchange);
  };
}

/** The checks in the order that the API documents, then the operation. */
function answered(exchange: Exchange): Awaitable<Answer> {
  const { house, request, now, isOverloaded } = exchange;
  return after(house.callers.identify(request, now, isOverloaded), identified, exchange);
}

function identified(caller: KnownCaller | Failure, exchange: Exchange): Awaitable<Answer> {
  exchange.caller = caller;
  return after(admit(exchange, caller), admitted, exchange);
}

function admitted(instead: Answer | null, exchange: Exchange): Awaitable<Answer> {
  if (exchange.isOverloaded) throw overloaded;
  return instead && !isLeaving(exchange) ? instead : operated(exchange);
}

function isLeaving({ path, request, caller }: Exchange): boolean {
  return path?.leaving === request.method && !(caller instanceof Failure);
}

function refused(error: unknown, exchange: Exchange): Answer {
  return refusal(failureOf(error, exchange));
}

/** The answer is counted and noted, and gets its headers. */
function sent(answer: Answer, exchange: Exchange): Reply {
  const { house, span, request, path, params, endpoint, requestId, started, now, state, judgedAt } = exchange;
  const caller = exchange.caller instanceof Failure ? undefined : exchange.caller;
  const milliseconds = performance.now() - started;
  const place = endpoint ? endpoint.place : placeOf(house, path, request);
  house.meter.answered(place, answer.status, milliseconds, answer.code);
  if (caller) house.record(caller.clientId, endpoint?.id, answer.status, now);
  const line: RequestLine = {
    time: now,
    requestId,
    method: request.method,
    path: redacted(request.pathname).slice(0, LOGGED_CHARACTERS),
    operation: endpoint?.id,
    status: answer.status,
    microseconds: Math.round(milliseconds * 1000),
    clientId: caller?.clientId,
    keyId: caller?.keyId,
    code: answer.code,
    traceId: span?.traceId,
  };
  house.log.request(line);
  span?.end(line, path?.pattern);
  const quota = state ? quotaLines(state) : commonLines;
  const rates = answer.rateLines ?? (state ? rateLines(state, Math.floor(judgedAt / 1000)) : "");
  const always = endpoint ? alwaysOf(endpoint, house.deprecation, params) : "";
  const cors = house.cors.headerLines(request);
  return replyOf(answer, `${quota}${rates}x-request-id: ${requestId}\r\n${always}${cors}`, jsonLine);
}

/** Where an answer is counted that no endpoint gives. */
function placeOf({ meter }: Handling, path: Path | null, { method }: Incoming): number {
  return meter.place(method, path?.pattern ?? "");
}

/** An answer written out behind the lines that it shares with others. */
export function replyOf({ status, body, headerLines, stream }: Answer, lines = "", typeLine = ""): Reply {
  const reply = { status, body, headerLines: `${body === null ? "" : typeLine}${lines}${headerLines}` };
  return stream === undefined ? reply : { ...reply, stream };
}

/** What is asked of a caller who may ask. */
function operated(exchange: Exchange): Awaitable<Answer> {
  const { house, request, path, params, now, endpoint, caller, standing } = exchange;
  const { method, pathname, search, headers } = request;
  if (pathname.length + search.length > URL_CHARACTERS) refuseLength(pathname.length + search.length);
  if (!path) refusePath(pathname);
  if (!endpoint && !(path.isForAdmins && isRead(method)))
    return path.beside?.[method]?.(exchange) ?? wrongMethod(path, method);
  if (caller instanceof Failure) return refusedCaller(caller);
  if (!endpoint) refuseStranger(path, caller as KnownCaller);
  requireVersion(headers.get("api-version"));
  requireAccepted(headers.get("accept"), endpoint.mediaType);
  if (endpoint.successor && now >= house.deprecation.sunsetAt) throw sunset(house, endpoint);
  const known = caller as KnownCaller;
  if (rankOf(known.role) < endpoint.rank) refuseRole(endpoint, known);

  const call = { request, params, now, endpoint, caller: known, standing };
  const rehearsal = rehearsalOf(headers.get("prefer"));
  if (rehearsal !== undefined) return rehearsed(rehearsal, exchange, call);
  if (endpoint.isStream) return follow(house, call, known);
  if (!endpoint.isWrite) return read(house.store, house.rules, call);
  return endpoint.route.access ? changedAccess(house, call) : write(house, call);
}

function rehearsed(rehearsal: string, exchange: Exchange, call: Call): Promise<Answer> {
  const { house, state, judgedAt } = exchange;
  const sunsetOf = () => sunset(house, call.endpoint);
  return rehearse(rehearsal, { call, judgedAt, state: state as LimitState, house, sunset: sunsetOf });
}

/** Most refused keys are refused for one of a few reasons, each of which is answered with the same words for ever. */
const callerRefusals = new WeakMap<Failure, Answer>();

export function refusedCaller(failure: Failure): Answer {
  // What is behind it goes to the log.
  if (failure.cause !== undefined) throw failure;
  const made = callerRefusals.get(failure);
  if (made) return made;
  const answer = refusal(failure);
  callerRefusals.set(failure, answer);
  return answer;
}

/** A change of who may do what: decided by all that was counted, and known to the next request. */
async function changedAccess(house: Handling, call: Call): Promise<Answer> {
  await house.settle();
  const answer = await write(house, call);
  house.callers.forget();
  return answer;
}

export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function wrongMethod(path: Path, method: string): Answer {
  const allowLine = linesOf({ allow: path.allow });
  if (method === "OPTIONS") return { status: 204, body: null, headerLines: allowLine };
  const answer = refusal(
    new Failure("method_not_allowed", `${path.pattern} has no ${method}. It takes ${path.allow}.`),
  );
  return { ...answer, headerLines: answer.headerLines + allowLine };
}

function alwaysOf(
  { stabilityLine, successor }: Prepared,
  deprecation: Deprecation,
  params: PathParams,
): string {
  return successor ? linesOf(deprecationHeaders(deprecation, successor.fill(params))) : stabilityLine;
}

function sunset({ deprecation }: Handling, { route, successor }: Prepared): Failure {
  return sunsetFailure(deprecation, route.at, successor?.route.at ?? "");
}

function refuseLength(characters: number): never {
  fail("uri_too_long", `The URL has ${some(characters, "character")}; at most ${URL_CHARACTERS} are taken.`);
}

function refusePath(pathname: string): never {
  const where = `There is nothing at ${redacted(pathname).slice(0, 200)}.`;
  const slash = pathname.endsWith("/") ? " Leave out the slash at the end." : "";
  fail("not_found", `${where}${slash} The paths are in /openapi.json.`);
}

function refuseRole({ route }: Prepared, { role }: KnownCaller): never {
  fail("forbidden", `${route.at} needs a key of the role ${route.role}; this key has the role ${role}.`);
}

/** Admins are answered before they come here, if their key could be looked up. */
function refuseStranger({ pattern }: Path, { role }: KnownCaller): never {
  if (role === "admin") throw new Unavailable("The key was not looked up in time.");
  fail("forbidden", `GET ${pattern} needs a key of the role admin; this key has the role ${role}.`);
}

/** What the caller is told; what is behind it goes to the log. */
function failureOf(error: unknown, { house, span, requestId, endpoint }: Exchange): Failure {
  const request = { requestId, operation: endpoint?.id, ...(span && { [TRACE_ID]: span.traceId }) };
  if (error instanceof Failure) {
    if (error.cause !== undefined) house.log.error(error.message, { ...request, cause: causeOf(error) });
    return error;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  house.log.error(redacted(message), { ...request, stack: redacted(stack ?? "") });
  return new Failure(
    "internal_error",
    `Something went wrong on our side. Report it with the request id ${requestId}.`,
  );
}
