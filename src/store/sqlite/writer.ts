import { Unavailable } from "../../core/failure.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Rules } from "../../core/rules.ts";
import { tooManyWait } from "../trouble.ts";
import type { Outcome } from "./batch.ts";
import { databaseFile } from "./database-file.ts";
import { answersInTurns } from "./slow-disk.ts";
import { startThread } from "./thread-life.ts";
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
  | { readonly isFlushed: true }
  | { readonly close: true };

export type FromWriter =
  | { readonly isReady: true }
  | Outcomes
  | { readonly isToFlush: true }
  | { readonly lost: string }
  | { readonly isClosed: true };

interface OutcomeOf {
  readonly id: number;
  readonly outcome: Outcome<Performed>;
}

export interface Outcomes {
  readonly outcomes: readonly OutcomeOf[];
  /** How long their commit took, if there was one. */
  readonly commitMs?: number | undefined;
}

export interface Writer {
  perform(command: Command): Promise<Performed>;
  /** Drops kept answers older than this. */
  forgetAnswers(keptBefore: number): void;
  /** Whether writes are done, and in time. */
  isReady(): boolean;
  /** Writes that have no outcome yet. */
  waiting(): number;
  /** Resolves when all that was queued is on disk and the database is closed, which nobody else in this process may have open any more. */
  close(): Promise<void>;
}

export interface WriterEvents {
  readonly onFault: (error: unknown) => void;
  /** The disk may have lost what was copied out of the log. The log has it, but only for who opens the database anew. */
  readonly onLost: (error: unknown) => void;
  readonly onCommit?: (milliseconds: number, writes: number) => void;
}

/** The serial writer in its thread: no request waits for a disk but the one that writes. */
export async function startWriter(
  thread: URL,
  start: WriterStart,
  { onFault, onLost, onCommit }: WriterEvents,
  bounds: WriterBounds = BOUNDS,
): Promise<Writer> {
  const answers = answersInTurns<OutcomeOf>(({ id, outcome }) => queue.answer(id, outcome));
  const queue = writeQueue(bounds, (jobs) => life.tell({ jobs }), answers.keepsWrites);
  const file = databaseFile(start.path);
  const life = await startThread(thread, start, bounds.restartMs, {
    onOutcomes({ outcomes, commitMs }) {
      if (commitMs !== undefined) onCommit?.(commitMs, outcomes.length);
      answers.add(outcomes, commitMs);
    },
    onFlush() {
      const flushed = () => life.isReady() && life.tell({ isFlushed: true });
      file.flush().then(flushed, onLost);
    },
    onLost,
    onFall(error) {
      answers.all();
      queue.refuseAll(error);
      onFault(error);
    },
  });
  return {
    perform: (command) =>
      life.isReady() ? queue.add(command) : Promise.reject(new Unavailable("The writer is not running.")),
    forgetAnswers(forgetBefore) {
      if (life.isReady()) life.tell({ forgetBefore });
    },
    isReady: () => life.isReady() && queue.longestMs() <= bounds.stalledMs,
    waiting: queue.count,
    async close() {
      queue.send();
      await life.close();
      await file.close();
      answers.all();
      queue.close();
    },
  };
}

/** Writes on their way to the thread, and those that wait for what becomes of them there. */
function writeQueue(
  { queued, deadlineMs }: WriterBounds,
  tell: (jobs: readonly Job[]) => void,
  keepsWrites: () => boolean,
) {
  let unsent: Job[] = [];
  let lastId = 0;
  const waiting = waitingWrites();
  const overdue = setInterval(waiting.giveUpAfter, Math.min(1000, deadlineMs / 4), deadlineMs);
  overdue.unref();
  const send = () => {
    if (unsent.length === 0) return;
    tell(unsent);
    unsent = [];
  };
  const sendInTurn = () => {
    if (unsent.length > 0 && keepsWrites()) setImmediate(sendInTurn);
    else send();
  };
  return {
    add(command: Command): Promise<Performed> {
      if (waiting.count() >= queued) return Promise.reject(tooManyWait("writes"));
      const id = ++lastId;
      const deadline = Date.now() + deadlineMs;
      // One message for all the writes of one turn of the event loop.
      if (unsent.push({ id, command, deadline }) === 1) setImmediate(sendInTurn);
      return waiting.add(id);
    },
    send,
    answer: waiting.answer,
    refuseAll(error: Error): void {
      waiting.refuseAll(error);
      unsent = [];
    },
    count: waiting.count,
    longestMs: waiting.longestMs,
    close: (): void => clearInterval(overdue),
  };
}
