import { fail } from "../../core/failure.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Writes } from "../../core/ports.ts";
import type { Rules } from "../../core/rules.ts";
import { commitTogether } from "./batch.ts";
import { type Connection, connect } from "./connection.ts";
import { restsAtWork } from "./slow-disk.ts";
import type { FromWriter, Job, ToWriter, WriterStart } from "./writer.ts";
import { sqliteWrites } from "./writes.ts";

/** Writes in one commit at the most, so that the first of them does not wait for all the others. */
const BATCH_WRITES = 256;
/** Pages in the log (of 4 KiB) after which it is copied into the database once writes have paused for a moment ... */
const COPY_AFTER_PAUSE = 1000;
const PAUSE_MS = 50;
/** ... as soon as no write waits ... */
const COPY_WHEN_NONE_WAITS = 16_000;
/** ... and even while writes wait. */
const COPY_AT_LATEST = 20_000;
/** Pages more after which it is tried again, if somebody still reads a state from before them. */
const COPY_AGAIN = 2000;

type Perform = (store: Writes, command: Command, rules: Rules) => Promise<Performed>;
type Port = { postMessage(message: FromWriter): void };

/** The writer's side of its thread: waits for its start, then hands every message to the loop. */
export function runWriter(port: Port, perform: Perform): (message: ToWriter) => void {
  let receive: ((message: ToWriter) => void) | undefined;
  return (message) => {
    if (!("start" in message)) return receive?.(message);
    receive = writerLoop(message.start, port, perform);
    port.postMessage({ isReady: true });
  };
}

/** Takes what has come, commits it together, answers, and looks again. */
function writerLoop({ path, rules }: WriterStart, port: Port, perform: Perform): (message: ToWriter) => void {
  let commitMs: number | undefined;
  const rests = restsAtWork();
  const connection = connect(path, "write");
  const db: Connection = {
    ...connection,
    commit() {
      rests.take();
      const began = performance.now();
      connection.commit();
      commitMs = performance.now() - began;
    },
  };
  const store = sqliteWrites(db);
  let queue: Job[] = [];
  let forgetBefore: number | undefined;
  let isRunning = false;
  let isClosing = false;
  let pause: Timer | undefined;
  /** Pages that the last copy had to leave in the log: somebody reads a state from before them, as a backup does for as long as it takes. */
  let left = 0;

  const run = async () => {
    while (queue.length > 0 || forgetBefore !== undefined) {
      if (queue.length > 0) await commitWaiting();
      else await forgetSome();
      copyFrom(queue.length > 0 ? COPY_AT_LATEST : COPY_WHEN_NONE_WAITS);
      // What has arrived meanwhile is taken along.
      await nextTurn();
    }
    isRunning = false;
    if (isClosing) close();
    else if (pagesInLog(db) >= COPY_AFTER_PAUSE) pause = setTimeout(copy, PAUSE_MS);
  };
  /** What cannot be copied yet is not tried again after each commit: only to find that out takes the longer, the longer the log is. */
  const copyFrom = (pages: number) => {
    const now = pagesInLog(db);
    if (now < left) left = 0;
    if (now >= pages && now - left >= COPY_AGAIN) copy();
  };
  const copy = () => {
    left = copyLog(db, "passive");
  };
  const commitWaiting = async () => {
    const jobs = queue.splice(0, BATCH_WRITES);
    rests.begin(commitMs);
    commitMs = undefined;
    const outcomes = await commitTogether(db, jobs, ({ command, deadline }) => {
      rests.take();
      // Its caller has been told that it may not have been done: it must not be done so late. Those behind it are.
      if (Date.now() > deadline) fail("unavailable", "This write was not done: it waited too long.");
      return perform(store, command, rules);
    });
    port.postMessage({
      outcomes: jobs.map(({ id }, index) => ({ id, outcome: outcomes[index] as never })),
      commitMs,
    });
  };
  const forgetSome = async () => {
    const [outcome] = await commitTogether(db, [forgetBefore as number], async (before) =>
      store.forgetAnswers(before),
    );
    // A sweep that failed is tried again with the next.
    if (!outcome || !("done" in outcome) || !outcome.done) forgetBefore = undefined;
  };
  const close = () => {
    copyLog(db, "truncate");
    db.close();
    port.postMessage({ isClosed: true });
  };

  return (message) => {
    if ("jobs" in message) queue = queue.length === 0 ? [...message.jobs] : queue.concat(message.jobs);
    else if ("forgetBefore" in message) forgetBefore = message.forgetBefore;
    else isClosing = true;
    clearTimeout(pause);
    if (isRunning) return;
    isRunning = true;
    setImmediate(run);
  };
}

/** How far the log has grown since it was last copied whole. */
function pagesInLog(db: Connection): number {
  return copyLog(db, "noop");
}

/** A checkpoint: with `passive` nobody waits for it, with `truncate` the log file is empty afterwards. Gives how many pages are left to copy. */
function copyLog(db: Connection, mode: "noop" | "passive" | "truncate"): number {
  const [row] = db.rows(`pragma wal_checkpoint(${mode})`);
  return row ? Number(row.log) - Number(row.checkpointed) : 0;
}

/** Lets messages that wait be delivered. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
