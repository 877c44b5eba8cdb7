import { migrations } from "./migrations.ts";

/** Refuses a database that this program cannot work with: another's, or a newer one. */
export function requireOurs(tables: readonly unknown[], applied: number, known = migrations.length): void {
  if (tables.length > 0 && !tables.includes("migrations")) throw new ForeignDatabase();
  if (applied > known) throw new NewerDatabase(applied, known);
}

/** Refuses a database that this program cannot look at without changing it. */
export function requireCurrent(tables: readonly unknown[], applied: number): void {
  if (tables.length === 0) throw new EmptyDatabase();
  requireOurs(tables, applied);
  if (applied < migrations.length) throw new OlderDatabase(applied, migrations.length);
}

/** A database that cannot be used as it is; its message says what to do. */
export class UnusableDatabase extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

export class EmptyDatabase extends UnusableDatabase {
  constructor() {
    super("The database is empty. 'petstore migrate' or 'petstore serve' makes its tables.");
  }
}

export class ForeignDatabase extends UnusableDatabase {
  constructor() {
    super(
      "The database has tables of another program, and none of Petstore's. Name another with DATABASE_URL.",
    );
  }
}

export class OlderDatabase extends UnusableDatabase {
  constructor(applied: number, known: number) {
    super(
      `The database has migration ${applied}, this program needs ${known}. Run 'petstore migrate' first.`,
    );
  }
}

export class NewerDatabase extends UnusableDatabase {
  constructor(applied: number, known: number) {
    super(
      `The database has migration ${applied}, this program knows only ${known}. Run the version that made it, or a newer one.`,
    );
  }
}
