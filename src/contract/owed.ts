import { type ErrorCode, errors } from "./errors.ts";
import { type Endpoint, isWrite, takesIfMatch } from "./route.ts";

/** Every code that an endpoint can answer: its own, and what its kind of endpoint owes. */
export function errorsOf({ method, route }: Endpoint): ErrorCode[] {
  const owed: ErrorCode[] = [
    "invalid_parameter",
    "unsupported_version",
    "missing_api_key",
    "invalid_api_key",
    "expired_api_key",
    "revoked_api_key",
    "key_banned",
    "client_suspended",
    "not_acceptable",
    "uri_too_long",
    "rate_limit_exceeded",
    "daily_quota_exceeded",
    "internal_error",
    "overloaded",
    "unavailable",
  ];
  if (route.role !== "customer") owed.push("forbidden");
  if (route.body)
    owed.push("invalid_json", "request_timeout", "body_too_large", "unsupported_media_type", "invalid_body");
  if (route.successor) owed.push("operation_sunset");
  if (isWrite(method)) owed.push("idempotency_in_progress", "idempotency_key_reused");
  if (takesIfMatch(method, route)) owed.push("precondition_failed");
  const all = new Set<ErrorCode>([...owed, ...route.errors]);
  return (Object.keys(errors) as ErrorCode[]).filter((code) => all.has(code));
}

const retriable = new Set<ErrorCode>([
  "idempotency_in_progress",
  "too_many_streams",
  "request_timeout",
  "rate_limit_exceeded",
]);

/** Whether the same request can succeed later without anybody changing it. */
export function isWorthRetrying(code: ErrorCode): boolean {
  return errors[code].status >= 500 || retriable.has(code);
}
