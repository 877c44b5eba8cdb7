import { Conflict, Failure } from "../../core/failure.ts";
import type { KeptAnswer, Writes } from "../../core/ports.ts";
import {
  anyAnswer,
  type FoundAnswer,
  forgetAnswer,
  insertAnswer,
  keptSinceThen,
  newAnswer,
} from "../answers.ts";
import { type Db, sql } from "../statement.ts";
import { type Telling, tellingAnd } from "./events.ts";
import { isLockTimeout } from "./trouble.ts";

/** What was done was in vain, and is to be undone: the request was answered before. */
export class AnsweredBefore extends Error {
  constructor(readonly answer: KeptAnswer) {
    super("The request was answered before.");
  }
}

export interface AnswerKeeping extends Pick<Writes, "keptAnswer" | "keepAnswer"> {
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

const tellAndKeep = tellingAnd(newAnswer);

interface Asked {
  readonly clientId: number;
  readonly key: string;
  readonly keptSince: number;
  readonly found: Promise<FoundAnswer | null>;
}

/**
 * Nearly every request is new and alone with its key, so whether it was answered before is not waited for, which is a round
 * trip less. If it was, what was done is undone. If it was answered only meanwhile, that answer is in the way of ours; and
 * before a refusal is told it is looked for again, because a request may be refused for what its own first run has changed.
 */
export function answerKeeping(db: Db, telling: Telling): AnswerKeeping {
  let known: KeptAnswer | undefined;
  let asked: Asked | undefined;
  const look = async (clientId: number, key: string): Promise<FoundAnswer | null> => {
    const found = await db.get(lockAndLook, { clientId, key, ofClient: clientId, ofKey: key });
    return found && found.keptAt !== null ? found : null;
  };
  return {
    begin(answer) {
      known = answer;
      asked = undefined;
    },
    keptAnswer(clientId, key, keptSince) {
      if (known) return known;
      const found = look(clientId, key);
      // Whoever needs to know is told of a failure.
      found.catch(() => {});
      asked = { clientId, key, keptSince, found };
      return null;
    },
    async keepAnswer(clientId, key, answer, now, keptBefore) {
      const found = await asked?.found;
      requireNone(asked, found);
      if (found) await db.run(forgetAnswer, { clientId, key, keptBefore });
      await telling.settleWith(tellAndKeep, insertAnswer, { ...answer, clientId, key, now });
    },
    async judged(error) {
      if (!asked) return error;
      const { clientId, key } = asked;
      try {
        requireNone(asked, await asked.found);
        const isRefusal = error instanceof Failure || error instanceof Conflict;
        if (isRefusal) requireNone(asked, await db.get(anyAnswer, { clientId, key }));
        return error;
      } catch (cause) {
        if (isLockTimeout(cause)) return stillRunning(key);
        return cause instanceof AnsweredBefore ? cause : error;
      }
    },
  };
}

function requireNone(asked: Asked | undefined, found: FoundAnswer | null | undefined): void {
  const answer = asked && found ? keptSinceThen(found, asked.keptSince) : null;
  if (answer) throw new AnsweredBefore(answer);
}

function stillRunning(key: string): Failure {
  const message = `A request with the Idempotency-Key "${key}" is still running. Repeat this one when it is done.`;
  return new Failure("idempotency_in_progress", message, undefined, 1);
}
