import { after, attempt } from "../core/after.ts";
import { Failure, fail } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import type { Awaitable, Limits, Standing } from "../core/ports.ts";
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

/** What is found out about a request on its way. */
interface Exchange {
  readonly request: Incoming;
  readonly params: PathParams;
  readonly now: number;
  caller: KnownCaller | undefined;
  endpoint: Prepared | undefined;
  /** The windows of whoever pays for the request, and the time by which they were looked at. */
  state: LimitState | undefined;
  judgedAt: number;
  standing: Standing | undefined;
}

/** The path that a request names, and its variable parts. */
export interface Found {
  readonly path: Path | null;
  readonly params: PathParams;
}

/** A request's whole life: from the first look at it to the log line. Nothing waits that need not. */
export function handler(house: Handling): (found: Found, request: Incoming) => Awaitable<Reply> {
  return ({ path, params }, request) => {
    const started = performance.now();
    const preflight = request.method === "OPTIONS" ? house.cors.preflight(request) : null;
    if (preflight) return replyOf(preflight);

    const now = house.clock();
    const exchange: Exchange = {
      request,
      params,
      now,
      caller: undefined,
      endpoint: path?.methods[request.method],
      state: undefined,
      judgedAt: now,
      standing: undefined,
    };
    const requestId = safeRequestId(request.headers.get("x-request-id")) ?? house.newRequestId();
    const refused = (error: unknown) => refusal(failureOf(house, error, requestId, exchange));
    const sent = (answer: Answer): Reply => {
      const { caller, endpoint, state, judgedAt } = exchange;
      if (caller) house.record(caller.clientId, endpoint?.id, answer.status, now);
      house.log.request({
        time: now,
        requestId,
        method: request.method,
        path: redacted(request.pathname).slice(0, LOGGED_CHARACTERS),
        operation: endpoint?.id,
        status: answer.status,
        milliseconds: Math.round((performance.now() - started) * 1000) / 1000,
        clientId: caller?.clientId,
        keyId: caller?.keyId,
        code: answer.code,
      });
      const quota = state ? quotaLines(state) : commonLines;
      const rates = answer.rateLines ?? (state ? rateLines(state, Math.floor(judgedAt / 1000)) : "");
      const always = endpoint ? linesOf(alwaysOf(endpoint, house.deprecation, params)) : "";
      const cors = linesOf(house.cors.headers(request));
      return replyOf(answer, `${quota}${rates}x-request-id: ${requestId}\r\n${always}${cors}`, jsonLine);
    };
    return after(
      attempt(() => answered(house, path, exchange), refused),
      sent,
    );
  };
}

/** An answer written out behind the lines that it shares with others. */
export function replyOf({ status, body, headers }: Answer, lines = "", typeLine = ""): Reply {
  return { status, body, headerLines: `${body === null ? "" : typeLine}${lines}${linesOf(headers)}` };
}

/** The checks in the order that the API documents, then the operation. */
function answered(house: Handling, path: Path | null, exchange: Exchange): Awaitable<Answer> {
  const { request, now } = exchange;
  const isOverloaded = house.isOverloaded();
  const isQuestion = exchange.endpoint?.route.uncounted === true;
  return after(house.callers.identify(request, now, isOverloaded), (caller) =>
    after(admit(house, exchange, caller, isOverloaded, isQuestion), (refused) => {
      if (isOverloaded)
        fail("overloaded", "The server has more work than it can finish in time. Repeat the request later.");
      return refused ?? operated(house, path, exchange, caller);
    }),
  );
}

