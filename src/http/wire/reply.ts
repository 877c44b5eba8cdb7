import { inOnePiece } from "../one-piece.ts";
import type { Stream } from "./stream.ts";

/** An answer whose headers are written out, but for those that are the connection's business. */
export interface Reply {
  readonly status: number;
  /** Each with its line end. */
  readonly headerLines: string;
  readonly body: string | null;
  /** What follows the head in the place of a body, for as long as it lasts. */
  readonly stream?: Stream | undefined;
}

/** What is said of the connection, and of how a body ends. */
export const CLOSE = "connection: close\r\n";
export const KEEP_ALIVE = "connection: keep-alive\r\n";
export const CHUNKED = "transfer-encoding: chunked\r\n";

const reasons: Readonly<Record<string, string>> = {
  200: "OK",
  201: "Created",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  412: "Precondition Failed",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
const statusLines: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(reasons).map(([status, reason]) => [status, inOnePiece(`HTTP/1.1 ${status} ${reason}\r\n`)]),
);
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Header lines of these values, which must hold no line end. */
export function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return inOnePiece(lines);
}

/** A reply as it goes over the wire, and its length there. */
export interface Written {
  readonly text: string;
  readonly bytes: number;
}

/** The bytes of a reply; one to HEAD is that to GET without its body. */
export function written(
  { status, headerLines, body, stream }: Reply,
  isHead: boolean,
  ownLines: string,
): Written {
  const isWithoutLength = status === NO_CONTENT || status === NOT_MODIFIED || stream !== undefined;
  const bodyBytes = body === null ? 0 : Buffer.byteLength(body);
  const length = isWithoutLength ? "" : `content-length: ${bodyBytes}\r\n`;
  const statusLine = statusLines[status] ?? `HTTP/1.1 ${status} \r\n`;
  const head = `${statusLine}${headerLines}${ownLines}${length}\r\n`;
  // Headers are ASCII: a character is a byte.
  return isHead || body === null
    ? { text: head, bytes: head.length }
    : { text: head + body, bytes: head.length + bodyBytes };
}
