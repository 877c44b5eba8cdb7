import type { Failure } from "../core/failure.ts";
import type { Limits, Standing } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import type { LimitState } from "../core/windows.ts";
import type { Callers, KnownCaller } from "./caller.ts";
import type { Cors } from "./cors.ts";
import type { Deprecation } from "./deprecation.ts";
import type { Path, Prepared } from "./endpoint.ts";
import type { Log, RequestLine } from "./log.ts";
import type { PathParams, Store } from "./operate.ts";
import type { EventStreams } from "./streams.ts";
import type { Incoming } from "./wire/request.ts";

/** Counts what is answered, for those who run the server. */
export interface Meter {
  /** The number of a place where requests are answered: a method, and a path as the contract writes it or nothing. */
  place(method: string, route: string): number;
  answered(place: number, status: number, milliseconds: number, code: string | undefined): void;
}

/** Follows requests from one service to the next, for those who run them. */
export interface Tracer {
  /** The span of a request, or nothing if it is not one of those that are followed; times as in `Exchange`. */
  begin(headers: Incoming["headers"], now: number, started: number): Span | undefined;
}

/** A request that is followed. */
export interface Span {
  readonly traceId: string;
  /** It waited for a part of the server, by `performance.now()`; and which error came of that, if one did. */
  waited(part: string, step: string, from: number, to: number, errorType: string | undefined): void;
  /** It is answered; `route` is the path as the contract writes it. */
  end(line: RequestLine, route: string | undefined): void;
}

/** What every request needs of the server. */
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
  readonly meter: Meter;
  /** Nobody follows requests without it. */
  readonly tracer?: Tracer | undefined;
  /** Brings what was counted into the database, before something there is decided by it. */
  readonly settle: () => Promise<void>;
  /** Those who follow the log of events; made for the first of them. */
  readonly streams: () => Promise<EventStreams>;
  /** The network address that a request without a valid key is counted against. */
  readonly addressOf: (request: Incoming) => string;
  /** Whether there is more work under way than can be finished in time. */
  readonly isOverloaded: () => boolean;
}

/** A request, and what is found out about it on its way. */
export interface Exchange {
  readonly house: Handling;
  readonly span: Span | undefined;
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
