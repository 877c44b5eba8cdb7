import type { ErrorCode } from "../../contract/errors.ts";
import type { ErrorDetail } from "../../contract/shapes.ts";
import { Failure, Unavailable } from "../../core/failure.ts";
import { type Connection, tryRollback } from "./connection.ts";

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
  // A savepoint keeps a copy of every page that changes in it, and hardly any write fails half way.
  const outcomes = await committed(db, jobs, (job) => inTheOpen(db, () => work(job)));
  return outcomes ?? ((await committed(db, jobs, (job) => inSavepoint(db, () => work(job)))) as Outcome<T>[]);
}

/** Nothing is kept of a batch with a write that failed half way: it must be done again, each in a savepoint. */
async function committed<J, T>(
  db: Connection,
  jobs: readonly J[],
  run: (job: J) => Promise<Outcome<T> | "half done">,
): Promise<Outcome<T>[] | null> {
  const outcomes: Outcome<T>[] = [];
  try {
    db.exec("begin immediate");
    for (const job of jobs) {
      const outcome = await run(job);
      if (outcome === "half done") {
        tryRollback(db);
        return null;
      }
      outcomes.push(outcome);
    }
    db.exec("commit");
    return outcomes;
  } catch (error) {
    tryRollback(db);
    return jobs.map(() => outcomeOf(error));
  }
}

async function inTheOpen<T>(db: Connection, work: () => Promise<T>): Promise<Outcome<T> | "half done"> {
  const before = db.changes();
  try {
    return { done: await work() };
  } catch (error) {
    if (isTrouble(error)) throw error;
    return db.changes() === before ? outcomeOf(error) : "half done";
  }
}

async function inSavepoint<T>(db: Connection, work: () => Promise<T>): Promise<Outcome<T>> {
  db.exec("savepoint job");
  try {
    const done = await work();
    db.exec("release job");
    return { done };
  } catch (error) {
    if (isTrouble(error)) throw error;
    db.exec("rollback to job");
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
