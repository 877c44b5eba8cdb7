import type { ErrorCode } from "../../contract/errors.ts";
import type { ErrorDetail } from "../../contract/shapes.ts";
import { Failure, Unavailable } from "../../core/failure.ts";
import type { Connection } from "./connection.ts";

/** What became of one write, as it can be sent to another thread. */
export type Outcome<T> =
  | { readonly done: T }
  | {
      readonly failure: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details?: readonly ErrorDetail[] | undefined;
        readonly retryAfterSeconds?: number | undefined;
        readonly cause?: string | undefined;
      };
    }
  | { readonly fault: { readonly message: string; readonly stack?: string | undefined } };

/**
 * Runs writes one after another in one transaction and commits them together: the outcomes are given only
 * when all of it is on disk. A write that fails undoes itself alone.
 */
export async function commitTogether<J, T>(
  db: Connection,
  jobs: readonly J[],
  work: (job: J) => Promise<T>,
): Promise<Outcome<T>[]> {
  try {
    // A savepoint keeps a copy of every page that changes in it, and few writes fail half way.
    return await committed(db, jobs, (job) => inTheOpen(db, () => work(job)));
  } catch (error) {
    if (!(error instanceof HalfDone)) throw error;
    return committed(db, jobs, (job) => inSavepoint(db, () => work(job)));
  }
}

/** A write has failed after it changed something: nothing is kept of its batch, which must be done again, each write in a savepoint. */
class HalfDone extends Error {}

async function committed<J, T>(
  db: Connection,
  jobs: readonly J[],
  run: (job: J) => Promise<Outcome<T>>,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = [];
  try {
    db.begin();
    for (const job of jobs) outcomes.push(await run(job));
    addAppended(db);
    db.commit();
    return outcomes;
  } catch (error) {
    db.rollback();
    if (error instanceof HalfDone) throw error;
    return jobs.map(() => outcomeOf(error));
  }
}

/** Whose row it is that is refused cannot be told any more. */
function addAppended(db: Connection): void {
  try {
    db.appended.settle();
  } catch (error) {
    throw isTrouble(error) ? error : new HalfDone();
  }
}

async function inTheOpen<T>(db: Connection, work: () => Promise<T>): Promise<Outcome<T>> {
  const before = db.changes();
  try {
    return { done: await work() };
  } catch (error) {
    if (isTrouble(error)) throw error;
    if (db.changes() !== before) throw new HalfDone();
    return outcomeOf(error);
  }
}

async function inSavepoint<T>(db: Connection, work: () => Promise<T>): Promise<Outcome<T>> {
  db.exec("savepoint job");
  try {
    const done = await work();
    db.appended.settle();
    db.exec("release job");
    return { done };
  } catch (error) {
    if (isTrouble(error)) throw error;
    db.undoTo("job");
    db.exec("release job");
    return outcomeOf(error);
  }
}

/** The database's own trouble may have ended the whole transaction: no job of it can be trusted. */
function isTrouble(error: unknown): boolean {
  return error instanceof Unavailable;
}

function outcomeOf(error: unknown): Outcome<never> {
  if (error instanceof Failure) {
    const { code, message, details, cause, retryAfterSeconds } = error;
    return {
      failure: {
        code,
        message,
        details,
        retryAfterSeconds,
        cause: cause === undefined ? undefined : String(cause),
      },
    };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { fault: { message, stack } };
}

/** Gives what was done, or throws what was refused or went wrong. */
export function unwrap<T>(outcome: Outcome<T>): T {
  if ("done" in outcome) return outcome.done;
  if ("failure" in outcome) {
    const { code, message, details, cause, retryAfterSeconds } = outcome.failure;
    throw cause === undefined
      ? new Failure(code, message, details, retryAfterSeconds)
      : new Unavailable(cause, message);
  }
  const fault = new Error(outcome.fault.message);
  if (outcome.fault.stack) fault.stack = outcome.fault.stack;
  throw fault;
}
