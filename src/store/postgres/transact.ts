import type { KeptAnswer, Writes } from "../../core/ports.ts";
import type { Db } from "../statement.ts";
import { writes } from "../store.ts";
import { AnsweredBefore, type AnswerKeeping, answerKeeping, isRefusal } from "./answers.ts";
import { clientLocking } from "./clients.ts";
import { DEAD_ENDS, inTransaction, type Transaction, type TransactionOptions } from "./connection.ts";
import { orderedEventReads } from "./events.ts";
import { type LastWrites, ownLastWrites, sharedLastWrites } from "./last-writes.ts";
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
  const { last, own } = storesOf(db).alone;
  last.begin();
  const done = await doneIn(own, answer, work);
  await last.settle();
  return done;
}

async function doneIn<T>(
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

/**
 * Does several pieces of work in one transaction. One that is refused before it changed anything is refused by itself; if one
 * fails in any other way, nothing is done of any.
 */
export async function workedTogether<T>(
  db: Transaction,
  works: readonly ((store: Writes) => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  const { last, sharers } = storesOf(db).shared;
  last.begin();
  while (sharers.length < works.length) sharers.push(sharer(db, last));
  const outcomes = await Promise.allSettled(
    works.map((work, place) => {
      const own = sharers[place] as Sharer;
      own.begin();
      return doneIn(own, undefined, work);
    }),
  );
  // Only now: nothing may be sent behind the rollback.
  for (const [place, outcome] of outcomes.entries())
    if (outcome.status === "rejected" && (sharers[place]?.hasChanged() || !isRefusal(outcome.reason)))
      throw new NotTogether(outcome.reason);
  await last.settle();
  return outcomes;
}

/** Work that shared a transaction is to be done by itself. */
class NotTogether extends Error {
  constructor(cause: unknown) {
    super("It could not be done together with others.", { cause });
  }
}

/** A piece of work's own view of a transaction. */
interface OwnStore {
  readonly store: Writes;
  readonly answers: AnswerKeeping;
}

/** One that shares the transaction. */
interface Sharer extends OwnStore {
  begin(): void;
  hasChanged(): boolean;
}

interface TransactionStores {
  readonly alone: { readonly last: LastWrites; readonly own: OwnStore };
  /** For as many as ever shared one of its transactions. */
  readonly shared: { readonly last: LastWrites; readonly sharers: Sharer[] };
}

/** For a connection: to make one is a twentieth of an order. */
const stores = new WeakMap<Transaction, TransactionStores>();

function storesOf(db: Transaction): TransactionStores {
  const known = stores.get(db);
  if (known) return known;
  const last = ownLastWrites(db);
  const alone = { last, own: ownStore(db, last) };
  const made = { alone, shared: { last: sharedLastWrites(db), sharers: [] } };
  stores.set(db, made);
  return made;
}

function sharer(db: Transaction, last: LastWrites): Sharer {
  let changed = false;
  const noting: Transaction = {
    fail: (error) => db.fail(error),
    async get(statement, args) {
      const row = await db.get(statement, args);
      changed ||= statement.isWrite && row !== null;
      return row;
    },
    async all(statement, args) {
      const rows = await db.all(statement, args);
      changed ||= statement.isWrite && rows.length > 0;
      return rows;
    },
    run(statement, args) {
      changed = true;
      return db.run(statement, args);
    },
  };
  const noted: LastWrites = {
    ...last,
    emit(events, now) {
      changed = true;
      return last.emit(events, now);
    },
  };
  return {
    ...ownStore(noting, noted),
    begin: () => {
      changed = false;
    },
    hasChanged: () => changed,
  };
}

function ownStore(db: Transaction, last: LastWrites): OwnStore {
  const answers = answerKeeping(db, last);
  return { store: writesOf(db, answers, last), answers };
}

/** The shared store, but for what is fewer statements, or locks a row, in words of PostgreSQL's own. */
function writesOf(db: Db, { claimKey, keepAnswer }: AnswerKeeping, { emit }: LastWrites): Writes {
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
