import { after, attempt } from "../core/after.ts";
import { causeOf, Failure, fail } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import type { Admission, Awaitable, Limits, Standing } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import type { LimitState } from "../core/windows.ts";
import { type Answer, commonLines, jsonLine, refusal } from "./answer.ts";
import type { Callers, KnownCaller } from "./caller.ts";
import type { Cors } from "./cors.ts";
import { type Deprecation, deprecationHeaders, sunsetFailure } from "./deprecation.ts";
import { type Path, type Prepared, rankOf } from "./endpoint.ts";
import { requireJsonAccepted, requireVersion, safeRequestId } from "./headers.ts";
import type { Log } from "./log.ts";
import { type Call, type PathParams, read, type Store, write } from "./operate.ts";
import { banned, quotaLines, rateLines, tooManyRequests } from "./rates.ts";
import { rehearsalOf, rehearse } from "./rehearsal.ts";
import { linesOf, type Reply } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

export const URL_CHARACTERS = 8 * 1024;
/** How much of a path the log keeps. */
const LOGGED_CHARACTERS = 500;

export interface Handling {
  readonly store: Store;
  readonly rules: Rules;
  readonly limits: Limits;
  readonly callers: Callers;
  readonly clock: () => number;
  readonly log: Log;
  readonly cors: Cors;
  readonly deprecation: Deprecation;
  readonly newRequestId: () => string;
  /** Counts a client's request for its usage. */
  readonly record: (clientId: number, operation: string | undefined, status: number, now: number) => void;
  /** Brings what was counted into the database, before something there is decided by it. */
  readonly settle: () => Promise<void>;
  /** The network address that a request without a valid key is counted against. */
  readonly addressOf: (request: Incoming) => string;
  /** Whether there is more work under way than can be finished in time. */
  readonly isOverloaded: () => boolean;
}

/** A request, and what is found out about it on its way. */
interface Exchange {
  readonly house: Handling;
  readonly request: Incoming;
  readonly path: Path | null;
  readonly params: PathParams;
  readonly endpoint: Prepared | undefined;
  readonly requestId: string;
  /** By `performance.now()`. */
  readonly started: number;
  readonly now: number;
  readonly isOverloaded: boolean;
  /** Who asks, or why its key is refused. */
  caller: KnownCaller | Failure | undefined;
  /** The windows of whoever pays for the request, and the time by which they were looked at. */
  state: LimitState | undefined;
  judgedAt: number;
  standing: Standing | undefined;
}