/** What is asked of a caller who may ask. */
function operated(
  house: Handling,
  path: Path | null,
  { request, params, now, endpoint, state, standing }: Exchange,
  caller: KnownCaller | Failure,
): Awaitable<Answer> {
  const { method, pathname, search, headers } = request;
  if (pathname.length + search.length > URL_CHARACTERS) refuseLength(pathname.length + search.length);
  if (!path) refusePath(pathname);
  if (!endpoint) return wrongMethod(path, method);
  if (caller instanceof Failure) return refusedCaller(caller);
  requireVersion(headers.get("api-version"));
  requireJsonAccepted(headers.get("accept"));
  if (endpoint.successor && now >= house.deprecation.sunsetAt) throw sunset(house, endpoint);
  if (rankOf(caller.role) < endpoint.rank) refuseRole(endpoint, caller);

  const rehearsal = rehearsalOf(headers.get("prefer"));
  if (rehearsal !== undefined) {
    const { bans } = house.rules;
    const sunsetOf = () => sunset(house, endpoint);
    return rehearse(rehearsal, { endpoint, state: state as LimitState, now, bans, sunset: sunsetOf });
  }
  const call = { request, params, now, endpoint, caller, standing };
  if (!endpoint.isWrite) return read(house.store, house.rules, call);
  return endpoint.route.access ? changedAccess(house, call) : write(house.store, call);
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

/** Who pays for the request, and whether they can: a ban, then the count. Nothing else was looked at yet. */
function admit(
  { limits, addressOf }: Handling,
  exchange: Exchange,
  caller: KnownCaller | Failure,
  isFree: boolean,
  isQuestion: boolean,
): Awaitable<Answer | null> {
  const { request, now } = exchange;
  if (caller instanceof Failure) {
    return after(limits.admitAddress(addressOf(request), now, isFree), (admission) => {
      const { state, refusing, judgedAt = now } = admission;
      exchange.state = state;
      exchange.judgedAt = judgedAt;
      // Whose key it is could not be looked up: a client of ours is not told to wait for its address's windows.
      if (caller.code === "unavailable") return null;
      return refusing === "minute" || refusing === "day"
        ? tooManyRequests(state, refusing, Math.floor(judgedAt / 1000), spentByAddress)
        : null;
    });
  }
  exchange.caller = caller;
  if (isQuestion && !isFree) {
    return after(limits.ask(caller, now), ({ standing, waitSeconds }) => {
      exchange.state = standing.state;
      exchange.judgedAt = standing.judgedAt ?? now;
      exchange.standing = standing;
      return waitSeconds === null ? null : tooManyQuestions(waitSeconds);
    });
  }
  return after(limits.admit(caller, now, isFree), (admission) => {
    const { state, refusing, bannedUntil, judgedAt = now } = admission;
    exchange.state = state;
    exchange.judgedAt = judgedAt;
    if (refusing === null || isFree) return null;
    return refusing === "ban"
      ? banned(bannedUntil as number, judgedAt)
      : tooManyRequests(state, refusing, Math.floor(judgedAt / 1000));
  });
}

const spentByAddress = "Send a valid API key, which is counted by itself";

function wrongMethod(path: Path, method: string): Answer {
  if (method === "OPTIONS") return { status: 204, body: null, headers: { allow: path.allow } };
  const answer = refusal(
    new Failure("method_not_allowed", `${path.pattern} has no ${method}. It takes ${path.allow}.`),
  );
  return { ...answer, headers: { ...answer.headers, allow: path.allow } };
}

function alwaysOf({ route, successor }: Prepared, deprecation: Deprecation, params: PathParams) {
  if (successor) return deprecationHeaders(deprecation, successor.fill(params));
  return route.stability ? { "x-api-stability": route.stability } : undefined;
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
function failureOf(house: Handling, error: unknown, requestId: string, { endpoint }: Exchange): Failure {
  const operation = endpoint?.id;
  if (error instanceof Failure) {
    if (error.cause !== undefined)
      house.log.error(error.message, { requestId, operation, cause: String(error.cause) });
    return error;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  house.log.error(redacted(message), { requestId, operation, stack: redacted(stack ?? "") });
  return new Failure(
    "internal_error",
    `Something went wrong on our side. Report it with the request id ${requestId}.`,
  );
}
