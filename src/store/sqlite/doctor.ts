import { type Diagnosis, diagnose, type OwnChecks } from "../doctor.ts";
import type { Connection } from "./connection.ts";

/** All checks in one read transaction: a running server does not change the store under them. */
export async function diagnoseFile(db: Connection): Promise<Diagnosis> {
  db.exec("begin");
  try {
    return await diagnoseIn(db);
  } finally {
    db.rollback();
  }
}

/** All checks, in the transaction that is open. */
export function diagnoseIn(db: Connection): Promise<Diagnosis> {
  return diagnose(db, ownChecks(db));
}

/** What can be proven of a file whose tables are not up to date: the other checks ask for columns that it may not have. */
export function diagnoseOlder(db: Connection): Promise<Diagnosis> {
  return diagnose(db, ownChecks(db), []);
}

function ownChecks(db: Connection): OwnChecks {
  return {
    "the file is whole": () => {
      const found = db.rows("pragma integrity_check").map((row) => String(Object.values(row)[0]));
      return found.filter((each) => each !== "ok");
    },
    "references hold": () =>
      db
        .rows("pragma foreign_key_check")
        .map(
          (row) => `row ${row.rowid} of ${row.table} refers to a row of ${row.parent} that does not exist`,
        ),
  };
}
