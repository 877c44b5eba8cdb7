// Requests that are checked and not timed.

import { holdAgainstContract } from "../test/held.ts";

export interface Reply {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a check reads the fields that it expects
  readonly body: any;
  readonly headers: Headers;
}

export type Ask = (
  path: string,
  options?: { key?: string; post?: unknown; idempotencyKey?: string; headers?: Record<string, string> },
) => Promise<Reply>;

/** Asks a server; what ours says is held against its contract. */
export function asking(url: string, ownKey: string, isOurs = false): Ask {
  return async (path, { key = ownKey, post, idempotencyKey, headers } = {}) => {
    const method = post === undefined ? "GET" : "POST";
    const response = await fetch(url + path, {
      method,
      ...(post !== undefined && { body: JSON.stringify(post) }),
      headers: {
        ...(key && { "x-api-key": key }),
        ...(post !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
        ...headers,
      },
    });
    const text = await response.text();
    const body = text === "" ? undefined : JSON.parse(text);
    const reply = { status: response.status, headers: response.headers, text, body };
    if (isOurs) holdAgainstContract(method, path, reply);
    return reply;
  };
}
