// A typed client of the Petstore API that retries, paces itself and verifies webhooks.
export type * from "./api.ts";
export type { Answer, Call, EventStream, ListCall, Page } from "./call.ts";
export { Petstore } from "./client.ts";
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  GoneError,
  NotFoundError,
  PaceError,
  PermissionDeniedError,
  PetstoreError,
  PreconditionFailedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableError,
  UnreadableAnswerError,
  WebhookError,
} from "./errors.ts";
export type {
  CallOptions,
  ChangeOptions,
  Logger,
  PetstoreOptions,
  StreamOptions,
  Surroundings,
  WriteOptions,
} from "./options.ts";
export type { RateLimit, RateWindow } from "./rates.ts";
export {
  type EventType,
  type PetstoreEvent,
  type VerifyOptions,
  verifyWebhook,
  type WebhookPing,
} from "./webhooks.ts";
