import { Failure, Unavailable } from "../../core/failure.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Rules } from "../../core/rules.ts";
import { type Outcome, unwrap } from "./batch.ts";

/** Writes that may wait for the disk; more are refused before they would wait too long. */
export const QUEUED_WRITES = 10_000;
/** A write that has no outcome after this long is answered with 503; it may still be done. */
const WRITE_DEADLINE_MS = 8000;
const RESTART_AFTER_MS = 500;

export interface WriterStart {
  readonly path: string;
  readonly rules: Rules;
}

export type ToWriter =
  | { readonly start: WriterStart }
  | { readonly jobs: readonly { readonly id: number; readonly command: Command }[] }
  | { readonly forgetBefore: number }
  | { readonly close: true };

export type FromWriter =
  | { readonly isReady: true }
  | { readonly outcomes: readonly { readonly id: number; readonly outcome: Outcome<Performed> }[] }
  | { readonly isClosed: true };

export interface Writer {
  perform(command: Command): Promise<Performed>;
  /** Drops kept answers older than this. */
  forgetAnswers(keptBefore: number): void;
  isReady(): boolean;
  /** Resolves when all that was queued is on disk and the database is closed. */
  close(): Promise<void>;
}

interface Waiting {
  readonly since: number;
  readonly resolve: (done: Performed) => void;
  readonly reject: (error: unknown) => void;
}

/** The serial writer in its thread: no request waits for a disk but the one that writes. */
export async function startWriter(
  thread: URL,
  start: WriterStart,
  onFault: (error: unknown) => void,
): Promise<Writer> {
  const waiting = new Map<number, Waiting>();
  let unsent: { id: number; command: Command }[] = [];
  let lastId = 0;
  let isReady = false;
  let hasStarted = false;
  let isClosing = false;
  let worker: Worker;
  const started = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();

  const run = () => {
    worker = new Worker(thread.href);
    worker.onmessage = ({ data }: MessageEvent<FromWriter>) => {
      if ("outcomes" in data) for (const { id, outcome } of data.outcomes) settle(id, outcome);
      else if ("isReady" in data) {
        isReady = true;
        hasStarted = true;
        started.resolve();
      } else closed.resolve();
    };
    worker.onerror = (event) => fallen(new Error(event.message));
    worker.postMessage({ start } satisfies ToWriter);
  };
  const settle = (id: number, outcome: Outcome<Performed>) => {
    const job = waiting.get(id);
    if (!job || !waiting.delete(id)) return;
    try {
      job.resolve(unwrap(outcome));
    } catch (error) {
      job.reject(error);
    }
  };
  const fallen = (error: Error) => {
    isReady = false;
    started.reject(error);
    onFault(error);
    worker.terminate();
    for (const job of waiting.values()) job.reject(new Unavailable(error, unknownOutcome));
    waiting.clear();
    if (isClosing) closed.resolve();
    else if (hasStarted) setTimeout(run, RESTART_AFTER_MS);
  };
  const send = () => {
    const jobs = unsent;
    unsent = [];
    worker.postMessage({ jobs } satisfies ToWriter);
  };
  const overdue = setInterval(() => {
    const limit = performance.now() - WRITE_DEADLINE_MS;
    for (const [id, job] of waiting) {
      if (job.since > limit) break;
      waiting.delete(id);
      job.reject(new Unavailable("The write has no outcome in time.", unknownOutcome));
    }
  }, 1000);
  overdue.unref();

  run();
  await started.promise;
  return {
    perform(command) {
      if (!isReady || isClosing) return Promise.reject(new Unavailable("The writer is not running."));
      if (waiting.size >= QUEUED_WRITES) return Promise.reject(tooMany());
      const id = ++lastId;
      // One message for all the writes of one turn of the event loop.
      if (unsent.push({ id, command }) === 1) setImmediate(send);
      return new Promise((resolve, reject) => waiting.set(id, { since: performance.now(), resolve, reject }));
    },
    forgetAnswers: (forgetBefore) => worker.postMessage({ forgetBefore } satisfies ToWriter),
    isReady: () => isReady,
    async close() {
      isClosing = true;
      if (unsent.length > 0) send();
      worker.postMessage({ close: true } satisfies ToWriter);
      await closed.promise;
      clearInterval(overdue);
      worker.terminate();
    },
  };
}

const unknownOutcome =
  "The outcome of this write is unknown. Repeat it with the same Idempotency-Key, or read the record to see.";

function tooMany(): Failure {
  return new Failure("overloaded", "Too many writes are waiting; this one was not done. Repeat it later.");
}
