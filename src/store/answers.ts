import type { KeptAnswer, Reads, Writes } from "../core/ports.ts";
import { type Db, sql } from "./statement.ts";

/** How many answers one sweep forgets, so that it never holds up the writes behind it. */
const FORGET_AT_ONCE = 1000;

const keptAnswer = sql<KeptAnswer>`
  select fingerprint, body, tag from kept_answers where client_id = :clientId and key = :key and kept_at > :keptSince`;

export const forgetAnswer = sql`
  delete from kept_answers where client_id = :clientId and key = :key and kept_at <= :keptBefore`;
// Fails if there is an answer: another request with the same key was quicker, and this one must not be done too.
export const insertAnswer = sql`
  insert into kept_answers (client_id, key, fingerprint, body, tag, kept_at)
  values (:clientId, :key, :fingerprint, :body, :tag, :now)`;

const forgetAnswers = sql<unknown>`
  delete from kept_answers where (client_id, key) in
    (select client_id, key from kept_answers where kept_at <= :keptBefore order by kept_at limit :atOnce)
  returning kept_at`;

export function answerReads(db: Db): Pick<Reads, "keptAnswer"> {
  return { keptAnswer: (clientId, key, keptSince) => db.get(keptAnswer, { clientId, key, keptSince }) };
}

export function answerWrites(db: Db): Pick<Writes, "keepAnswer" | "forgetAnswers"> {
  return {
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
