import { after } from "../core/after.ts";
import type { KeptAnswer, Reads, Writes } from "../core/ports.ts";
import { type Db, fragment, RowsStatement, sql } from "./statement.ts";

/** How many answers one sweep forgets, so that it never holds up the writes behind it. */
const FORGET_AT_ONCE = 1000;

export interface FoundAnswer extends KeptAnswer {
  readonly keptAt: number;
}

// Whatever its age, so that its key alone leads to it: answers come by the thousand and go by the day, and a plan that
// PostgreSQL kept from when there were none could go by the age, through all of them.
export const anyAnswer = sql<FoundAnswer>`
  select fingerprint, body, tag, kept_at as "keptAt" from kept_answers where client_id = :clientId and key = :key`;

export const forgetAnswer = sql`
  delete from kept_answers where client_id = :clientId and key = :key and kept_at <= :keptBefore`;

/** An answer, for whom it is kept, and since when. */
export interface NewAnswer extends KeptAnswer {
  readonly clientId: number;
  readonly key: string;
  readonly now: number;
}

const answerValues = ["clientId", "key", "fingerprint", "body", "tag", "now"] as const;
// Fails if there is an answer: another request with the same key was quicker, and this one must not be done too.
const insertInto = fragment`insert into kept_answers (client_id, key, fingerprint, body, tag, kept_at)`;
export const newAnswer = fragment`
  ${insertInto} values (:clientId, :key, :fingerprint, :body, :tag, :now)`;
export const insertAnswer = sql`${newAnswer}`;
export const insertAnswers = new RowsStatement<NewAnswer>(
  answerValues,
  (values) => `${insertInto.text} ${values}`,
);

const forgetAnswers = sql<unknown>`
  delete from kept_answers where (client_id, key) in
    (select client_id, key from kept_answers where kept_at <= :keptBefore order by kept_at limit :atOnce)
  returning kept_at`;

export function answerReads(db: Db): Pick<Reads, "keptAnswer"> {
  return {
    keptAnswer: (clientId, key, keptSince) =>
      after(db.get(anyAnswer, { clientId, key }), keptSinceThen, keptSince),
  };
}

/** The answer, unless it is too old. */
export function keptSinceThen(found: FoundAnswer | null, keptSince: number): KeptAnswer | null {
  if (!found || found.keptAt <= keptSince) return null;
  const { fingerprint, body, tag } = found;
  return { fingerprint, body, tag };
}

export function answerWrites(db: Db): Pick<Writes, "claimKey" | "keepAnswer" | "forgetAnswers"> {
  return {
    // Where one writes after another, as in SQLite, the one before is over.
    claimKey: answerReads(db).keptAnswer,
    async keepAnswer(clientId, key, answer, now, keptBefore) {
      await db.run(forgetAnswer, { clientId, key, keptBefore });
      await db.run(insertAnswer, { ...answer, clientId, key, now });
    },
    forgetAnswers: async (keptBefore) => {
      const forgotten = await db.all(forgetAnswers, { keptBefore, atOnce: FORGET_AT_ONCE });
      return forgotten.length === FORGET_AT_ONCE;
    },
  };
}
