import { writeSync } from "node:fs";

/** Bytes that wait for a slow reader; more is dropped, and how much is told. */
const WAITING_BYTES = 1024 * 1024;
const TRY_AGAIN_MS = 50;

/** Standard output for the log: a reader that is slow, or gone, is no reason to stop serving. */
export function standardOutput(fd = 1): (bytes: Uint8Array) => void {
  let waiting = Buffer.alloc(0);
  let dropped = 0;
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
      dropped += 1;
      return;
    }
    const told =
      dropped > 0
        ? `${JSON.stringify({ level: "warn", message: "Lines of the log were dropped.", parts: dropped })}\n`
        : "";
    dropped = 0;
    waiting = Buffer.concat([waiting, Buffer.from(told), bytes]);
    if (!timer) write();
  };
}
