import { type Dialect, type Migration, migrations } from "../migrations.ts";
import { tryRollback } from "./batch.ts";
import type { Connection } from "./connection.ts";

const dialect: Dialect = {
  newId: "integer primary key autoincrement",
  integer: "integer",
  bytes: "blob",
  foldedText: "text",
  tableEnd: " strict",
};

/** Brings the tables up to date under the database's own lock; gives the names of what was applied. */
export function migrate(db: Connection, now: number, wanted: readonly Migration[] = migrations): string[] {
  db.exec("begin immediate");
  try {
    if (tablesOf(db).length > 0 && !isPetstore(db)) throw new ForeignDatabase();
    db.exec(
      "create table if not exists migrations (number integer primary key, name text not null, applied_at integer not null) strict",
    );
    const applied = appliedIn(db);
    if (applied > wanted.length) throw new NewerDatabase(applied, wanted.length);
    const names = wanted.slice(applied).map((migration, index) => {
      for (const text of migration.statements(dialect)) db.exec(text);
      const name = migration.name.replaceAll("'", "''");
      db.exec(`insert into migrations values (${applied + index + 1}, '${name}', ${now})`);
      return migration.name;
    });
    if (names.length > 0) plan(db);
    db.exec("commit");
    return names;
  } catch (error) {
    tryRollback(db);
    throw error;
  }
}

/**
 * Rows of a table, then rows that share the first, the first two, ... columns of an index: what the planner reckons with.
 * Told once and for all, so that a list's plan does not depend on when statistics were last gathered.
 */
const reckonedWith: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pets: {
    pets_status: "1000000 400000 1",
    pets_status_name: "1000000 400000 4 1",
    pets_category: "1000000 10000 4000 1",
    pets_category_name: "1000000 10000 4000 2 1",
    pets_stock: "1000000 400000 4000 1",
  },
  orders: {
    orders_complete: "1000000 500000 1",
    orders_client: "1000000 1000 500 1",
    orders_pet: "1000000 100 50 1",
    orders_client_pet: "1000000 1000 10 5 1",
    orders_shipped: "1000000 500000 2 1",
    orders_client_shipped: "1000000 1000 500 2 1",
    orders_pet_shipped: "1000000 100 50 2 1",
    orders_client_pet_shipped: "1000000 1000 10 5 2 1",
  },
};

function plan(db: Connection): void {
  // The first makes the table of statistics, the last has them read.
  db.exec("analyze");
  db.exec("delete from sqlite_stat1");
  for (const [table, indexes] of Object.entries(reckonedWith)) {
    for (const [index, numbers] of Object.entries(indexes)) {
      db.exec(`insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${numbers}')`);
    }
  }
  db.exec("analyze sqlite_schema");
}

/** Refuses a database that this program cannot look at: another's, a newer one, or one that is not up to date. */
export function requireCurrent(db: Connection): void {
  if (!isPetstore(db)) throw new ForeignDatabase();
  const applied = appliedIn(db);
  if (applied > migrations.length) throw new NewerDatabase(applied, migrations.length);
  if (applied < migrations.length) throw new OlderDatabase(applied, migrations.length);
}

function appliedIn(db: Connection): number {
  return Number(db.value("select coalesce(max(number), 0) from migrations"));
}

/** Whether our tables are in it. */
function isPetstore(db: Connection): boolean {
  return tablesOf(db).includes("migrations");
}

function tablesOf(db: Connection): unknown[] {
  return db
    .rows("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .map(({ name }) => name);
}

export class ForeignDatabase extends Error {
  constructor() {
    super(
      "The database has tables of another program, and none of Petstore's. Name another file with DATABASE_URL.",
    );
    this.name = "ForeignDatabase";
  }
}

export class OlderDatabase extends Error {
  constructor(applied: number, known: number) {
    super(
      `The database has migration ${applied}, this program needs ${known}. Run 'petstore migrate' first.`,
    );
    this.name = "OlderDatabase";
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
