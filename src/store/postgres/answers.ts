import { Conflict, Failure } from "../../core/failure.ts";
import type { Writes } from "../../core/ports.ts";
import {
  anyAnswer,
  type FoundAnswer,
  forgetAnswer,
  insertAnswer,
  keptSinceThen,
  newAnswer,
} from "../answers.ts";
import { type Db, fragment, sql } from "../statement.ts";
import { type Telling, tellingAnd } from "./events.ts";
import { isLockTimeout } from "./trouble.ts";

/** How a transaction asks whether its request was answered before: first of all, or together with what it does if not. */
export type Look = "first" | "meanwhile";

/** What was done meanwhile was in vain: the request was answered before. Done anew it looks first. */
export class AnsweredBefore extends Error {}

export interface AnswerKeeping extends Pick<Writes, "keptAnswer" | "keepAnswer"> {
  /** Before each transaction. */
  begin(look: Look): void;
  /** What is to be said of what a transaction failed with. */
  judged(error: unknown): Promise<unknown>;
}

/** One request at a time with a key: the next one finds the answer of the one before, if it looks when it has the lock. */
const lockKey = fragment`select pg_advisory_xact_lock(hashtextextended(:key, :clientId))`;
const keyLock = sql`${lockKey}`;

/** Both at once, as if nobody else had the lock: what another did until it let go of it is not seen. */
const lockAndLook = sql<FoundAnswer | { readonly keptAt: null }>`
  with locked as materialized (${lockKey})
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
 * trip less. If it was, what was done is undone; if another was answered meanwhile, its answer is in the way of ours; and
 * before a refusal is told it is asked again, because the request may be refused for what its own first run has changed.
 */
export function answerKeeping(db: Db, telling: Telling): AnswerKeeping {
  let look: Look = "first";
  let asked: Asked | undefined;
  const looked = async (clientId: number, key: string): Promise<FoundAnswer | null> => {
    if (look === "first") {
      db.run(keyLock, { clientId, key });
      return db.get(anyAnswer, { clientId, key });
    }
    const found = await db.get(lockAndLook, { clientId, key, ofClient: clientId, ofKey: key });
    return found?.keptAt == null ? null : (found as FoundAnswer);
  };
  return {
    begin(now) {
      look = now;
      asked = undefined;
    },
    async keptAnswer(clientId, key, keptSince) {
      const found = looked(clientId, key);
      // Whoever needs to know is told of a failure.
      found.catch(() => {});
      asked = { clientId, key, keptSince, found };
      return look === "first" ? keptSinceThen(await found, keptSince) : null;
    },
    async keepAnswer(clientId, key, answer, now, keptBefore) {
      const found = await asked?.found;
      if (found && wasKept(asked, found)) throw new AnsweredBefore();
      if (found) db.run(forgetAnswer, { clientId, key, keptBefore });
      await telling.settleWith(tellAndKeep, insertAnswer, { ...answer, clientId, key, now });
    },
    async judged(error) {
      if (!asked) return error;
      const { clientId, key, found } = asked;
      try {
        const isRefusal = error instanceof Failure || error instanceof Conflict;
        const answer =
          (await found) ??
          (isRefusal && look === "meanwhile" ? await db.get(anyAnswer, { clientId, key }) : null);
        return look === "meanwhile" && wasKept(asked, answer) ? new AnsweredBefore() : error;
      } catch (failed) {
        return isLockTimeout(failed) ? stillRunning(key) : error;
      }
    },
  };
}

function wasKept(asked: Asked | undefined, found: FoundAnswer | null): found is FoundAnswer {
  return asked !== undefined && keptSinceThen(found, asked.keptSince) !== null;
}

function stillRunning(key: string): Failure {
  const message = `A request with the Idempotency-Key "${key}" is still running. Repeat this one when it is done.`;
  return new Failure("idempotency_in_progress", message, undefined, 1);
}
