import { conflicts } from "./conflicts.ts";

export interface ErrorEntry {
  readonly status: number;
  /** When it is given. */
  readonly cause: string;
  /** What the caller does about it. */
  readonly remedy: string;
}

/** Every error code with its status: the one table that server, document and docs read. */
export const errors = {
  malformed_request: {
    status: 400,
    cause: "What came is not one unmistakable HTTP/1.1 request; the connection is closed.",
    remedy: "Use an HTTP client; the message says which rule was broken.",
  },
  invalid_json: {
    status: 400,
    cause:
      "The body is not one JSON value in UTF-8, repeats a key, is nested deeper than 32 levels, or has more than 20,000 values.",
    remedy: "Send one well-formed JSON value.",
  },
  invalid_parameter: {
    status: 400,
    cause: "A path, query or header parameter is unknown, repeated or outside its range.",
    remedy: "Correct the parameters that `details` names.",
  },
  unsupported_version: {
    status: 400,
    cause: "`API-Version` names a version that this server does not speak.",
    remedy: "Leave the header out, or send 1, 1.0 or 1.0.0.",
  },
  missing_api_key: {
    status: 401,
    cause: "The request carries no API key.",
    remedy: "Send the key as `X-API-Key: <API_KEY>` or `Authorization: Bearer <API_KEY>`.",
  },
  invalid_api_key: {
    status: 401,
    cause: "The key is mistyped, unknown, sent twice, or sent in the URL.",
    remedy: "Check the key; send it once, in a header.",
  },
  expired_api_key: {
    status: 401,
    cause: "The key's expiry date has passed.",
    remedy: "Ask for a new key.",
  },
  revoked_api_key: {
    status: 401,
    cause: "The key was revoked.",
    remedy: "Ask for a new key.",
  },
  forbidden: {
    status: 403,
    cause: "The key's role does not allow the operation.",
    remedy: "Use a key with the role that the message names.",
  },
  key_banned: {
    status: 403,
    cause: "The key is banned for a time, after too many requests that followed a 429, or by an admin.",
    remedy: "Send nothing until `Retry-After` has passed; `GET /account/limits` works meanwhile.",
  },
  role_too_high: {
    status: 403,
    cause: "A key can make keys of its own role or below only.",
    remedy: "Ask for a lower role, or use a key of a higher one.",
  },
  client_suspended: {
    status: 403,
    cause: "The client that owns the key is suspended.",
    remedy: "Contact the operator.",
  },
  not_found: {
    status: 404,
    cause: "No operation has this path.",
    remedy: "Compare the path with `/openapi.json`; paths have no trailing slash.",
  },
  pet_not_found: {
    status: 404,
    cause: "No pet has this id.",
    remedy: "Find the id with `GET /pets`.",
  },
  category_not_found: {
    status: 404,
    cause: "No category has this id.",
    remedy: "Find the id with `GET /categories`.",
  },
  order_not_found: {
    status: 404,
    cause: "No order of this client has this id.",
    remedy: "Find the id with `GET /store/orders`.",
  },
  client_not_found: {
    status: 404,
    cause: "No client has this id.",
    remedy: "Find the id with `GET /admin/clients`.",
  },
  key_not_found: {
    status: 404,
    cause: "No key that the caller may see has this id.",
    remedy: "Find the id with `GET /account/keys`, or `GET /admin/clients/{clientId}/keys`.",
  },
  ban_not_found: {
    status: 404,
    cause: "The key is not banned.",
    remedy: "There is nothing to lift; `GET /admin/bans` lists the bans in force.",
  },
  webhook_not_found: {
    status: 404,
    cause: "No webhook that the caller may see has this id.",
    remedy: "Find the id with `GET /webhooks`.",
  },
  delivery_not_found: {
    status: 404,
    cause: "The webhook has no delivery with this id, or it is no longer kept.",
    remedy: "Find the id with `GET /webhooks/{webhookId}/deliveries`.",
  },
  method_not_allowed: {
    status: 405,
    cause: "The path exists, but not with this method.",
    remedy: "Use one of the methods in the `Allow` header.",
  },
  not_acceptable: {
    status: 406,
    cause:
      "`Accept` excludes what the operation answers with: `application/json`, of a stream `text/event-stream`.",
    remedy: "Accept that, or leave the header out.",
  },
  request_timeout: {
    status: 408,
    cause: "The request, or its body, did not arrive within 10 seconds.",
    remedy: "Repeat the request over a better connection.",
  },
  ...conflicts,
  operation_sunset: {
    status: 410,
    cause: "The operation's sunset date has passed.",
    remedy: "Use the successor that the message and the `Link` header name.",
  },
  events_expired: {
    status: 410,
    cause: "The events behind this position are no longer kept.",
    remedy:
      "Some were missed: begin anew first, with `since=now` or a stream without a last id, and read the records after that.",
  },
  precondition_failed: {
    status: 412,
    cause: "The record changed since the ETag in `If-Match` was given.",
    remedy: "Read the record again, apply the change to it, and send the new ETag.",
  },
  body_too_large: {
    status: 413,
    cause: "The body is larger than the operation takes (64 KiB; a batch 8 MiB).",
    remedy: "Send less, or several requests.",
  },
  uri_too_long: {
    status: 414,
    cause: "The URL is longer than 8 KiB.",
    remedy: "Send fewer or shorter parameters.",
  },
  unsupported_media_type: {
    status: 415,
    cause: "The body is not declared as JSON, or is compressed.",
    remedy: "Send `Content-Type: application/json` and no `Content-Encoding`.",
  },
  invalid_body: {
    status: 422,
    cause: "The body is JSON, but not of the operation's shape.",
    remedy: "Correct the fields that `details` names.",
  },
  unknown_category: {
    status: 422,
    cause: "`categoryId` names no category.",
    remedy: "Create the category first, or use the id of an existing one.",
  },
  unknown_pet: {
    status: 422,
    cause: "`petId` names no pet.",
    remedy: "Use the id of an existing pet.",
  },
  invalid_webhook_url: {
    status: 422,
    cause:
      "Nothing can be sent to the address of the webhook: it is not https, not public, or has a user name, a password or a fragment.",
    remedy: "Give an address that begins with `https://`, is on the public Internet, and has none of these.",
  },
  invalid_plan: {
    status: 422,
    cause: "Enterprise needs both of its numbers; the other plans take none.",
    remedy: "Send `perMinute` and `perDay` with `enterprise`, and only there.",
  },
  idempotency_key_reused: {
    status: 422,
    cause:
      "The `Idempotency-Key` was used for another request within 24 hours: method, address, body (byte by byte) and the role of the API key must be the same.",
    remedy: "Repeat that request exactly, or use a new key for a new one.",
  },
  rate_limit_exceeded: {
    status: 429,
    cause: "The requests of this minute are spent.",
    remedy:
      "Wait for `Retry-After` seconds; the next request then succeeds. Repeated requests before that lead to a ban.",
  },
  daily_quota_exceeded: {
    status: 429,
    cause: "The requests of this UTC day are spent.",
    remedy: "Wait for `Retry-After` seconds, until the next UTC day, or move to a higher plan.",
  },
  headers_too_large: {
    status: 431,
    cause: "The headers are over 16 KiB; the connection is closed.",
    remedy: "Send fewer or shorter headers.",
  },
  internal_error: {
    status: 500,
    cause: "A fault of the server; the log has it under the request id.",
    remedy: "Repeat the request later; report the `X-Request-Id` if it stays.",
  },
  overloaded: {
    status: 503,
    cause: "The server has more work than it can finish in time; nothing was done.",
    remedy: "Repeat after `Retry-After`.",
  },
  unavailable: {
    status: 503,
    cause: "The data store did not answer; a write's outcome may be unknown.",
    remedy: "Repeat after `Retry-After`, a write with the same `Idempotency-Key`.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;
