import { Unavailable } from "../../core/failure.ts";
import type { Arguments, Db, Statement } from "../statement.ts";
import { UNKNOWN_OUTCOME } from "../trouble.ts";
import type { Pool } from "./pool.ts";
import { classified, isDeadEnd, isLockTimeout, isLoss, isOutdated } from "./trouble.ts";
import type { Answered, Sent, Wire } from "./wire.ts";

/** Connections of no more use that a piece of work may meet before it is refused. */
export const DEAD_ENDS = 2;

/** Every question is one round trip on a connection of its own; answered, or refused, within `withinMs`. */
export function askingDb(pool: Pool, withinMs: number): Db {
  const ask = async <Row>(statement: Statement<Row>, args: Arguments): Promise<Answered> => {
    const sent = sentOf(statement, args);
    const deadline = Date.now() + withinMs;
    try {
      return await askAgain(pool, deadline, sent);
    } catch (error) {
      throw classified(error);
    }
  };
  return {
    get: async (statement, args) => firstOf(statement, await ask(statement, args)),
    all: async (statement, args) => rowsOf(statement, await ask(statement, args)),
    run: async (statement, args) => void (await ask(statement, args)),
  };
}

/** A connection may have ended, or what was prepared on it be outdated, without our knowing: a question can be asked again. */
async function askAgain(pool: Pool, deadline: number, sent: Sent): Promise<Answered> {
  let which: "fresh" | undefined;
  for (let deadEnds = 1; ; deadEnds++) {
    try {
      return await askOnce(pool, deadline, sent, which);
    } catch (error) {
      if (!isDeadEnd(error) || deadEnds > DEAD_ENDS || Date.now() >= deadline) throw error;
      which = isLoss(error) ? "fresh" : undefined;
    }
  }
}

async function askOnce(pool: Pool, deadline: number, sent: Sent, which?: "fresh"): Promise<Answered> {
  const wire = await pool.lease(deadline, "read", which);
  const watch = watched(pool, wire, deadline);
  try {
    return await wire.send(sent);
  } catch (error) {
    if (isDeadEnd(error)) end(pool, wire, error);
    throw error;
  } finally {
    clearTimeout(watch);
    pool.giveBack(wire);
  }
}

function end(pool: Pool, wire: Wire, cause: unknown): void {
  if (isOutdated(cause)) pool.renew(wire);
  else wire.discard("it is of no more use");
}

function watched(pool: Pool, wire: Wire, deadline: number): Timer {
  return setTimeout(pool.abandon, Math.max(1, deadline - Date.now()), wire);
}

const BEGIN = {
  "read committed": prepared("begin isolation level read committed", "begin"),
  "repeatable read, read only": prepared(
    "begin isolation level repeatable read, read only",
    "begin_snapshot",
  ),
};
const COMMIT = prepared("commit", "commit");
/** By itself: what is sent with others is not done if one before it fails. */
const ROLLBACK: Sent = { text: "rollback" };

function prepared(text: string, name: string): Sent {
  return { text, values: [], name };
}

export interface TransactionOptions {
  /** Milliseconds since 1970: what is not committed by then is given up. */
  readonly deadline: number;
  /** Locks that are taken with the begin: what follows sees what was done by those who had them. */
  readonly locks?: readonly Sent[];
  readonly isolation?: keyof typeof BEGIN;
  /** Settings of the server for this transaction alone, if it needs any with so much time left when it begins. */
  readonly settings?: ((leftMs: number) => string | undefined) | undefined;
  /** On one that is known to be alive, because others may have ended unnoticed. */
  readonly connection?: "fresh" | undefined;
}

/** A transaction's questions and changes. */
export interface Transaction extends Db {
  /** Nothing more is asked or committed: what is tried is told this. */
  fail(error: unknown): void;
}

/** It is one object for all transactions of a connection, so that what is made of it is made once. */
class OpenTransaction implements Transaction {
  failure: { readonly error: unknown } | undefined;

  constructor(private readonly wire: Wire) {}

  get = async <Row>(statement: Statement<Row>, args: Arguments): Promise<Row | null> =>
    firstOf(statement, await this.ask(sentOf(statement, args)));

