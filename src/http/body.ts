import type { Route } from "../contract/route.ts";
import { after } from "../core/after.ts";
import { fail } from "../core/failure.ts";
import type { Awaitable } from "../core/ports.ts";
import type { Incoming } from "./wire/request.ts";

export const BODY_BYTES = 64 * 1024;
export const LARGE_BODY_BYTES = 8 * 1024 * 1024;

/** The bytes of a JSON body: not too many, in time, and of the right type. */
export function readBody(request: Incoming, route: Route): Awaitable<Uint8Array> {
  return after(request.body(route.large ? LARGE_BODY_BYTES : BODY_BYTES), (bytes) => {
    requireJson(request, route);
    return bytes;
  });
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
    `The body must be ${taken} in UTF-8, got ${type ? `"${type}"` : "no Content-Type"}.`,
  );
}
