import type { Writes } from "../../core/ports.ts";
import { insertAnswer, insertAnswers, type NewAnswer, newAnswer } from "../answers.ts";
import { type EventRow, eventRows } from "../events.ts";
import type { Db } from "../statement.ts";
import { tellEvents, tellingAnd } from "./events.ts";

/**
 * What comes last in a transaction: events, because readers of the log go no further than the first that is not committed, and
 * answers, because nothing comes after them.
 */
export interface LastWrites extends Pick<Writes, "emit"> {
  /** Before each transaction. */
  begin(): void;
  keep(answer: NewAnswer): Promise<void>;
  /** Writes all that waits. */
  settle(): Promise<void>;
}

/** Both by one statement, for a write by itself. */
const tellAndKeep = tellingAnd(newAnswer);

/** Of a write that has its transaction to itself: with its answer it is done. */
export function ownLastWrites(db: Db): LastWrites {
  const events = gathered<EventRow>();
  const settle = () => tellEvents.run(db, events.taken());
  return {
    begin: () => void events.taken(),
    emit: (added, now) => events.add(eventRows(added, now)),
    settle,
    async keep(answer) {
      const [part, another] = tellAndKeep.parts(events.all());
      if (!part || another) {
        await settle();
        return db.run(insertAnswer, { ...answer });
      }
      events.taken();
      const [statement, values] = part;
      return db.run(statement, [...values, ...insertAnswer.values({ ...answer })]);
    },
  };
}

/** Of all writes that share a transaction. */
export function sharedLastWrites(db: Db): LastWrites {
  const events = gathered<EventRow>();
  const answers = gathered<NewAnswer>();
  return {
    begin() {
      events.taken();
      answers.taken();
    },
    emit: (added, now) => events.add(eventRows(added, now)),
    keep: async (answer) => answers.add([answer]),
    async settle() {
      await tellEvents.run(db, events.taken());
      await insertAnswers.run(db, answers.taken());
    },
  };
}

function gathered<T>() {
  let rows: T[] = [];
  return {
    add(added: readonly T[]): void {
      rows = rows.concat(added);
    },
    all: (): readonly T[] => rows,
    taken(): readonly T[] {
      const all = rows;
      rows = [];
      return all;
    },
  };
}
