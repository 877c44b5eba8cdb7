import type { Writes } from "../../core/ports.ts";
import { answerWrites } from "../answers.ts";
import { sql } from "../statement.ts";
import type { Connection } from "./connection.ts";

const insertNewAnswer = sql`
  insert or ignore into kept_answers (client_id, key, fingerprint, body, tag, kept_at)
  values (:clientId, :key, :fingerprint, :body, :tag, :now)`;

/** Looks for an older answer only where one is in the way, which is seldom. */
export function answerKeeping(db: Connection): Pick<Writes, "keepAnswer"> {
  const { keepAnswer } = answerWrites(db);
  return {
    keepAnswer(clientId, key, answer, now, keptBefore) {
      if (db.change(insertNewAnswer, { ...answer, clientId, key, now }).changes === 1) return;
      return keepAnswer(clientId, key, answer, now, keptBefore);
    },
  };
}
