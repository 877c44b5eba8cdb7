import type { KeptAnswer, Writes } from "../../core/ports.ts";
import { forgetAnswer, insertAnswer } from "../answers.ts";
import { type Db, sql } from "../statement.ts";

// Whatever its age, so that its key alone leads to it: answers come by the thousand and go by the day, and a plan that
// was kept from when there were none would otherwise go by the age, through all of them.
const anyAnswer = sql<KeptAnswer & { readonly keptAt: number }>`
  select fingerprint, body, tag, kept_at as "keptAt" from kept_answers where client_id = :clientId and key = :key`;

/** Of one transaction: where it saw that there is no answer, there is none that is too old either. */
export function answerKeeping(db: Db): Pick<Writes, "keptAnswer" | "keepAnswer"> {
  let unused: string | undefined;
  return {
    async keptAnswer(clientId, key, keptSince) {
      const found = await db.get(anyAnswer, { clientId, key });
      unused = found ? undefined : `${clientId} ${key}`;
      if (!found || found.keptAt <= keptSince) return null;
      const { keptAt: _, ...answer } = found;
      return answer;
    },
    async keepAnswer(clientId, key, answer, now, keptBefore) {
      if (unused !== `${clientId} ${key}`) await db.run(forgetAnswer, { clientId, key, keptBefore });
      await db.run(insertAnswer, { ...answer, clientId, key, now });
    },
  };
}