  all = async <Row>(statement: Statement<Row>, args: Arguments): Promise<Row[]> =>
    rowsOf(statement, await this.ask(sentOf(statement, args)));

  run = (statement: Statement, args: Arguments): void => void this.post(sentOf(statement, args));

  fail(error: unknown): void {
    this.failure ??= { error };
  }

  /** Sends it without waiting: if it fails, the next question or the commit says so. */
  post(sent: Sent, told: (error: unknown) => unknown = asItIs): Promise<Answered> {
    const answer = this.wire.send(sent);
    answer.catch((error) => this.fail(told(error)));
    return answer;
  }

  async ask(sent: Sent): Promise<Answered> {
    this.requireWell();
    try {
      return await this.post(sent);
    } catch (error) {
      this.requireWell();
      throw error;
    }
  }

  /** Throws what failed first: all that followed failed for that. */
  requireWell(): void {
    if (this.failure) throw this.failure.error;
  }
}

const asItIs = (error: unknown) => error;
/** So that it is not taken for that of another lock, behind it. */
const ofALock = (error: unknown) => (isLockTimeout(error) ? new Unavailable(error) : error);

const transactions = new WeakMap<Wire, OpenTransaction>();

function transactionOn(wire: Wire): OpenTransaction {
  const known = transactions.get(wire);
  if (known) {
    known.failure = undefined;
    return known;
  }
  const db = new OpenTransaction(wire);
  transactions.set(wire, db);
  return db;
}

/**
 * Runs work in a transaction with few round trips: the begin travels with the first question, and a change that gives
 * nothing back is sent without waiting for its answer. If it failed, the next question or the commit says so.
 * What is thrown is not classified, so that the caller can tell what is worth doing again.
 */
export async function inTransaction<T>(
  pool: Pool,
  { deadline, locks = [], isolation = "read committed", settings, connection }: TransactionOptions,
  work: (db: Transaction) => Promise<T>,
): Promise<T> {
  const use = isolation === "read committed" ? "write" : "read";
  const wire = await pool.lease(deadline, use, connection);
  const watch = watched(pool, wire, deadline);
  const db = transactionOn(wire);
  let isCommitting = false;
  try {
    const own = settings?.(deadline - Date.now());
    const begin = BEGIN[isolation];
    db.post(own ? { text: `${begin.text}; ${own}` } : begin);
    for (const lock of locks) db.post(lock, ofALock);
    const done = await work(db);
    db.requireWell();
    isCommitting = true;
    // Answers come in order: with this one all are there.
    const { command } = await db.ask(COMMIT);
    db.requireWell();
    if (command !== "COMMIT") throw new Error("The transaction was not committed.");
    clearTimeout(watch);
    pool.giveBack(wire);
    return done;
  } catch (error) {
    if (isDeadEnd(error) || wire.isLost) {
      clearTimeout(watch);
      end(pool, wire, error);
    } else void undo(pool, wire, watch);
    throw isCommitting && isLoss(error) ? new Unavailable(error, UNKNOWN_OUTCOME) : error;
  }
}

/** Nobody waits for the rollback but the connection itself. */
async function undo(pool: Pool, wire: Wire, watch: Timer): Promise<void> {
  try {
    await wire.send(ROLLBACK);
  } catch (error) {
    wire.discard(`it cannot be rolled back: ${error}`);
  } finally {
    clearTimeout(watch);
    pool.giveBack(wire);
  }
}

function sentOf(statement: Statement, args: Arguments): Sent {
  const { text, slot } = statement;
  // Most lists have many texts, and are planned anew for the size of their page anyway.
  return { text, values: statement.values(args), name: slot >= 0 ? `s${slot}` : undefined };
}

function firstOf<Row>({ shape }: Statement<Row>, { rows }: Answered): Row | null {
  const [row] = rows;
  if (row === undefined) return null;
  return shape ? shape(row as never) : (row as Row);
}

function rowsOf<Row>({ shape }: Statement<Row>, { rows }: Answered): Row[] {
  return shape ? rows.map((row) => shape(row as never)) : (rows as Row[]);
}