/** A request's whole life: from the first look at it to the log line. Nothing waits that need not. */
export function handler(
  house: Handling,
): (path: Path | null, params: PathParams, request: Incoming) => Awaitable<Reply> {
  return (path, params, request) => {
    const started = performance.now();
    const preflight = request.method === "OPTIONS" ? house.cors.preflight(request) : null;
    if (preflight) return replyOf(preflight);

    const now = house.clock();
    const exchange: Exchange = {
      house,
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
  const admission =
    caller instanceof Failure ? admitAddress(exchange, caller) : admitCaller(exchange, caller);
  return after(admission, admitted, exchange);
}

function admitted(instead: Answer | null, exchange: Exchange): Awaitable<Answer> {
  if (exchange.isOverloaded)
    fail("overloaded", "The server has more work than it can finish in time. Repeat the request later.");
  return instead ?? operated(exchange);
}

function refused(error: unknown, exchange: Exchange): Answer {
  return refusal(failureOf(error, exchange));
}

/** The answer is counted and noted, and gets its headers. */
function sent(answer: Answer, exchange: Exchange): Reply {
  const { house, request, params, endpoint, requestId, started, now, state, judgedAt } = exchange;
  const caller = exchange.caller instanceof Failure ? undefined : exchange.caller;
  if (caller) house.record(caller.clientId, endpoint?.id, answer.status, now);
  house.log.request({
    time: now,
    requestId,
    method: request.method,
    path: redacted(request.pathname).slice(0, LOGGED_CHARACTERS),
    operation: endpoint?.id,
    status: answer.status,
    microseconds: Math.round((performance.now() - started) * 1000),
    clientId: caller?.clientId,
    keyId: caller?.keyId,
    code: answer.code,
  });
  const quota = state ? quotaLines(state) : commonLines;
  const rates = answer.rateLines ?? (state ? rateLines(state, Math.floor(judgedAt / 1000)) : "");
  const always = endpoint ? alwaysOf(endpoint, house.deprecation, params) : "";
  const cors = house.cors.headerLines(request);
  return replyOf(answer, `${quota}${rates}x-request-id: ${requestId}\r\n${always}${cors}`, jsonLine);
}

/** An answer written out behind the lines that it shares with others. */
export function replyOf({ status, body, headerLines }: Answer, lines = "", typeLine = ""): Reply {
  return { status, body, headerLines: `${body === null ? "" : typeLine}${lines}${headerLines}` };
}

/** What is asked of a caller who may ask. */
function operated(exchange: Exchange): Awaitable<Answer> {
  const { house, request, path, params, now, endpoint, caller, standing } = exchange;
  const { method, pathname, search, headers } = request;
  if (pathname.length + search.length > URL_CHARACTERS) refuseLength(pathname.length + search.length);
  if (!path) refusePath(pathname);
  if (!endpoint) return wrongMethod(path, method);
  if (caller instanceof Failure) return refusedCaller(caller);
  requireVersion(headers.get("api-version"));
  requireJsonAccepted(headers.get("accept"));
  if (endpoint.successor && now >= house.deprecation.sunsetAt) throw sunset(house, endpoint);
  const known = caller as KnownCaller;
  if (rankOf(known.role) < endpoint.rank) refuseRole(endpoint, known);

  const call = { request, params, now, endpoint, caller: known, standing };
  const rehearsal = rehearsalOf(headers.get("prefer"));
  if (rehearsal !== undefined) return rehearsed(rehearsal, exchange, call);
  if (!endpoint.isWrite) return read(house.store, house.rules, call);
  return endpoint.route.access ? changedAccess(house, call) : write(house.store, call);
}

function rehearsed(rehearsal: string, exchange: Exchange, call: Call): Promise<Answer> {
  const { house, state, judgedAt } = exchange;
  const { store, rules } = house;
  const sunsetOf = () => sunset(house, call.endpoint);
  return rehearse(rehearsal, { call, judgedAt, state: state as LimitState, store, rules, sunset: sunsetOf });
}

/** Most refused keys are refused for one of a few reasons, each of which is answered with the same words for ever. */
const callerRefusals = new WeakMap<Failure, Answer>();

function refusedCaller(failure: Failure): Answer {
  // What is behind it goes to the log.
  if (failure.cause !== undefined) throw failure;
  const made = callerRefusals.get(failure);
  if (made) return made;
  const answer = refusal(failure);
  callerRefusals.set(failure, answer);
  return answer;
}

/** A change of who may do what: decided by all that was counted, and known to the next request. */
async function changedAccess({ store, callers, settle }: Handling, call: Call): Promise<Answer> {
  await settle();
  const answer = await write(store, call);
  callers.forget();
  return answer;
}

/** Whether a caller can pay for the request: a ban, then the count. Nothing else was looked at yet. */
function admitCaller(exchange: Exchange, caller: KnownCaller): Awaitable<Answer | null> {
  const { house, endpoint, now, isOverloaded } = exchange;
  if (endpoint?.route.uncounted === true && !isOverloaded)
    return after(house.limits.ask(caller, now), standingTold, exchange);
  return after(house.limits.admit(caller, now, isOverloaded), callerJudged, exchange);
}

function callerJudged(admission: Admission, exchange: Exchange): Answer | null {
  const { state, refusing, bannedUntil, judgedAt = exchange.now } = admission;
  exchange.state = state;
  exchange.judgedAt = judgedAt;
  if (refusing === null || exchange.isOverloaded) return null;
  return refusing === "ban"
    ? banned(bannedUntil as number, judgedAt)
    : tooManyRequests(state, refusing, Math.floor(judgedAt / 1000));
}

function standingTold({ standing, waitSeconds }: Told, exchange: Exchange): Answer | null {
  exchange.state = standing.state;
  exchange.judgedAt = standing.judgedAt ?? exchange.now;
  exchange.standing = standing;
  return waitSeconds === null ? null : tooManyQuestions(waitSeconds);
}

type Told = Awaited<ReturnType<Limits["ask"]>>;

/** Whoever has no valid key pays by its network address. */
function admitAddress(exchange: Exchange, failure: Failure): Awaitable<Answer | null> {
  const { house, request, now, isOverloaded } = exchange;
  const admission = house.limits.admitAddress(house.addressOf(request), now, isOverloaded);
  // Whose key it is could not be looked up: a client of ours is not told to wait for its address's windows.
  return after(admission, failure.code === "unavailable" ? addressCounted : addressJudged, exchange);
}

function addressJudged(admission: Admission, exchange: Exchange): Answer | null {
  addressCounted(admission, exchange);
  const { state, refusing } = admission;
  return refusing === "minute" || refusing === "day"
    ? tooManyRequests(state, refusing, Math.floor(exchange.judgedAt / 1000), spentByAddress)
    : null;
}

function addressCounted({ state, judgedAt }: Admission, exchange: Exchange): null {
  exchange.state = state;
  exchange.judgedAt = judgedAt ?? exchange.now;
  return null;
}

const spentByAddress = "Send a valid API key, which is counted by itself";

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
  fail("uri_too_long", `The URL has ${characters} characters; at most ${URL_CHARACTERS} are taken.`);
}

function refusePath(pathname: string): never {
  fail(
    "not_found",
    `There is nothing at ${redacted(pathname).slice(0, 200)}. The paths are in /openapi.json.`,
  );
}

function refuseRole({ route }: Prepared, { role }: KnownCaller): never {
  fail("forbidden", `${route.at} needs a key of the role ${route.role}; this key has the role ${role}.`);
}

function tooManyQuestions(waitSeconds: number): Answer {
  const message = `A key may ask for its limits 60 times a minute. Wait ${waitSeconds} s; asking costs none of your requests.`;
  return refusal(new Failure("rate_limit_exceeded", message, undefined, waitSeconds));
}

/** What the caller is told; what is behind it goes to the log. */
function failureOf(error: unknown, { house, requestId, endpoint }: Exchange): Failure {
  const operation = endpoint?.id;
  if (error instanceof Failure) {
    if (error.cause !== undefined)
      house.log.error(error.message, { requestId, operation, cause: causeOf(error) });
    return error;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  house.log.error(redacted(message), { requestId, operation, stack: redacted(stack ?? "") });
  return new Failure(
    "internal_error",
    `Something went wrong on our side. Report it with the request id ${requestId}.`,
  );
}
