import { type Dialect, type Migration, migrations } from "../migrations.ts";
import { ForeignDatabase, requireCurrent, requireOurs } from "../usable.ts";
import type { Connection } from "./connection.ts";

const dialect: Dialect = {
  newId: "integer primary key autoincrement",
  integer: "integer",
  bytes: "blob",
  foldedText: "text",
  tableEnd: " strict",
  // Worked out when it is asked for: SQLite cannot add one that is kept.
  derived: (expression) => `generated always as (${expression}) virtual`,
  roomForChanges: () => [],
  showNumbers: () => [],
  giveNumbers: () => [],
};

/** Brings the tables up to date under the database's own lock; gives the names of what was applied. */
export function migrate(db: Connection, now: number, wanted: readonly Migration[] = migrations): string[] {
  db.begin();
  try {
    const applied = requireOurFile(db, wanted.length);
    db.exec(
      "create table if not exists migrations (number integer primary key, name text not null, applied_at integer not null) strict",
    );
    const names = wanted.slice(applied).map((migration, index) => {
      for (const text of migration.statements(dialect)) db.exec(text);
      const name = migration.name.replaceAll("'", "''");
      db.exec(`insert into migrations values (${applied + index + 1}, '${name}', ${now})`);
      return migration.name;
    });
    if (names.length > 0) plan(db);
    db.commit();
    return names;
  } catch (error) {
    db.rollback();
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
    pets_low_stock: "1000000 400000 4000 1",
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

/** Refuses a database that this program must leave alone: another's, or a newer one. Gives how many migrations it has. */
export function requireOurFile(db: Connection, known = migrations.length): number {
  const tables = tablesOf(db);
  const applied = appliedTo(db, tables);
  requireOurs(tables, applied, known);
  return applied;
}

/** Refuses a database that this program cannot look at: another's, a newer one, or one that is not up to date. */
export function requireCurrentFile(db: Connection): void {
  const tables = tablesOf(db);
  requireCurrent(tables, appliedTo(db, tables));
}

function appliedTo(db: Connection, tables: readonly unknown[]): number {
  if (!tables.includes("migrations")) return 0;
  // Other programs have a table of this name, too.
  const columns = db.rows("pragma table_info(migrations)").map(({ name }) => name);
  if (!columns.includes("number")) throw new ForeignDatabase();
  return Number(db.value("select coalesce(max(number), 0) from migrations"));
}

function tablesOf(db: Connection): unknown[] {
  return db
    .rows("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .map(({ name }) => name);
}
