import type { Connection } from "./connection.ts";

/** What need be asked only once in a transaction, because nobody else can change it before that is over. */
export interface Known<T> {
  get(): T;
  /** This transaction changes it: it is asked for anew. */
  forget(): void;
}

export function knownInTransaction<T>(db: Connection, ask: () => T): Known<T> {
  let askedIn = -1;
  let known: T;
  return {
    get() {
      if (askedIn !== db.stretch()) known = ask();
      askedIn = db.stretch();
      return known;
    },
    forget() {
      askedIn = -1;
    },
  };
}
