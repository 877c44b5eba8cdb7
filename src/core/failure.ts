import { type ErrorCode, errors } from "../contract/errors.ts";
import type { ErrorDetail } from "../contract/shapes.ts";
import { redacted } from "./key-format.ts";

/** A refusal that the caller is told of; everything else that is thrown is a fault of ours. */
export class Failure extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: readonly ErrorDetail[] | undefined,
    /** When the request is worth repeating, if that is known. */
    readonly retryAfterSeconds?: number | undefined,
  ) {
    super(message);
    this.name = "Failure";
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** Ends an operation: nothing that it did is kept. */
export function fail(code: ErrorCode, message: string, details?: readonly ErrorDetail[]): never {
  throw new Failure(code, message, details);
}

/** Another change came between a read and its write: the transaction is to be run again. */
export class Conflict extends Error {
  constructor() {
    super("The record changed while this transaction ran.");
    this.name = "Conflict";
  }
}

/** The data store cannot do its work now. The cause goes to the log, not to the caller; there is none where the log has it already. */
export class Unavailable extends Failure {
  constructor(cause?: unknown, message = "The data store is not available. Repeat the request later.") {
    super("unavailable", message);
    this.cause = cause;
  }
}

/** What is behind an error, for those who run the store; callers are not told. */
export function causeOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Failure && cause.cause !== undefined) cause = cause.cause;
  return redacted(String(cause));
}
