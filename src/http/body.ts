import type { Route } from "../contract/route.ts";
import { fail } from "../core/failure.ts";
import type { Awaitable } from "../core/ports.ts";
import { refuseSize } from "./wire/body.ts";
import type { Incoming } from "./wire/request.ts";

export const BODY_BYTES = 64 * 1024;
export const LARGE_BODY_BYTES = 8 * 1024 * 1024;
/** Large bodies that are waited for at once in this process: whoever may send one could fill the memory with many. */
export const LARGE_BODIES = 16;
/** Of these so many of one client, by all its keys: who sends too many keeps no other from sending one. */
export const LARGE_BODIES_OF_A_CLIENT = LARGE_BODIES / 2;

let largeBodies = 0;
const largeBodiesOf = new Map<number, number>();

/** The bytes of a JSON body: what its headers say of it is judged before it is asked for. */
export function readBody(request: Incoming, route: Route, clientId: number): Awaitable<Uint8Array> {
  const limitBytes = route.large ? LARGE_BODY_BYTES : BODY_BYTES;
  if (Number(request.headers.get("content-length")) > limitBytes) refuseSize(limitBytes);
  requireJson(request, route);
  return route.large && !isKnownSmall(request) ? largeBody(request, clientId) : request.body(limitBytes);
}

function isKnownSmall({ headers }: Incoming): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= BODY_BYTES;
}

async function largeBody(request: Incoming, clientId: number): Promise<Uint8Array> {
  const ofClient = largeBodiesOf.get(clientId) ?? 0;
  if (largeBodies >= LARGE_BODIES)
    fail("overloaded", "The server is taking as many large bodies as it can hold. Repeat the request later.");
  if (ofClient >= LARGE_BODIES_OF_A_CLIENT)
    fail(
      "overloaded",
      `This client is sending ${ofClient} large bodies already, as many as one may at once. Repeat the request later.`,
    );
  largeBodies++;
  largeBodiesOf.set(clientId, ofClient + 1);
  try {
    return await request.body(LARGE_BODY_BYTES);
  } finally {
    largeBodies--;
    makeRoomFor(clientId);
  }
}

function makeRoomFor(clientId: number): void {
  const left = (largeBodiesOf.get(clientId) as number) - 1;
  if (left === 0) largeBodiesOf.delete(clientId);
  else largeBodiesOf.set(clientId, left);
}

function hasBody(headers: Incoming["headers"]): boolean {
  return Number(headers.get("content-length")) > 0 || headers.get("transfer-encoding") !== null;
}

function requireJson({ headers }: Incoming, route: Route): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    fail(
      "unsupported_media_type",
      `A body with Content-Encoding ${encoding} is not taken. Send it uncompressed.`,
    );
  }
  const type = headers.get("content-type");
  if (type === "application/json") return;
  const isPatch = route.at.startsWith("PATCH ");
  const [mediaType, ...parameters] = (type ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const isTaken =
    mediaType === "application/json" || (isPatch && mediaType === "application/merge-patch+json");
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (isTaken && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))) return;
  const taken = isPatch ? "application/json or application/merge-patch+json" : "application/json";
  fail(
    "unsupported_media_type",
    hasBody(headers)
      ? `The body must be ${taken} in UTF-8, got ${type ? `"${type}"` : "no Content-Type"}.`
      : `There is no body. Send one as ${taken}, at least {}.`,
  );
}
