import type { Writes } from "../../core/ports.ts";
import { anyAnswer, forgetAnswer, insertAnswer, keptSinceThen } from "../answers.ts";
import type { Db } from "../statement.ts";

/** How a transaction asks whether its request was answered before: first of all, or together with what it does if not. */
export type Look = "first" | "meanwhile";

/** What was done meanwhile was in vain: the request was answered before. Done anew it looks first. */
export class AnsweredBefore extends Error {}

export interface AnswerKeeping {
  readonly writes: Pick<Writes, "keptAnswer" | "keepAnswer">;
  /** Whether the request was answered before, as far as that could be asked. */
  wasAnswered(): Promise<boolean>;
}

/**
 * Of one transaction. Nearly every request is new, so the answer to it is not waited for: that is a round trip less, and
 * what was done is undone if it is not. Where none was seen there is none that is too old either.
 */
export function answerKeeping(db: Db, look: Look): AnswerKeeping {
  let looked: Promise<"none" | "too old" | "kept"> | undefined;
  return {
    writes: {
      async keptAnswer(clientId, key, keptSince) {
        const found = Promise.resolve(db.get(anyAnswer, { clientId, key }));
        looked = found.then((any) => (any ? (keptSinceThen(any, keptSince) ? "kept" : "too old") : "none"));
        // Whoever needs to know is told of a failure too.
        looked.catch(() => {});
        return look === "first" ? keptSinceThen(await found, keptSince) : null;
      },
      async keepAnswer(clientId, key, answer, now, keptBefore) {
        const seen = await looked;
        if (seen === "kept") throw new AnsweredBefore();
        if (seen !== "none") await db.run(forgetAnswer, { clientId, key, keptBefore });
        await db.run(insertAnswer, { ...answer, clientId, key, now });
      },
    },
    wasAnswered: async () => (await looked?.catch(() => undefined)) === "kept",
  };
}
