import { QUESTIONS } from "../contract/plans.ts";
import { after } from "../core/after.ts";
import { Failure } from "../core/failure.ts";
import type { Admission, Awaitable, Limits } from "../core/ports.ts";
import { type Answer, refusal } from "./answer.ts";
import type { KnownCaller } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import { banned, tooManyRequests } from "./rates.ts";

/** Whether the request can be paid for, by its caller or by its network address; nothing else of it was looked at yet. */
export function admit(exchange: Exchange, caller: KnownCaller | Failure): Awaitable<Answer | null> {
  return caller instanceof Failure ? admitAddress(exchange, caller) : admitCaller(exchange, caller);
}

/** A ban, then the count. */
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

function tooManyQuestions(waitSeconds: number): Answer {
  const message = `A key may ask for its limits ${QUESTIONS.perMinute} times a minute. Wait ${waitSeconds} s; asking costs none of your requests.`;
  return refusal(new Failure("rate_limit_exceeded", message, undefined, waitSeconds));
}
