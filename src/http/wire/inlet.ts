import { Failure } from "../../core/failure.ts";
import type { Awaitable } from "../../core/ports.ts";
import { type BodyReader, bodyReader, keeping, refuseSize } from "./body.ts";
import {
  type Framing,
  fieldReader,
  HEAD_BYTES,
  type Head,
  headTooLarge,
  isNoRequest,
  malformed,
  readHead,
  waitsForWord,
} from "./head.ts";

/** Time for a request line and headers, and then for a body, to arrive. */
export const ARRIVAL_SECONDS = 10;
/** A body that nobody asked for is read over if it is small; behind a larger one no request is looked for. */
const READ_OVER_BYTES = 64 * 1024;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
/** What a head ends in: the end of its last line, and an empty one. */
const EMPTY_LINE = "\r\n\r\n";

const nothing: Buffer = Buffer.alloc(0);

/** A body that is being waited for. */
interface Awaited {
  readonly reader: BodyReader;
  readonly whole: () => Buffer;
  readonly arrived: (body: Buffer) => void;
  readonly failed: (error: unknown) => void;
}

/** What comes over a connection: heads and bodies, in turn. */
export class Inlet {
  readonly #readFields = fieldReader();
  #unread = nothing;
  /** What is to come of the last head's body, if its end can still be found. */
  #ahead: Framing | "lost" = 0;
  #awaited: Awaited | null = null;
  /** Finds the end of a body that nobody asked for. */
  #readOver: BodyReader | null = null;

  /** Whether everything that has come was read. */
  get isEmpty(): boolean {
    return this.#unread.length === 0;
  }

  /** Whether more has come than is kept until somebody asks for it. */
  get isFull(): boolean {
    return this.#unread.length > HEAD_BYTES;
  }

  /** Whether somebody waits for the rest of a body. */
  get isAwaited(): boolean {
    return this.#awaited !== null;
  }

  receive(data: Buffer): void {
    if (this.#awaited) this.#receiveBody(this.#awaited, data);
    else this.#unread = this.isEmpty ? data : Buffer.concat([this.#unread, data]);
  }

  /** The next request as far as its empty line, or `null` while that has not come. */
  nextHead(): Head | null {
    if (this.#readOver && !this.#hasReadOver(this.#readOver)) return null;
    let start = 0;
    // An empty line before a request is no part of it, and is not kept.
    while (this.#unread[start] === CARRIAGE_RETURN && this.#unread[start + 1] === LINE_FEED) start += 2;
    if (start > 0) this.#unread = restOf(this.#unread, start);
    const unread = this.#unread;
    const text = unread.toString("latin1", 0, Math.min(unread.length, HEAD_BYTES + EMPTY_LINE.length));
    const end = text.indexOf(EMPTY_LINE);
    if (end < 0) {
      if (text.length >= HEAD_BYTES + EMPTY_LINE.length) throw headTooLarge(text);
      if (text !== "" && isNoRequest(text.charCodeAt(0)))
        malformed("This is not HTTP. TLS is the business of a proxy in front of this server.");
      if (/(?:^|[^\r])\n/.test(text)) malformed("A line ends in a line feed alone.");
      return null;
    }
    const head = readHead(text, end, this.#readFields);
    this.#unread = restOf(unread, end + EMPTY_LINE.length);
    this.#ahead = head.fields.framing;
    return head;
  }

  /** The body behind the last head; `onWait` is told if the rest of it has yet to come. */
  body(limitBytes: number, onWait: () => void): Awaitable<Uint8Array> {
    const framing = this.#ahead;
    if (framing === 0) return nothing;
    if (framing === "lost") throw endedEarly();
    if (framing !== "chunked" && framing > limitBytes) refuseSize(limitBytes);
    // Until the body's end is found nobody knows where the next request starts.
    this.#ahead = "lost";
    const { keep, whole } = keeping(limitBytes);
    const reader = bodyReader(framing, keep);
    if (this.#hasRead(reader)) {
      this.#ahead = 0;
      return whole();
    }
    onWait();
    const { promise, resolve: arrived, reject: failed } = Promise.withResolvers<Uint8Array>();
    this.#awaited = { reader, whole, arrived, failed };
    return promise;
  }

  /** Ends the wait for the rest of a body. */
  fail(error: unknown): void {
    const awaited = this.#awaited;
    this.#awaited = null;
    awaited?.failed(error);
  }

  /** Passes over what nobody asked for of a body; whether the next request's start is then known, or will be when the rest of a small one has come. */
  readOverBody(head: Head): boolean {
    const framing = this.#ahead;
    if (framing === 0) return true;
    // Whoever waits for a word before it sends a body may send it or not.
    if (framing === "lost" || waitsForWord(head)) return false;
    const come = this.#unread.length;
    const reader = bodyReader(framing, () => {});
    try {
      if (this.#hasReadOver(reader)) return true;
    } catch {
      return false;
    }
    this.#readOver = reader;
    return framing !== "chunked" && framing - come <= READ_OVER_BYTES;
  }

  clear(): void {
    this.#unread = nothing;
  }

  #receiveBody({ reader, whole, arrived }: Awaited, data: Buffer): void {
    try {
      this.#unread = data;
      if (!this.#hasRead(reader)) return;
      this.#awaited = null;
      this.#ahead = 0;
      arrived(whole());
    } catch (error) {
      this.fail(error);
    }
  }

  #hasReadOver(reader: BodyReader): boolean {
    if (!this.#hasRead(reader)) return false;
    this.#readOver = null;
    return true;
  }

  /** Whether a body's end has come; what is behind it stays unread. */
  #hasRead(reader: BodyReader): boolean {
    const rest = reader.take(this.#unread);
    this.#unread = rest === null ? nothing : restOf(rest, 0);
    return rest !== null;
  }
}

/** What follows; an empty slice would keep the whole in memory. */
function restOf(buffer: Buffer, from: number): Buffer {
  return from === buffer.length ? nothing : buffer.subarray(from);
}

export function endedEarly(): Failure {
  return new Failure("invalid_json", "The body ended early.");
}

export function late(what: "body" | "request"): Failure {
  return new Failure(
    "request_timeout",
    `The ${what} did not arrive within ${ARRIVAL_SECONDS} seconds. Repeat the request.`,
  );
}
