import { writeSync } from "node:fs";

/** Bytes that wait for a slow reader; more is dropped, and how many lines that were is told. */
const WAITING_BYTES = 1024 * 1024;
const TRY_AGAIN_MS = 50;

/** Standard output for the log: a reader that is slow, or gone, is no reason to stop serving. */
export function standardOutput(fd = 1): (bytes: Uint8Array) => void {
  let waiting = Buffer.alloc(0);
  let lines = 0;
  let timer: Timer | undefined;

  const write = () => {
    timer = undefined;
    try {
      while (waiting.length > 0) waiting = waiting.subarray(writeSync(fd, waiting));
    } catch (error) {
      if ((error as { code?: string }).code === "EAGAIN") {
        timer = setTimeout(write, TRY_AGAIN_MS);
        timer.unref();
      } else waiting = Buffer.alloc(0);
    }
  };
  return (bytes) => {
    if (waiting.length + bytes.length > WAITING_BYTES) {
      lines += linesIn(bytes);
      return;
    }
    const told = lines > 0 ? dropped(lines) : "";
    lines = 0;
    waiting = Buffer.concat([waiting, Buffer.from(told), bytes]);
    if (!timer) write();
  };
}

function dropped(lines: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ time, level: "warn", message: "Lines of the log were dropped.", lines })}\n`;
}

const LINE_FEED = 0x0a;

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1;
  return lines;
}
