// Requests without the client.
import type { Sent } from "./harness.ts";
import type { Spoken, Words } from "./through-client.ts";

/** What the client has no words for: broken bodies, odd headers, unknown paths. */
export async function overPlainHttp({
  url,
  key,
  method,
  path,
  body,
  raw,
  headers,
}: Words & { raw: Sent["raw"] }): Promise<Spoken> {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url + path, {
    method,
    ...(sent !== undefined && { body: sent }),
    headers: {
      ...(key && { "x-api-key": key }),
      ...(sent !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
  });
  return { status: response.status, headers: response.headers, text: await bodyOf(response) };
}

/** A stream has no end: who only looks at its head hangs up. */
async function bodyOf(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  await response.body?.cancel();
  return "";
}
