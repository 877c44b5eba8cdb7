import type { KeptAnswer, Writes } from "../../core/ports.ts";
import type { Db } from "../statement.ts";
import { writes } from "../store.ts";
import { AnsweredBefore, type AnswerKeeping, answerKeeping } from "./answers.ts";
import { clientLocking } from "./clients.ts";
import { DEAD_ENDS, inTransaction, type Transaction, type TransactionOptions } from "./connection.ts";
import { orderedEventReads } from "./events.ts";
import { type LastWrites, ownLastWrites } from "./last-writes.ts";
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
  const { last, own } = ownStoreOf(db);
  last.begin();
  const done = await doneIn(own, answer, work);
  await last.settle();
  return done;
}

/** What fails is told as what it is, if the request was answered before. */
export async function doneIn<T>(
  { store, answers }: OwnStore,
  answer: KeptAnswer | undefined,
  work: (store: Writes) => Promise<T>,
): Promise<T> {
  answers.begin(answer);
  try {
    return await work(store);
  } catch (error) {
    throw await answers.judged(error);
  }
}

/** A piece of work's own view of a transaction. */
export interface OwnStore {
  readonly store: Writes;
  readonly answers: AnswerKeeping;
}

interface LoneStore {
  readonly last: LastWrites;
  readonly own: OwnStore;
}

/** For a connection: to make one is a twentieth of an order. */
const stores = new WeakMap<Transaction, LoneStore>();

function ownStoreOf(db: Transaction): LoneStore {
  const known = stores.get(db);
  if (known) return known;
  const last = ownLastWrites(db);
  const answers = answerKeeping(db, last);
  const made = { last, own: { store: writesOf(db, answers, last), answers } };
  stores.set(db, made);
  return made;
}

/** The store of all engines, but for what is fewer statements, or locks a row, in words of PostgreSQL's own. */
export function writesOf(db: Db, { claimKey, keepAnswer }: AnswerKeeping, { emit }: LastWrites): Writes {
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
