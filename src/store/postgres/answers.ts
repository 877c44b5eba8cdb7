import { Conflict, Failure, Unavailable } from "../../core/failure.ts";
import type { KeptAnswer, Writes } from "../../core/ports.ts";
import { anyAnswer, type FoundAnswer, forgetAnswer, keptSinceThen } from "../answers.ts";
import { type Db, sql } from "../statement.ts";
import type { Transaction } from "./connection.ts";
import type { LastWrites } from "./last-writes.ts";
import { isLockTimeout } from "./trouble.ts";

/** What was done was in vain, and is to be undone: the request was answered before. */
export class AnsweredBefore extends Error {
  constructor(readonly answer: KeptAnswer) {
    super("The request was answered before.");
  }
}

export interface AnswerKeeping extends Pick<Writes, "claimKey" | "keepAnswer"> {
  /** Before each transaction; with the answer that was found, if it is done anew for that. */
  begin(answer: KeptAnswer | undefined): void;
  /** What is to be said of what a transaction failed with. */
  judged(error: unknown): Promise<unknown>;
}

/**
 * One request at a time with a key: the next one waits. What the one before did until it let go of the lock is not seen
 * by this statement, but by those after it.
 */
const lockAndLook = sql<FoundAnswer | { readonly keptAt: null }>`
  with locked as materialized (select pg_advisory_xact_lock(hashtextextended(:key, :clientId)))
  select fingerprint, body, tag, kept_at as "keptAt"
  from locked left join kept_answers on client_id = :ofClient and key = :ofKey`;

interface Claimed {
  readonly clientId: number;
  readonly key: string;
  readonly keptSince: number;
  /** One that is too old, if any. */
  readonly found: Promise<FoundAnswer | null>;
}

/**
 * Nearly every request is new and alone with its key, so whether it was answered before is not waited for, which is a round
 * trip less. If it was, nothing more is done and what was done is undone. If it was answered only meanwhile, that answer is
 * in the way of ours; and before a refusal is told it is looked for again, because a request may be refused for what its
 * own first run has changed.
 */
export function answerKeeping(db: Transaction, last: Pick<LastWrites, "keep">): AnswerKeeping {
  let known: KeptAnswer | undefined;
  let claimed: Claimed | undefined;
  const lookAlong = async (clientId: number, key: string, keptSince: number) => {
    const found = await look(db, clientId, key);
    const answer = keptSinceThen(found, keptSince);
    if (!answer) return found;
    const before = new AnsweredBefore(answer);
    db.fail(before);
    throw before;
  };
  return {
    begin(answer) {
      known = answer;
      claimed = undefined;
    },
    claimKey(clientId, key, keptSince) {
      if (known) return known;
      const found = lookAlong(clientId, key, keptSince);
      // Whoever needs to know is told of a failure.
      found.catch(() => {});
      claimed = { clientId, key, keptSince, found };
      return null;
    },
    keepAnswer: (...kept) => keepAnswer(db, last, claimed, kept),
    judged: async (error) => (claimed ? judged(db, claimed, error) : error),
  };
}

/** The same for those that share a transaction: it is waited for, because one that was answered before would undo all others. */
export function sharedAnswerKeeping(db: Transaction, last: Pick<LastWrites, "keep">): AnswerKeeping {
  let claimed: Claimed | undefined;
  return {
    begin() {
      claimed = undefined;
    },
    async claimKey(clientId, key, keptSince) {
      const found = await look(db, clientId, key);
      const answer = keptSinceThen(found, keptSince);
      if (!answer) claimed = { clientId, key, keptSince, found: Promise.resolve(found) };
      return answer;
    },
    keepAnswer: (...kept) => keepAnswer(db, last, claimed, kept),
    judged: async (error) => (claimed ? judged(db, claimed, error) : error),
  };
}

async function look(db: Db, clientId: number, key: string): Promise<FoundAnswer | null> {
  const found = await db.get(lockAndLook, { clientId, key, ofClient: clientId, ofKey: key });
  return found && found.keptAt !== null ? found : null;
}

async function keepAnswer(
  db: Db,
  last: Pick<LastWrites, "keep">,
  claimed: Claimed | undefined,
  [clientId, key, answer, now, keptBefore]: Parameters<Writes["keepAnswer"]>,
): Promise<void> {
  const found = await claimed?.found;
  if (!claimed || found) await db.run(forgetAnswer, { clientId, key, keptBefore });
  await last.keep({ ...answer, clientId, key, now });
}

async function judged(
  db: Db,
  { clientId, key, keptSince, found }: Claimed,
  error: unknown,
): Promise<unknown> {
  try {
    await found;
  } catch (cause) {
    if (isLockTimeout(cause)) return stillRunning(key);
    return cause instanceof AnsweredBefore || isRefusal(error) ? cause : error;
  }
  if (!isRefusal(error)) return error;
  try {
    const answer = keptSinceThen(await db.get(anyAnswer, { clientId, key }), keptSince);
    return answer ? new AnsweredBefore(answer) : error;
  } catch (cause) {
    return cause;
  }
}

/** What a caller would be told, or the core would do anew: both may be for what the same request has changed before. */
export function isRefusal(error: unknown): boolean {
  return (error instanceof Failure && !(error instanceof Unavailable)) || error instanceof Conflict;
}

function stillRunning(key: string): Failure {
  const message = `A request with the Idempotency-Key "${key}" is still running. Repeat this one when it is done.`;
  return new Failure("idempotency_in_progress", message, undefined, 1);
}
