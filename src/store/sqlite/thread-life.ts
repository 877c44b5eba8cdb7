import { Unavailable } from "../../core/failure.ts";
import { type Packed, packed, unpacked } from "./packing.ts";
import type { FromWriter, Outcomes, ToWriter, WriterStart } from "./writer.ts";

/** The writer's thread as the main thread sees it: from its first ready moment on it is started anew whenever it falls. */
export interface ThreadLife {
  isReady(): boolean;
  tell(message: ToWriter): void;
  /** Resolves when all that it was told is done and the thread has ended. */
  close(): Promise<void>;
}

export interface ThreadEvents {
  readonly onOutcomes: (outcomes: Outcomes) => void;
  /** It asks for what it has copied to be brought to the disk. */
  readonly onFlush: () => void;
  /** The disk may have lost what it has copied. */
  readonly onLost: (cause: string) => void;
  /** It ended with what it was told; nobody knows how much of that was done. */
  readonly onFall: (error: Error) => void;
}

/** Starts the thread; rejects if it falls before it is ready. */
export async function startThread(
  thread: URL,
  start: WriterStart,
  restartMs: number,
  { onOutcomes, onFlush, onLost, onFall }: ThreadEvents,
): Promise<ThreadLife> {
  let state: "starting" | "ready" | "fallen" | "closing" | "closed" = "starting";
  let worker: Worker;
  let restart: Timer | undefined;
  const started = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();

  const tell = (message: ToWriter) => worker.postMessage(packed(message));
  const run = () => {
    // Little lives in this thread, so its heap may stay small.
    worker = new Worker(thread.href, { smol: true });
    worker.onmessage = ({ data }: MessageEvent<Packed<FromWriter>>) => receive(unpacked(data));
    worker.onerror = (event) => fall(thrown(event.message));
    tell({ start });
  };
  const receive = (message: FromWriter) => {
    if ("outcomes" in message) return onOutcomes(message);
    if ("isToFlush" in message) return onFlush();
    if ("lost" in message) return onLost(message.lost);
    if ("isClosed" in message) return end();
    if (state !== "closing") state = "ready";
    started.resolve();
  };
  const fall = (error: Error) => {
    const wasFirst = state === "starting";
    worker.terminate();
    onFall(error);
    if (state === "closing") return end();
    state = "fallen";
    if (wasFirst) started.reject(error);
    else restart = setTimeout(run, restartMs);
  };
  const end = () => {
    state = "closed";
    worker.terminate();
    closed.resolve();
  };

  run();
  await started.promise;
  return {
    isReady: () => state === "ready",
    tell,
    async close() {
      clearTimeout(restart);
      if (state === "fallen") end();
      if (state === "closed") return;
      state = "closing";
      tell({ close: true });
      await closed.promise;
    },
  };
}

/** What a thread threw comes as the runtime prints it, with pieces of the source; of the database's trouble only the cause is of use. */
function thrown(printed: string): Error {
  const said = Array.from(printed.matchAll(/^ *\^\n(.+)$/gm), ([, line]) => line);
  return said[0]?.startsWith("Failure: ") ? new Unavailable(said.at(-1)) : new Error(printed);
}
