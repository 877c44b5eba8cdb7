import { isUtf8 } from "node:buffer";
import { Failure, fail } from "../../core/failure.ts";
import { inOnePiece } from "../one-piece.ts";

/** How much of the headers is taken. */
export const HEADERS_BYTES = 16 * 1024;
/** A URL of 8 KiB with method and version; where one is a little longer, that is told with more of the request known. */
const LINE_BYTES = 8 * 1024 + 64;
export const HEAD_BYTES = LINE_BYTES + HEADERS_BYTES;

/** A request as far as its empty line. */
export interface Head {
  readonly method: string;
  /** The address as it was sent. */
  readonly url: string;
  readonly pathname: string;
  /** From the question mark on, or nothing. */
  readonly search: string;
  readonly fields: Fields;
  readonly isOld: boolean;
}

/** How a body's end is found: by a number of bytes, or by its own chunks. */
export type Framing = number | "chunked";

/** The headers, and what they say of the connection. */
export interface Fields {
  readonly headers: HeaderValues;
  readonly framing: Framing;
  /** `close` or `keep-alive`, if the caller says so. */
  readonly connection: "close" | "keep-alive" | undefined;
  readonly expectsContinue: boolean;
  readonly hasHost: boolean;
}

/** Header values by their name in lower case; a name that comes twice has its values with a comma between. */
export class HeaderValues {
  readonly #values: Map<string, string>;
  /** A value that holds instead of the one among `#values`. */
  readonly #otherName: string | undefined;
  readonly #otherValue: string;

  constructor(values = new Map<string, string>(), otherName?: string, otherValue = "") {
    this.#values = values;
    this.#otherName = otherName;
    this.#otherValue = otherValue;
  }

  get(name: string): string | null {
    return name === this.#otherName ? this.#otherValue : (this.#values.get(name) ?? null);
  }

  add(name: string, value: string): void {
    const before = this.#values.get(name);
    this.#values.set(name, before === undefined ? value : `${before}, ${value}`);
  }

