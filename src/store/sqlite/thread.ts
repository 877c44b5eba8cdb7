import type { Command, Performed } from "../../core/perform.ts";
import type { Writes } from "../../core/ports.ts";
import type { Rules } from "../../core/rules.ts";
import { writes } from "../store.ts";
import { commitTogether } from "./batch.ts";
import { type Connection, connect } from "./connection.ts";
import type { FromWriter, ToWriter, WriterStart } from "./writer.ts";

/** Writes in one commit at the most, so that the first of them does not wait for all the others. */
const BATCH_WRITES = 256;
/** After this many writes the log is copied into the database, once nothing waits ... */
const CHECKPOINT_WHEN_IDLE = 1000;
const IDLE_MS = 50;
/** ... and after this many even while writes wait. */
const CHECKPOINT_AT_LATEST = 20_000;

type Job = { readonly id: number; readonly command: Command };
type Perform = (store: Writes, command: Command, rules: Rules) => Promise<Performed>;

/** The writer's side of its thread: waits for its start, then hands every message to the loop. */
export function runWriter(
  port: { postMessage(message: FromWriter): void },
  perform: Perform,
): (message: ToWriter) => void {
  let receive: ((message: ToWriter) => void) | undefined;
  return (message) => {
    if (!("start" in message)) return receive?.(message);
    receive = writerLoop(message.start, port, perform);
    port.postMessage({ isReady: true });
  };
}

/** Takes what has come, commits it together, answers, and looks again. */
function writerLoop(
  { path, rules }: WriterStart,
  port: { postMessage(message: FromWriter): void },
  perform: Perform,
): (message: ToWriter) => void {
  const db = connect(path, "write");
  const store = writes(db);
  let queue: Job[] = [];
  let forgetBefore: number | undefined;
  let writesInLog = 0;
  let isRunning = false;
  let isClosing = false;
  let idle: Timer | undefined;

  const run = async () => {
    while (queue.length > 0 || forgetBefore !== undefined) {
      if (queue.length > 0) await commitWaiting();
      else await forgetSome();
      if (writesInLog >= CHECKPOINT_AT_LATEST) checkpoint();
      // What has arrived meanwhile is taken along.
      await nextTurn();
    }
    isRunning = false;
    if (isClosing) close();
    else if (writesInLog >= CHECKPOINT_WHEN_IDLE) idle = setTimeout(checkpoint, IDLE_MS);
  };
  const commitWaiting = async () => {
    const jobs = queue.splice(0, BATCH_WRITES);
    const outcomes = await commitTogether(db, jobs, ({ command }) => perform(store, command, rules));
    port.postMessage({ outcomes: jobs.map(({ id }, index) => ({ id, outcome: outcomes[index] as never })) });
    writesInLog += jobs.length;
  };
  const forgetSome = async () => {
    const [outcome] = await commitTogether(db, [forgetBefore as number], async (before) =>
      store.forgetAnswers(before),
    );
    // A sweep that failed is tried again with the next.
    if (!outcome || !("done" in outcome) || !outcome.done) forgetBefore = undefined;
  };
  const checkpoint = () => {
    copyLog(db, "passive");
    writesInLog = 0;
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
    clearTimeout(idle);
    if (isRunning) return;
    isRunning = true;
    setImmediate(run);
  };
}

/** A checkpoint: with `passive` nobody waits for it, with `truncate` the log file is empty afterwards. */
function copyLog(db: Connection, mode: "passive" | "truncate"): void {
  db.rows(`pragma wal_checkpoint(${mode})`);
}

/** Lets messages that wait be delivered. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
