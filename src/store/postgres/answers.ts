import type { Writes } from "../../core/ports.ts";
import { anyAnswer, forgetAnswer, insertAnswer, keptSinceThen } from "../answers.ts";
import type { Db } from "../statement.ts";

/** Of one transaction: where it saw that there is no answer, there is none that is too old either. */
export function answerKeeping(db: Db): Pick<Writes, "keptAnswer" | "keepAnswer"> {
  let unused: string | undefined;
  return {
    async keptAnswer(clientId, key, keptSince) {
      const found = await db.get(anyAnswer, { clientId, key });
      unused = found ? undefined : `${clientId} ${key}`;
      return keptSinceThen(found, keptSince);
    },
    async keepAnswer(clientId, key, answer, now, keptBefore) {
      if (unused !== `${clientId} ${key}`) await db.run(forgetAnswer, { clientId, key, keptBefore });
      await db.run(insertAnswer, { ...answer, clientId, key, now });
    },
  };
}
