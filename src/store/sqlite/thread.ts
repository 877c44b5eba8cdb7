import type { Rules } from "../../core/context.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Writes } from "../../core/ports.ts";
import { commitTogether } from "./batch.ts";
import { type Connection, connect } from "./connection.ts";
import type { FromWriter, ToWriter } from "./writer.ts";

/** Writes in one commit at the most, so that the first of them does not wait for all the others. */
const BATCH_WRITES = 256;
/** After this many writes the log is copied into the database, once nothing waits ... */
const CHECKPOINT_WHEN_IDLE = 1000;
const IDLE_MS = 50;
/** ... and after this many even while writes wait. */
const CHECKPOINT_AT_LATEST = 20_000;

type Job = { readonly id: number; readonly command: Command };
type Perform = (store: Writes, command: Command, rules: Rules) => Promise<Performed>;

/** The writer's side of its thread: takes what has come, commits it together, answers, and looks again. */
export function runWriter(
  port: { postMessage(message: FromWriter): void },
  perform: Perform,
): (message: ToWriter) => void {
  let db: Connection;
  let rules: Rules;
  let queue: Job[] = [];
  let forgetBefore: number | undefined;
  let writesInLog = 0;
  let isRunning = false;
  let isClosing = false;
  let idle: Timer | undefined;

  const wake = () => {
    clearTimeout(idle);
    if (isRunning) return;
    isRunning = true;
    // What else has arrived meanwhile is taken along.
    setImmediate(run);
  };
  const run = async () => {
    while (queue.length > 0) {
      const jobs = queue.splice(0, BATCH_WRITES);
      const outcomes = await commitTogether(db, jobs, (store, { command }) => perform(store, command, rules));
      port.postMessage({
        outcomes: jobs.map(({ id }, index) => ({ id, outcome: outcomes[index] as never })),
      });
      writesInLog += jobs.length;
      if (writesInLog >= CHECKPOINT_AT_LATEST) checkpoint();
      await nextTurn();
    }
    if (forgetBefore !== undefined) await forget(forgetBefore);
    isRunning = false;
    if (isClosing) close();
    else if (writesInLog >= CHECKPOINT_WHEN_IDLE) idle = setTimeout(checkpoint, IDLE_MS);
  };
  const forget = async (keptBefore: number) => {
    forgetBefore = undefined;
    await commitTogether(db, [keptBefore], async (store, before) => store.forgetAnswers(before));
  };
  const checkpoint = () => {
    db.rows("pragma wal_checkpoint(passive)");
    writesInLog = 0;
  };
  const close = () => {
    db.rows("pragma wal_checkpoint(truncate)");
    db.close();
    port.postMessage({ isClosed: true });
  };

  return (message) => {
    if ("start" in message) {
      db = connect(message.start.path, "write");
      rules = message.start.rules;
      return port.postMessage({ isReady: true });
    }
    if ("jobs" in message) queue = queue.length === 0 ? [...message.jobs] : queue.concat(message.jobs);
    else if ("forgetBefore" in message) forgetBefore = message.forgetBefore;
    else isClosing = true;
    wake();
  };
}

/** Lets messages that wait be delivered. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
