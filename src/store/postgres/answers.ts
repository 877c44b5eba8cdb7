import type { KeptAnswer, Writes } from "../../core/ports.ts";
import { keptAnswerText } from "../answers.ts";
import { type Db, fragment, sql, statement } from "../statement.ts";

// Answers come by the thousand and go by the day. A plan that was kept from when there were none would read all of
// them, one after another, so the question is planned anew each time.
const keptAnswer = statement<KeptAnswer>(keptAnswerText, "list");

const columns = fragment`client_id, key, fingerprint, body, tag, kept_at`;

// One statement, which takes the place of an answer that is too old, and has no plan to choose. If there is one that is
// not, nothing is kept at first, and the second insert fails as it does on any engine: another request was quicker.
const keepAnswer = sql`
  with answer (${columns}) as (values
      (:clientId::bigint, :key::text, :fingerprint::text, :body::text, :tag::text, :now::bigint)),
    kept as (insert into kept_answers (${columns}) select * from answer
      on conflict (client_id, key) do update set fingerprint = excluded.fingerprint, body = excluded.body,
        tag = excluded.tag, kept_at = excluded.kept_at
      where kept_answers.kept_at <= :keptBefore returning key)
  insert into kept_answers (${columns}) select * from answer where not exists (select from kept)`;

export function answerKeeping(db: Db): Pick<Writes, "keptAnswer" | "keepAnswer"> {
  return {
    keptAnswer: (clientId, key, keptSince) => db.get(keptAnswer, { clientId, key, keptSince }),
    keepAnswer: (clientId, key, answer, now, keptBefore) =>
      db.run(keepAnswer, { ...answer, clientId, key, now, keptBefore }),
  };
}
