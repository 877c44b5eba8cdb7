import type { KeptAnswer, Writes } from "../../core/ports.ts";
import type { Db } from "../statement.ts";
import { writes } from "../store.ts";
import { AnsweredBefore, type AnswerKeeping, answerKeeping } from "./answers.ts";
import { clientLocking } from "./clients.ts";
import { DEAD_ENDS, inTransaction, type Transaction, type TransactionOptions } from "./connection.ts";
import { orderedEventReads, type Telling, tellingOf } from "./events.ts";
import { movementNumbers, orderPlacing } from "./orders.ts";
import type { Pool } from "./pool.ts";
import { classified, isConflict, isDeadEnd, isLoss } from "./trouble.ts";
import { deliveryTaking } from "./webhooks.ts";

/** How often work is done anew when others came between; each pause is longer, by chance, than the one before. */
const TRIES = 8;
const FIRST_PAUSE_MS = 4;

/** Runs work in a transaction, and again if another one's changes undid it, it was answered before, or the connection ended before its commit. */
export async function transact<T>(
  pool: Pool,
  options: TransactionOptions,
  work: (store: Writes) => Promise<T>,
): Promise<T> {
  let connection: "fresh" | undefined;
  let deadEnds = 0;
  let answer: KeptAnswer | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, { ...options, connection }, (db) => worked(db, answer, work));
    } catch (error) {
      if (error instanceof AnsweredBefore) {
        answer = error.answer;
        continue;
      }
      connection = isLoss(error) ? "fresh" : undefined;
      if (isDeadEnd(error)) deadEnds += 1;
      const isWorthIt = isConflict(error) || (isDeadEnd(error) && deadEnds <= DEAD_ENDS);
      const pauseMs = isDeadEnd(error) ? 0 : Math.random() * FIRST_PAUSE_MS * 2 ** attempt;
      if (!isWorthIt || attempt === TRIES || Date.now() + pauseMs >= options.deadline)
        throw classified(error);
      await Bun.sleep(pauseMs);
    }
  }
}

async function worked<T>(
  db: Transaction,
  answer: KeptAnswer | undefined,
  work: (store: Writes) => Promise<T>,
): Promise<T> {
  const { store, answers, telling } = storeOf(db);
  answers.begin(answer);
  telling.begin();
  try {
    const done = await work(store);
    await telling.settle();
    return done;
  } catch (error) {
    throw await answers.judged(error);
  }
}

interface TransactionStore {
  readonly store: Writes;
  readonly answers: AnswerKeeping;
  readonly telling: Telling;
}

/** One for a connection: to make it is a twentieth of an order. */
const stores = new WeakMap<Transaction, TransactionStore>();

function storeOf(db: Transaction): TransactionStore {
  const known = stores.get(db);
  if (known) return known;
  const telling = tellingOf(db);
  const answers = answerKeeping(db, telling);
  const made = { store: writesOf(db, answers, telling), answers, telling };
  stores.set(db, made);
  return made;
}

/** The shared store, but for what is fewer statements, or locks a row, in words of PostgreSQL's own. */
function writesOf(db: Db, { claimKey, keepAnswer }: AnswerKeeping, { emit }: Telling): Writes {
  return {
    ...writes(db, movementNumbers),
    ...orderedEventReads(db),
    ...orderPlacing(db),
    ...clientLocking(db),
    ...deliveryTaking(db),
    claimKey,
    keepAnswer,
    emit,
  };
}