  /** The same but for one value; no copy is made of the others. */
  with(name: string, value: string): HeaderValues {
    return new HeaderValues(this.#values, name, value);
  }
}

/** Short and of capitals: a key that slipped into the method's place is not repeated. */
const methodName = /^[A-Z-]{1,20}$/;
/** Whole lines of a name, a colon and a value: no folded line, no space before the colon, no line feed alone. */
const fieldLines = /^(?:[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const VERSION_CHARACTERS = " HTTP/1.1".length;

/** Reads a request up to its empty line, which is at `end`; whatever could be read in two ways is refused. */
export function readHead(text: string, end: number, readFields: FieldReader): Head {
  const lineEnd = text.indexOf("\r\n");
  if (end - lineEnd > HEADERS_BYTES) throw headTooLarge(text);
  const methodEnd = text.indexOf(" ");
  const targetEnd = lineEnd - VERSION_CHARACTERS;
  const isOld = !text.startsWith(" HTTP/1.1", targetEnd);
  if (methodEnd < 1 || methodEnd >= targetEnd || (isOld && !text.startsWith(" HTTP/1.0", targetEnd)))
    refuseLine(text.slice(0, lineEnd));
  const method = text.startsWith("GET ") ? "GET" : text.slice(0, methodEnd);
  if (method !== "GET" && !methodName.test(method)) refuseLine(text.slice(0, lineEnd));
  const fields = readFields(text, lineEnd + 2, end + 2);
  if (!isOld && !fields.hasHost) malformed("HTTP/1.1 needs a Host header.");
  if (isOld && fields.framing === "chunked") malformed("HTTP/1.0 has no Transfer-Encoding.");

  const url = plain(text.slice(methodEnd + 1, targetEnd));
  const path = url.startsWith("/") || (url === "*" && method === "OPTIONS") ? 0 : authorityEnd(url);
  const query = url.indexOf("?", path);
  const pathname = query < 0 && path === 0 ? url : url.slice(path, query < 0 ? undefined : query) || "/";
  return { method, url, pathname, search: query < 0 ? "" : url.slice(query), fields, isOld };
}

/** Reads the headers that stand in a text, whole lines of it. */
export type FieldReader = (text: string, from: number, to: number) => Fields;

/** Longer headers are read anew each time: a connection that idles keeps what it knows. */
const KNOWN_CHARACTERS = 2048;
/** Headers that a connection knows but for one value: those of a few requests that take turns, or of bodies of a few lengths. */
const FAMILIAR = 4;

/** Most requests of a connection have the same headers but for one, such as the key: the others are read once. */
export function fieldReader(): FieldReader {
  let lastBlock: string | undefined;
  let last: Fields | undefined;
  const familiar: FamiliarReader[] = [];
  let oldest = 0;
  // Compared where they stand: to cut them out would make a text of them.
  return (text, from, to) => {
    if (to - from === lastBlock?.length && text.startsWith(lastBlock, from)) return last as Fields;
    for (let at = 0; at < familiar.length; at++) {
      const known = familiar[at]?.(text, from, to);
      if (known) return known;
    }
    if (to - from > KNOWN_CHARACTERS) return readFields(text.slice(from, to));
    const cut = text.slice(from, to);
    // A piece keeps all that it was cut from, however short it is.
    const block = text.length > KNOWN_CHARACTERS ? inOnePiece(cut) : cut;
    const fields = readFields(block);
    const butForOne = lastBlock === undefined ? null : sameButForOne(block, fields, lastBlock);
    if (butForOne) {
      familiar[oldest] = butForOne;
      oldest = (oldest + 1) % FAMILIAR;
    }
    lastBlock = block;
    last = fields;
    return fields;
  };
}

/** Reads headers that it has seen but for one value, or says that it has not. */
type FamiliarReader = (...place: Parameters<FieldReader>) => Fields | null;

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that say more than their value: where a body ends, and what becomes of the connection. */
const decisive = new Set(["host", "connection", "expect", "content-length", "transfer-encoding"]);

/** Reads headers that are these but for the first value in which these differ from the ones before. */
function sameButForOne(block: string, fields: Fields, other: string): FamiliarReader | null {
  let difference = 0;
  while (block.charCodeAt(difference) === other.charCodeAt(difference)) difference++;
  const start = block.lastIndexOf("\n", difference - 1) + 1;
  const colon = block.indexOf(":", start);
  const end = block.indexOf("\r\n", start);
  const name = block.slice(start, colon).toLowerCase();
  // A name that comes twice has a value of two.
  if (decisive.has(name) || fields.headers.get(name) !== trimmed(block, colon + 1, end)) return null;
  const [before, behind] = [block.slice(0, colon + 1), block.slice(end)];
  const { headers, framing, connection, expectsContinue, hasHost } = fields;
  return (text, from, to) => {
    const [valueStart, valueEnd] = [from + before.length, to - behind.length];
    if (valueEnd < valueStart || !text.startsWith(before, from) || !text.startsWith(behind, valueEnd))
      return null;
    const value = text.slice(valueStart, valueEnd);
    if (!fieldValue.test(value)) return null;
    const changed = headers.with(name, trimmed(value, 0, value.length));
    return { headers: changed, framing, connection, expectsContinue, hasHost };
  };
}

function readFields(block: string): Fields {
  if (!fieldLines.test(block)) malformed("A header is not a name, a colon and a value on one line.");
  const headers = new HeaderValues();
  for (let at = 0; at < block.length; ) {
    const colon = block.indexOf(":", at);
    const end = block.indexOf("\r\n", colon);
    headers.add(block.slice(at, colon).toLowerCase(), trimmed(block, colon + 1, end));
    at = end + 2;
  }
  const host = headers.get("host");
  if (host !== null && !/^[^\s,/?#@\\]*$/.test(host))
    malformed("Host must be one host, and a port if need be.");
  const connection = headers
    .get("connection")
    ?.toLowerCase()
    .split(",")
    .map((word) => word.trim());
  return {
    headers,
    framing: framingOf(headers),
    connection: connection?.includes("close")
      ? "close"
      : connection?.includes("keep-alive")
        ? "keep-alive"
        : undefined,
    expectsContinue: headers.get("expect")?.toLowerCase() === "100-continue",
    hasHost: host !== null,
  };
}

/** A body that two readers could see end in two places would be one's request and the other's body. */
function framingOf(headers: HeaderValues): Framing {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding === null) {
    if (length === null) return 0;
    if (!/^\d{1,15}$/.test(length)) malformed("Content-Length must be one number of bytes.");
    return Number(length);
  }
  if (length !== null) malformed("Content-Length and Transfer-Encoding exclude each other.");
  if (coding.toLowerCase() !== "chunked") malformed("The only Transfer-Encoding that is taken is chunked.");
  return "chunked";
}

function trimmed(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** An address of visible ASCII; bytes beyond it stand for the UTF-8 that they are. */
function plain(target: string): string {
  if (/^[\x21-\x7e]+$/.test(target)) return target;
  if (!/^[\x21-\x7e\x80-\xff]+$/.test(target)) malformed("The address holds a space or a control character.");
  const bytes = Buffer.from(target, "latin1");
  if (!isUtf8(bytes)) malformed("The address is not UTF-8.");
  return encodeURI(bytes.toString()).replaceAll("%25", "%");
}

/** Where the path starts behind `http://host`, as proxies send it. */
function authorityEnd(url: string): number {
  const [scheme] =
    /^https?:\/\/[\w.~%!$&'()*+,;=:[\]-]+(?=[/?]|$)/i.exec(url) ??
    malformed("The address must be a path, or an http URL.");
  return scheme.length;
}

function refuseLine(line: string): never {
  if (/ HTTP\/\d(\.\d)?$/.test(line) && !/ HTTP\/1\.[01]$/.test(line))
    malformed("Only HTTP/1.1 and HTTP/1.0 are spoken here.");
  malformed("The first line is not a method, an address and HTTP/1.1, with one space between.");
}

/** Whether a caller sends its body only after a word from us; HTTP/1.0 knows no such word. */
export function waitsForWord({ fields, isOld }: Head): boolean {
  return fields.expectsContinue && !isOld;
}

/** No line of HTTP starts so: a TLS handshake, for one. */
export function isNoRequest(first: number): boolean {
  return first !== 0x0d && (first < 0x21 || first > 0x7e);
}

export function malformed(message: string): never {
  fail("malformed_request", message);
}

/** Which of the two is too long: the request line, or the headers behind it. */
export function headTooLarge(text: string): Failure {
  const lineEnd = text.indexOf("\r\n");
  return lineEnd < 0 || lineEnd > LINE_BYTES
    ? new Failure("uri_too_long", "The URL is longer than the 8 KiB that are taken.")
    : new Failure("headers_too_large", "The headers are over 16 KiB. Send fewer or shorter headers.");
}
