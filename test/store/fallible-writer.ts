// The real writer's thread, but for one operation that no program has: it falls.
import { perform } from "../../src/core/perform.ts";
import { runWriter } from "../../src/store/sqlite/thread.ts";
import type { ToWriter } from "../../src/store/sqlite/writer.ts";

declare const self: Worker;

const receive = runWriter(self, perform);
self.onmessage = ({ data }: MessageEvent<ToWriter>) => {
  if ("jobs" in data && data.jobs.some(({ command }) => command.operation === "fall"))
    throw new Error("The writer falls.");
  receive(data);
};
