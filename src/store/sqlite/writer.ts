import { Unavailable } from "../../core/failure.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Rules } from "../../core/rules.ts";
import { tooManyWait } from "../trouble.ts";
import type { Outcome } from "./batch.ts";
import { type Packed, packed, unpacked } from "./packing.ts";
import { waitingWrites } from "./waiting.ts";

export interface WriterStart {
  readonly path: string;
  readonly rules: Rules;
}

/** What a write may cost; each has its default. */
export interface WriterBounds {
  /** Writes that may wait for the disk; more are refused before they would wait too long. */
  readonly queued: number;
  /** A write without outcome after this long is answered 503; what was not begun by then is not begun. */
  readonly deadlineMs: number;
  /** A write that waits longer than this means that the writer is stalled, and the server not ready. */
  readonly stalledMs: number;
  readonly restartMs: number;
}

export const BOUNDS: WriterBounds = { queued: 10_000, deadlineMs: 8000, stalledMs: 3000, restartMs: 500 };

export interface Job {
  readonly id: number;
  readonly command: Command;
  /** Milliseconds since 1970, by the machine's own clock. */
  readonly deadline: number;
}

export type ToWriter =
  | { readonly start: WriterStart }
  | { readonly jobs: readonly Job[] }
  | { readonly forgetBefore: number }
  | { readonly close: true };

export type FromWriter =
  | { readonly isReady: true }
  | {
      readonly outcomes: readonly { readonly id: number; readonly outcome: Outcome<Performed> }[];
      /** How long their commit took, if there was one. */
      readonly commitMs?: number | undefined;
    }
  | { readonly isClosed: true };

export interface Writer {
  perform(command: Command): Promise<Performed>;
  /** Drops kept answers older than this. */
  forgetAnswers(keptBefore: number): void;
  /** Whether writes are done, and in time. */
  isReady(): boolean;
  /** Writes that have no outcome yet. */
  waiting(): number;
  /** Resolves when all that was queued is on disk and the database is closed. */
  close(): Promise<void>;
}

/** The serial writer in its thread: no request waits for a disk but the one that writes. */
export async function startWriter(
  thread: URL,
  start: WriterStart,
  onFault: (error: unknown) => void,
  bounds: WriterBounds = BOUNDS,
  onCommit: (milliseconds: number, writes: number) => void = () => {},
): Promise<Writer> {
  let state: "starting" | "ready" | "fallen" | "closing" | "closed" = "starting";
  let worker: Worker;
  let restart: Timer | undefined;
  let unsent: Job[] = [];
  let lastId = 0;
  const waiting = waitingWrites();
  const started = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const isFirst = () => lastId === 0 && state === "starting";

  const tell = (message: ToWriter) => worker.postMessage(packed(message));
  const run = () => {
    // Little lives in this thread, so its heap may stay small.
    worker = new Worker(thread.href, { smol: true });
    worker.onmessage = ({ data }: MessageEvent<Packed<FromWriter>>) => receive(unpacked(data));
    worker.onerror = (event) => fall(thrown(event.message));
    tell({ start });
  };
  const receive = (message: FromWriter) => {
    if ("outcomes" in message) {
      const { outcomes, commitMs } = message;
      if (commitMs !== undefined) onCommit(commitMs, outcomes.length);
      for (const { id, outcome } of outcomes) waiting.answer(id, outcome);
    } else if ("isClosed" in message) end();
    else {
      if (state !== "closing") state = "ready";
      started.resolve();
    }
  };
  const fall = (error: Error) => {
    const wasFirst = isFirst();
    worker.terminate();
    waiting.refuseAll(error);
    unsent = [];
    onFault(error);
    if (state === "closing") return end();
    state = "fallen";
    if (wasFirst) started.reject(error);
    else restart = setTimeout(run, bounds.restartMs);
  };
  const end = () => {
    state = "closed";
    clearInterval(overdue);
    worker.terminate();
    closed.resolve();
  };
  const send = () => {
    if (unsent.length === 0) return;
    tell({ jobs: unsent });
    unsent = [];
  };
  const overdue = setInterval(waiting.giveUpAfter, Math.min(1000, bounds.deadlineMs / 4), bounds.deadlineMs);
  overdue.unref();

  run();
  await started.promise;
  return {
    perform(command) {
      if (state !== "ready") return Promise.reject(new Unavailable("The writer is not running."));
      if (waiting.count() >= bounds.queued) return Promise.reject(tooManyWait("writes"));
      const id = ++lastId;
      const deadline = Date.now() + bounds.deadlineMs;
      // One message for all the writes of one turn of the event loop.
      if (unsent.push({ id, command, deadline }) === 1) setImmediate(send);
      return waiting.add(id);
    },
    forgetAnswers: (forgetBefore) => {
      if (state === "ready") tell({ forgetBefore });
    },
    isReady: () => state === "ready" && waiting.longestMs() <= bounds.stalledMs,
    waiting: waiting.count,
    async close() {
      clearTimeout(restart);
      if (state === "fallen") end();
      if (state === "closed") return;
      state = "closing";
      send();
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
