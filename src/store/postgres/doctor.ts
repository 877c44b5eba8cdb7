import { type Diagnosis, diagnose } from "../doctor.ts";
import { type Db, sql, statement } from "../statement.ts";
import { inTransaction } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { classified } from "./trouble.ts";

/** Findings of one reference that are told. */
const TOLD_OF_EACH = 20;

const references = sql<{ child: string; parent: string; column: string }>`
  select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent, a.attname as column
  from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
  where c.contype = 'f' and c.connamespace = current_schema()::regnamespace order by 1, 3`;

/** All checks in one transaction that sees the store as it was at its start, whatever runs beside it. */
export async function diagnoseDatabase(pool: Pool, deadline: number): Promise<Diagnosis> {
  try {
    const isolation = "repeatable read, read only";
    return await inTransaction(pool, { deadline, isolation }, diagnoseIn);
  } catch (error) {
    throw classified(error);
  }
}

/** All checks, in the transaction that is open. */
export function diagnoseIn(db: Db): Promise<Diagnosis> {
  return diagnose(db, { "references hold": () => brokenReferences(db) });
}

/** The server keeps references by itself, unless somebody switched that off or the files are damaged. */
async function brokenReferences(db: Db): Promise<string[]> {
  const found: string[] = [];
  for (const { child, parent, column } of await db.all(references, {})) {
    const orphans = statement<{ id: number }>(
      `select id from ${child} c where ${column} is not null
        and not exists (select 1 from ${parent} p where p.id = c.${column}) order by id limit :limit`,
      "list",
    );
    for (const { id } of await db.all(orphans, { limit: TOLD_OF_EACH }))
      found.push(`row ${id} of ${child} refers to a row of ${parent} that does not exist`);
  }
  return found;
}
