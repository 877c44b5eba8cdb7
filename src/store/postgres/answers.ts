import type { Writes } from "../../core/ports.ts";
import { anyAnswer, forgetAnswer, insertAnswer, keptSinceThen } from "../answers.ts";
import type { Db } from "../statement.ts";

/** How a transaction asks whether its request was answered before: first of all, or together with what it does if not. */
export type Look = "first" | "meanwhile";

/** What was done meanwhile was in vain: the request was answered before. Done anew it looks first. */
export class AnsweredBefore extends Error {}

export interface AnswerKeeping extends Pick<Writes, "keptAnswer" | "keepAnswer"> {
  /** Before each transaction. */
  begin(look: Look): void;
  /** Whether the request was answered before, as far as that could be asked. */
  wasAnswered(): Promise<boolean>;
}

/**
 * Nearly every request is new, so whether it was answered before is not waited for: that is a round trip less, and what
 * was done is undone if it was. Where no answer was seen there is none that is too old either.
 */
export function answerKeeping(db: Db): AnswerKeeping {
  let looks: Look = "first";
  let looked: Promise<"none" | "too old" | "kept"> | undefined;
  return {
    begin(look) {
      looks = look;
      looked = undefined;
    },
    async keptAnswer(clientId, key, keptSince) {
      const found = Promise.resolve(db.get(anyAnswer, { clientId, key }));
      looked = found.then((any) => (any ? (keptSinceThen(any, keptSince) ? "kept" : "too old") : "none"));
      // Whoever needs to know is told of a failure too.
      looked.catch(() => {});
      return looks === "first" ? keptSinceThen(await found, keptSince) : null;
    },
    async keepAnswer(clientId, key, answer, now, keptBefore) {
      const seen = await looked;
      if (seen === "kept") throw new AnsweredBefore();
      if (seen !== "none") await db.run(forgetAnswer, { clientId, key, keptBefore });
      await db.run(insertAnswer, { ...answer, clientId, key, now });
    },
    wasAnswered: async () => (await looked?.catch(() => undefined)) === "kept",
  };
}
