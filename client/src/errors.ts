import type { ErrorBody, ErrorCode, ErrorDetail } from "./api.ts";
import { retryAfterSecondsOf } from "./rates.ts";

/** Everything that the client throws, but an abort's own reason and wrong arguments. */
export class PetstoreError extends Error {
  // Written out, because a minifier renames classes; and different for each, so that the compiler tells them apart.
  override readonly name: string = "PetstoreError";
  /** Seconds to wait before it is worth asking again, if that is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, options?: { cause?: unknown; retryAfterSeconds?: number | undefined }) {
    super(message, options);
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** The server could not be reached, or its answer did not arrive whole: whether a write was done is not known. */
export class ConnectionError extends PetstoreError {
  override readonly name: "ConnectionError" | "TimeoutError" | "UnreadableAnswerError" = "ConnectionError";
}

/** A try took longer than `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
}

/** The answer is not the JSON that the API gives. */
export class UnreadableAnswerError extends ConnectionError {
  override readonly name = "UnreadableAnswerError";
}

/** Nothing was sent: the rate limit is spent, and waiting for a turn would take longer than `maxPaceWaitMs`. */
export class PaceError extends PetstoreError {
  override readonly name = "PaceError";
}

/** A webhook's signature, time or body is wrong, or the secret is none. */
export class WebhookError extends PetstoreError {
  override readonly name = "WebhookError";
}

/** The server answered with an error. */
export class ApiError extends PetstoreError {
  override readonly name: string = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** Stable, for programs; missing if something between here and the server answered. */
  readonly code: ErrorCode | undefined;
  /** Every problem of a refused request. */
  readonly details: readonly ErrorDetail[];
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** The headers of the answer. */
  readonly headers: Headers;

  constructor(message: string, status: number, body: Partial<ErrorBody>, headers: Headers) {
    super(message, { retryAfterSeconds: retryAfterSecondsOf(headers) });
    this.status = status;
    this.code = body.code as ErrorCode | undefined;
    this.details = body.details ?? [];
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.headers = headers;
  }
}

/** 400: the request is malformed. */
export class BadRequestError extends ApiError {
  override readonly name = "BadRequestError";
}
/** 401: the key is missing, wrong, expired or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}
/** 403: the key may not do this, or is banned. */
export class PermissionDeniedError extends ApiError {
  override readonly name = "PermissionDeniedError";
}
/** 404: there is no such record. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}
/** 409: a rule of the store forbids it as things stand. */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
}
/** 410: the operation's time is over. */
export class GoneError extends ApiError {
  override readonly name = "GoneError";
}
/** 412: the record changed since the ETag in `ifMatch` was given. */
export class PreconditionFailedError extends ApiError {
  override readonly name = "PreconditionFailedError";
}
/** 422: the body is not what the operation takes; `details` names each problem. */
export class UnprocessableError extends ApiError {
  override readonly name = "UnprocessableError";
}
/** 429: the requests of the minute or of the day are spent. */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
}
/** 5xx: a fault on the server's side. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
}

const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionFailedError,
  422: UnprocessableError,
  429: RateLimitError,
};

/** The error of an answer, whoever gave it: a proxy's page has no code. @internal */
export function apiErrorOf(what: string, { status, headers }: Response, text: string): ApiError {
  const body = errorBodyOf(text);
  const Class = byStatus[status] ?? (status >= 500 ? ServerError : ApiError);
  return new Class(body.message ?? `${what} was answered with ${status}.`, status, body, headers);
}

/** Why a turn would come too late, and when to come back if that is known. @internal */
export function paceErrorOf(what: string, waitMs: number, maxPaceWaitMs: number): PaceError {
  const bound = `maxPaceWaitMs (${maxPaceWaitMs / 1000} s)`;
  if (!Number.isFinite(waitMs))
    return new PaceError(`${what} was not sent: its turn did not come within ${bound}.`);
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const at = new Date(Date.now() + waitMs).toISOString();
  return new PaceError(
    `${what} was not sent: the rate limit is spent for ${retryAfterSeconds} s, longer than its turn may take, ${bound}. Come back at ${at}.`,
    { retryAfterSeconds },
  );
}

function errorBodyOf(text: string): Partial<ErrorBody> {
  try {
    const body = JSON.parse(text);
    return typeof body?.code === "string" ? body : {};
  } catch {
    return {};
  }
}
