import type { Route } from "../contract/route.ts";
import { fail } from "../core/failure.ts";

export const BODY_BYTES = 64 * 1024;
export const LARGE_BODY_BYTES = 8 * 1024 * 1024;
const BODY_DEADLINE_MS = 10_000;

/** The bytes of a JSON body: not too many, of the right type, and in time. */
export async function readBody(request: Request, route: Route): Promise<Uint8Array> {
  const limit = route.large ? LARGE_BODY_BYTES : BODY_BYTES;
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limit) refuseSize(limit);
  // Without a declared length the bytes are counted as they come, so that none past the limit is kept.
  const counting = declared === null ? await inTime(counted(request.body, limit)) : undefined;
  requireJson(request, route);
  return counting ?? inTime(request.bytes());
}

function requireJson(request: Request, route: Route): void {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    fail(
      "unsupported_media_type",
      `A body with Content-Encoding ${encoding} is not taken. Send it uncompressed.`,
    );
  }
  const type = request.headers.get("content-type");
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

async function counted(body: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) refuseSize(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function inTime(bytes: Promise<Uint8Array>): Promise<Uint8Array> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late()), BODY_DEADLINE_MS);
  });
  try {
    return await Promise.race([bytes, late]);
  } catch (error) {
    if (error instanceof Late)
      fail("request_timeout", "The body did not arrive within 10 seconds. Repeat the request.");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

class Late extends Error {}

function refuseSize(limit: number): never {
  fail("body_too_large", `The body is larger than the ${limit / 1024} KiB that this operation takes.`);
}
