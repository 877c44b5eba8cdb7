import { type Dialect, type Migration, migrations } from "../migrations.ts";
import type { Connection } from "./connection.ts";

const dialect: Dialect = {
  newId: "integer primary key autoincrement",
  integer: "integer",
  foldedText: "text",
  tableEnd: " strict",
};

/** Brings the tables up to date under the database's own lock; gives the names of what was applied. */
export function migrate(db: Connection, now: number, wanted: readonly Migration[] = migrations): string[] {
  db.exec("begin immediate");
  try {
    db.exec(
      "create table if not exists migrations (number integer primary key, name text not null, applied_at integer not null) strict",
    );
    const applied = Number(db.value("select coalesce(max(number), 0) from migrations"));
    if (applied > wanted.length) throw new NewerDatabase(applied, wanted.length);
    const names = wanted.slice(applied).map((migration, index) => {
      for (const text of migration.statements(dialect)) db.exec(text);
      const name = migration.name.replaceAll("'", "''");
      db.exec(`insert into migrations values (${applied + index + 1}, '${name}', ${now})`);
      return migration.name;
    });
    db.exec("commit");
    return names;
  } catch (error) {
    db.exec("rollback");
    throw error;
  }
}

export class NewerDatabase extends Error {
  constructor(applied: number, known: number) {
    super(
      `The database has migration ${applied}, this program knows only ${known}. Run the version that made it, or a newer one.`,
    );
    this.name = "NewerDatabase";
  }
}
