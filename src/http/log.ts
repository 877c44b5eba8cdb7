import { visible } from "../core/visible.ts";
import { inOnePiece } from "./one-piece.ts";

/** Where lines go; a level below the wanted one costs nothing. */
export interface Log {
  request(line: RequestLine): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  flush(): void;
}

export interface RequestLine {
  readonly time: number;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string | undefined;
  readonly status: number;
  readonly microseconds: number;
  readonly clientId: number | undefined;
  readonly keyId: number | undefined;
  readonly code: string | undefined;
  readonly traceId: string | undefined;
}

const levels = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const;
export type Level = keyof typeof levels;

const FLUSH_AFTER_MS = 100;
const GATHERED_BYTES = 64 * 1024;
/** What a character of a string takes at most. */
const UTF8_BYTES = 3;
const LINE_FEED = 0x0a;

/** Lines are gathered and written together: JSON for machines, one readable line for a terminal. */
export function openLog(
  level: Level,
  isTerminal: boolean,
  /** Has the bytes for the time of the call; neither fails nor logs. */
  write: (bytes: Buffer) => void,
  clock: () => number,
): Log {
  const least = levels[level];
  const gathered = Buffer.alloc(GATHERED_BYTES);
  let length = 0;
  let timer: Timer | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (length === 0) return;
    const bytes = gathered.subarray(0, length);
    length = 0;
    write(bytes);
  };
  const line = (text: string) => {
    const most = text.length * UTF8_BYTES + 1;
    if (length + most > GATHERED_BYTES) flush();
    if (most > GATHERED_BYTES) {
      write(Buffer.from(`${text}\n`));
      return;
    }
    length += gathered.write(text, length);
    gathered[length++] = LINE_FEED;
    timer ??= setTimeout(flush, FLUSH_AFTER_MS);
  };
  const message =
    (name: Level) =>
    (text: string, fields: Record<string, unknown> = {}) => {
      if (levels[name] < least) return;
      const time = new Date(clock()).toISOString();
      if (isTerminal) line(visible(`${time.slice(11, 19)} ${name} ${text}${readable(fields)}`));
      else line(JSON.stringify({ time, level: name, message: text, ...fields }));
    };
  return {
    request(request) {
      if (levels.info < least) return;
      line(isTerminal ? visible(readableRequest(request)) : jsonRequest(request));
    },
    info: message("info"),
    warn: message("warn"),
    error: message("error"),
    flush,
  };
}

/** Not as our other fields are written: OpenTelemetry fixes the name by which logs and traces find each other. */
export const TRACE_ID = "trace_id";

/** What JSON says as it is. */
const unescaped = /^[ !#-[\]-~]*$/;
/** What stands behind the point of milliseconds: texts made once, because there is one for every request. */
const thousandths = Array.from({ length: 1000 }, (_, number) =>
  inOnePiece(`.${String(number).padStart(3, "0")}`),
);

/** Put together by hand, because there is one for every request; only a path can hold what JSON must escape. */
function jsonRequest(line: RequestLine): string {
  const { time, requestId, path, microseconds, clientId, keyId, traceId } = line;
  const shown = unescaped.test(path) ? path : JSON.stringify(path).slice(1, -1);
  if (!frame || !isAlike(line, frame)) frame = frameOf(line);
  const caller = clientId === undefined ? "" : `,"clientId":${clientId},"keyId":${keyId}`;
  const trace = traceId === undefined ? "" : `,"${TRACE_ID}":"${traceId}"`;
  return `${openingAt(time)}${requestId}${frame.beforePath}${shown}${frame.beforeTime}${Math.floor(microseconds / 1000)}${thousandths[microseconds % 1000]}${caller}${trace}${frame.end}`;
}

/** What lines of requests have in common that went the same way, whoever asked. */
interface Frame extends Pick<RequestLine, "method" | "operation" | "status" | "code"> {
  readonly beforePath: string;
  readonly beforeTime: string;
  readonly end: string;
}

function frameOf({ method, operation, status, code }: RequestLine): Frame {
  const operationField = operation === undefined ? "" : `,"operation":"${operation}"`;
  const codeField = code === undefined ? "" : `,"code":"${code}"`;
  return {
    method,
    operation,
    status,
    code,
    beforePath: inOnePiece(`","method":"${method}","path":"`),
    beforeTime: inOnePiece(`"${operationField},"status":${status},"milliseconds":`),
    end: inOnePiece(`${codeField}}`),
  };
}

function isAlike(line: RequestLine, frame: Frame): boolean {
  return (
    line.operation === frame.operation &&
    line.status === frame.status &&
    line.code === frame.code &&
    line.method === frame.method
  );
}

/** The last one: most requests are like the one before. */
let frame: Frame | undefined;

let openingTime = Number.NaN;
let opening = "";

/** What lines of the same millisecond start with, its time in RFC 3339 and UTC. */
function openingAt(time: number): string {
  if (time !== openingTime) {
    openingTime = time;
    opening = inOnePiece(
      `{"time":"${new Date(time).toISOString()}","level":"info","message":"request","requestId":"`,
    );
  }
  return opening;
}

function readableRequest({
  time,
  method,
  path,
  status,
  microseconds,
  clientId,
  code,
  requestId,
  traceId,
}: RequestLine): string {
  const who = clientId === undefined ? "" : `  client ${clientId}`;
  const why = code === undefined ? "" : `  ${code}`;
  const trace = traceId === undefined ? "" : `  trace ${traceId}`;
  const clock = new Date(time).toISOString().slice(11, 19);
  return `${clock} ${status} ${method} ${path}  ${(microseconds / 1000).toFixed(1)} ms${who}${why}  ${requestId}${trace}`;
}

function readable(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => `  ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("");
}
