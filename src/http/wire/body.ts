import { fail } from "../../core/failure.ts";
import { type Framing, malformed } from "./head.ts";

/** A chunk's size or a trailer: longer lines are not taken. */
const LINE_BYTES = 1024;
/** What may follow the last chunk. */
const TRAILER_BYTES = 8 * 1024;
/** Of all chunks of a body together: a body of one byte a chunk would cost a thousand times what it holds. */
const EXTENSION_BYTES = 16 * 1024;

/** Finds a body's end in what arrives. */
export interface BodyReader {
  /** Takes what belongs to the body; gives what is behind its end, or `null` while that has not come. */
  take(input: Buffer): Buffer | null;
}

export type Keep = (part: Buffer) => void;

export function bodyReader(framing: Framing, keep: Keep): BodyReader {
  return framing === "chunked" ? chunkedBody(keep) : sizedBody(framing, keep);
}

/** Keeps a body, up to a limit: its first part as it came, more in one piece, so that many small parts cost no more than one. */
export function keeping(limitBytes: number): { keep: Keep; whole: () => Buffer } {
  let kept: Buffer = Buffer.alloc(0);
  let bytes = 0;
  return {
    keep(part) {
      const before = bytes;
      bytes += part.length;
      if (bytes > limitBytes) refuseSize(limitBytes);
      if (before === 0) {
        kept = part;
        return;
      }
      if (bytes > kept.length) {
        const larger = Buffer.allocUnsafe(Math.min(limitBytes, 2 * bytes));
        kept.copy(larger, 0, 0, before);
        kept = larger;
      }
      part.copy(kept, before);
    },
    whole: () => kept.subarray(0, bytes),
  };
}

export function refuseSize(limitBytes: number): never {
  fail("body_too_large", `The body is larger than the ${limitBytes / 1024} KiB that this operation takes.`);
}

function sizedBody(length: number, keep: Keep): BodyReader {
  let missing = length;
  return {
    take(input) {
      const part = input.length > missing ? input.subarray(0, missing) : input;
      missing -= part.length;
      if (part.length > 0) keep(part);
      return missing === 0 ? input.subarray(part.length) : null;
    },
  };
}

/** A size, and extensions: names, with values if need be. */
const sizeLine =
  /^([\da-f]{1,8})(?:;[!#$%&'*+\-.^_`|~\w]+(?:=(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/i;

type ChunkState = "size" | "data" | "data end" | "trailers";

/** RFC 9112's chunks, read strictly: each line ends in CR LF, extensions and trailers are read over. */
function chunkedBody(keep: Keep): BodyReader {
  let unread: Buffer = Buffer.alloc(0);
  let state: ChunkState = "size";
  let missing = 0;
  let extensionBytes = 0;

  /** The next line, or `null` while it has not come whole. */
  const line = (): string | null => {
    const end = unread.indexOf("\r\n");
    if (end < 0 ? unread.length > LINE_BYTES : end > LINE_BYTES)
      malformed("A line between chunks is too long.");
    if (end < 0) return null;
    const text = unread.toString("latin1", 0, end);
    unread = unread.subarray(end + 2);
    return text;
  };
  /** One step on; false if that needs more than has come. */
  const step: Record<ChunkState, () => boolean> = {
    size() {
      const text = line();
      if (text === null) return false;
      const [, size] = sizeLine.exec(text) ?? refuseSizeLine();
      extensionBytes += text.length - (size as string).length;
      if (extensionBytes > EXTENSION_BYTES) malformed("The extensions of the chunks are too long.");
      missing = Number.parseInt(size as string, 16);
      state = missing === 0 ? "trailers" : "data";
      return true;
    },
    data() {
      if (unread.length === 0) return false;
      const part = unread.subarray(0, missing);
      keep(part);
      missing -= part.length;
      unread = unread.subarray(part.length);
      if (missing === 0) state = "data end";
      return true;
    },
    "data end"() {
      if (unread.length < 2) return false;
      if (unread[0] !== 0x0d || unread[1] !== 0x0a) malformed("A chunk is longer than it says.");
      unread = unread.subarray(2);
      state = "size";
      return true;
    },
    trailers: () => false,
  };
  const hasEnded = trailers(line);
  return {
    take(input) {
      unread = unread.length === 0 ? input : Buffer.concat([unread, input]);
      while (step[state]()) {}
      return state === "trailers" && hasEnded() ? unread : null;
    },
  };
}

/** Reads over what follows the last chunk, line by line; whether the empty line behind it was read. */
function trailers(nextLine: () => string | null): () => boolean {
  let bytes = 0;
  return () => {
    for (let text = nextLine(); text !== null; text = nextLine()) {
      if (text === "") return true;
      bytes += text.length;
      if (bytes > TRAILER_BYTES) malformed("The trailers behind the body are too long.");
      if (!/^[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*$/.test(text))
        malformed("A trailer is not a name, a colon and a value on one line.");
    }
    return false;
  };
}

function refuseSizeLine(): never {
  malformed("A chunk does not start with its size.");
}
