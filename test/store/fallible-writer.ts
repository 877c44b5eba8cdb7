// The real writer's thread, but for one operation that no program has, it falls, and for its disk: each commit is said to be a slow one's.
import { perform } from "../../src/core/perform.ts";
import { type Packed, packed, unpacked } from "../../src/store/sqlite/packing.ts";
import { runWriter } from "../../src/store/sqlite/thread.ts";
import type { ToWriter } from "../../src/store/sqlite/writer.ts";

declare const self: Worker;

const SLOW_COMMIT_MS = 60_000;
const receive = runWriter(
  {
    postMessage: (message) =>
      self.postMessage(packed("outcomes" in message ? { ...message, commitMs: SLOW_COMMIT_MS } : message)),
  },
  perform,
);
self.onmessage = ({ data }: MessageEvent<Packed<ToWriter>>) => {
  const message = unpacked(data);
  if ("jobs" in message && message.jobs.some(({ command }) => command.operation === "fall"))
    throw new Error("The writer falls.");
  receive(message);
};
