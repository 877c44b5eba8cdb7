import type { Writes } from "../../core/ports.ts";
import { isRefusal, sharedAnswerKeeping } from "./answers.ts";
import type { Transaction } from "./connection.ts";
import { type LastWrites, sharedLastWrites } from "./last-writes.ts";
import { doneIn, type OwnStore, writesOf } from "./transact.ts";
import { isDeadEnd } from "./trouble.ts";

/** A piece of work that shares a transaction. */
export interface Shared<T> {
  /** What its key is locked by, if it has one. */
  readonly key: string | undefined;
  readonly work: (store: Writes) => Promise<T>;
}

/** Work that shared a transaction is to be done by itself. */
export class NotTogether extends Error {
  constructor(cause: unknown) {
    super("It could not be done together with others.", { cause });
  }
}

/**
 * Does several pieces of work in one transaction: claims their keys in one order, and when all have answers takes their rows in
 * the order of the pieces. One that was answered before, or is refused before it changed anything, is so by itself; if one fails in
 * any other way, nothing is done of any.
 */
export async function workedTogether<T>(
  db: Transaction,
  pieces: readonly Shared<T>[],
): Promise<PromiseSettledResult<T>[]> {
  const { last, sharers } = sharedStoreOf(db);
  last.begin();
  while (sharers.length < pieces.length) sharers.push(sharer(db, last));
  const gate = openedByAll(pieces.length);
  const outcomes = new Array<PromiseSettledResult<T>>(pieces.length);
  const done = async (place: number) => {
    const own = sharers[place] as Sharer;
    own.begin(() => gate.pass(place));
    const [outcome] = await Promise.allSettled([doneIn(own, undefined, (pieces[place] as Shared<T>).work)]);
    outcomes[place] = outcome;
    gate.leave(place);
  };
  await Promise.all(inOrderOfKeys(pieces).map(done));
  // Only now: nothing may be sent behind the rollback.
  for (const [place, outcome] of outcomes.entries())
    if (outcome.status === "rejected" && (sharers[place]?.hasChanged() || !isRefusal(outcome.reason)))
      throw isDeadEnd(outcome.reason) ? outcome.reason : new NotTogether(outcome.reason);
  await last.settle();
  return outcomes;
}

/** The places of the pieces: two transactions never wait for each other's keys in a circle. */
function inOrderOfKeys(pieces: readonly Shared<unknown>[]): number[] {
  const keyOf = (place: number) => pieces[place]?.key ?? "";
  return Array.from(pieces.keys()).sort((a, b) => Number(keyOf(a) > keyOf(b)) - Number(keyOf(a) < keyOf(b)));
}

/** A gate that opens when everybody has come to it or has left; then they pass in the order of their places. */
function openedByAll(places: number) {
  const waiting: ((() => void) | undefined)[] = new Array(places);
  const awaited = new Set(waiting.keys());
  const open = () => {
    for (const pass of waiting) pass?.();
  };
  const arrived = (place: number) => {
    // Not at once: whoever came last has still to wait like the others, or would pass after them.
    if (awaited.delete(place) && awaited.size === 0) queueMicrotask(open);
  };
  return {
    pass(place: number): Promise<void> | undefined {
      if (awaited.size === 0) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting[place] = resolve;
      arrived(place);
      return promise;
    },
    leave: arrived,
  };
}

/** One that shares a transaction. */
interface Sharer extends OwnStore {
  /** Before each transaction, with what it waits for before it changes anything. */
  begin(mayChange: () => Promise<void> | undefined): void;
  hasChanged(): boolean;
}

interface SharedStore {
  readonly last: LastWrites;
  /** For as many as ever shared one of its transactions. */
  readonly sharers: Sharer[];
}

const stores = new WeakMap<Transaction, SharedStore>();

function sharedStoreOf(db: Transaction): SharedStore {
  const known = stores.get(db);
  if (known) return known;
  const made = { last: sharedLastWrites(db), sharers: [] };
  stores.set(db, made);
  return made;
}

function sharer(db: Transaction, last: LastWrites): Sharer {
  let changed = false;
  let mayChange: () => Promise<void> | undefined = () => undefined;
  const noting: Transaction = {
    fail: (error) => db.fail(error),
    async get(statement, args) {
      if (statement.isWrite) await mayChange();
      const row = await db.get(statement, args);
      changed ||= statement.isWrite && row !== null;
      return row;
    },
    async all(statement, args) {
      if (statement.isWrite) await mayChange();
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
  const answers = sharedAnswerKeeping(noting, noted);
  return {
    store: writesOf(noting, answers, noted),
    answers,
    begin(gate) {
      changed = false;
      mayChange = gate;
      answers.begin(undefined);
    },
    hasChanged: () => changed,
  };
}
