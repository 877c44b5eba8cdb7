// How tests sign in without a browser, and ask with a cookie.
import { expect } from "bun:test";
import type { Person, TestStore } from "../harness.ts";

/** What a request of the console's own page has. */
export const ours = { "x-petstore-console": "1" };

/** Signs in as the page does, and gives the whole answer. */
export function signIn(store: TestStore, headers: Record<string, string>): Promise<Response> {
  return fetch(`${store.url}/console/session`, { method: "POST", headers: { ...ours, ...headers } });
}

export function cookieOf(response: Response): string {
  return (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
}

/** Signs a person in; the cookie as a browser would send it. */
export async function session(store: TestStore, { key }: Pick<Person, "key">): Promise<string> {
  const response = await signIn(store, { "x-api-key": key });
  expect(response.status).toBe(204);
  return cookieOf(response);
}

export async function ask(store: TestStore, headers: Record<string, string>, path = "/account") {
  const response = await fetch(store.url + path, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  return { status: response.status, body: (await response.json()) as any, headers: response.headers };
}

export const signedOut = { status: 401, body: { code: "missing_api_key" } };
