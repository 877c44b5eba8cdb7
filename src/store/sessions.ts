import type { Reads, SessionRecord, Writes } from "../core/ports.ts";
import { besideKey, type KnownRow, known, knownColumns } from "./keys.ts";
import { type Db, sql } from "./statement.ts";

/** Sessions that are dropped at once. */
const FORGOTTEN_AT_ONCE = 1000;

interface SessionRow extends KnownRow {
  readonly sessionUsedAt: number;
  readonly sessionEndsAt: number;
}

const sessionByHash = sql<SessionRow>`
  select ${knownColumns}, s.used_at as "sessionUsedAt", s.ends_at as "sessionEndsAt"
  from sessions s join api_keys k on k.id = s.key_id ${besideKey}
  where s.hash = :hash`.as(session);
const insertSession = sql`
  insert into sessions (hash, key_id, created_at, used_at, ends_at) values (:hash, :keyId, :now, :usedAt, :endsAt)`;
const useSession = sql`update sessions set used_at = :now where hash = :hash and used_at < :before`;
const endSession = sql`delete from sessions where hash = :hash`;
const endOldest = sql`
  delete from sessions where hash in
    (select hash from sessions where key_id = :keyId order by created_at desc, hash limit 1000 offset :most)`;
const forgetSessions = sql<unknown>`
  delete from sessions where hash in (
    select hash from sessions where ends_at <= :endedBefore order by ends_at limit cast(:limit as bigint)) returning hash`;
const insertLink = sql`insert into sign_in_links (hash, key_id, ends_at) values (:hash, :keyId, :endsAt)`;
const takeLink = sql<{ keyId: number; endsAt: number }>`
  delete from sign_in_links where hash = :hash returning key_id as "keyId", ends_at as "endsAt"`;
const forgetLinks = sql`delete from sign_in_links where ends_at <= :endedBefore`;

export function sessionReads(db: Db): Pick<Reads, "session"> {
  return { session: (hash) => db.get(sessionByHash, { hash }) };
}

type SessionWrites = Pick<
  Writes,
  "addSession" | "useSession" | "endSession" | "forgetSessions" | "addSignInLink" | "takeSignInLink"
>;

export function sessionWrites(db: Db): SessionWrites {
  return {
    addSession: async ({ hash, keyId, endsAt }, most, now) => {
      await db.run(insertSession, { hash, keyId, now, usedAt: now, endsAt });
      await db.run(endOldest, { keyId, most });
    },
    useSession: (hash, now) => db.run(useSession, { hash, now, before: now }),
    endSession: (hash) => db.run(endSession, { hash }),
    forgetSessions: async (endedBefore) => {
      await db.run(forgetLinks, { endedBefore });
      const forgotten = await db.all(forgetSessions, { endedBefore, limit: FORGOTTEN_AT_ONCE });
      return forgotten.length === FORGOTTEN_AT_ONCE;
    },
    addSignInLink: (link) => db.run(insertLink, { ...link }),
    takeSignInLink: async (hash, now) => {
      const link = await db.get(takeLink, { hash });
      return link && link.endsAt > now ? link.keyId : null;
    },
  };
}

function session({ sessionUsedAt: usedAt, sessionEndsAt: endsAt, ...row }: SessionRow): SessionRecord {
  return { key: known(row), usedAt, endsAt };
}
