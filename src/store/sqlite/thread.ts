import { causeOf, fail } from "../../core/failure.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Writes } from "../../core/ports.ts";
import type { Rules } from "../../core/rules.ts";
import { commitTogether } from "./batch.ts";
import { type Connection, connect } from "./connection.ts";
import { writerLog } from "./log.ts";
import { restsAtWork } from "./slow-disk.ts";
import type { FromWriter, Job, ToWriter, WriterStart } from "./writer.ts";
import { sqliteWrites } from "./writes.ts";

/** Writes in one commit at the most, so that the first of them does not wait for all the others. */
const BATCH_WRITES = 256;
/** How long writes have paused when the log is copied. */
const PAUSE_MS = 50;

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
  const log = writerLog(db, path, {
    flush: () => port.postMessage({ isToFlush: true }),
    lost: (error) => port.postMessage({ lost: causeOf(error) }),
  });
  let queue: Job[] = [];
  let forgetBefore: number | undefined;
  let isRunning = false;
  let isClosing = false;
  let pause: Timer | undefined;

  const run = async () => {
    while (queue.length > 0 || forgetBefore !== undefined) {
      if (queue.length > 0) await commitWaiting();
      else await forgetSome();
      log.grown();
      // What has arrived meanwhile is taken along.
      await nextTurn();
    }
    isRunning = false;
    if (isClosing) close();
    else copyAfterPause();
  };
  const copyAfterPause = () => {
    if (log.isWorthCopying()) pause = setTimeout(log.copyAll, PAUSE_MS);
  };
  const flushed = () => {
    log.flushed();
    if (!isRunning) copyAfterPause();
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
    log.close();
    db.close();
    port.postMessage({ isClosed: true });
  };

  return (message) => {
    if ("jobs" in message) queue = queue.length === 0 ? [...message.jobs] : queue.concat(message.jobs);
    else if ("forgetBefore" in message) forgetBefore = message.forgetBefore;
    else if ("isFlushed" in message) return flushed();
    else isClosing = true;
    clearTimeout(pause);
    if (isRunning) return;
    isRunning = true;
    setImmediate(run);
  };
}

/** Lets messages that wait be delivered. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
