import { existsSync, statSync } from "node:fs";
import { type Diagnosis, diagnose } from "../doctor.ts";
import { sql } from "../statement.ts";
import { EmptyDatabase } from "../usable.ts";
import { connect } from "./connection.ts";
import { requireOurFile } from "./migrate.ts";

export interface Sight {
  /** How many migrations it has. */
  readonly migration: number;
  /** What a copy needs, which leaves out unused space. */
  readonly bytes: number;
  readonly lastEventAt: number | null;
}

const lastEvent = sql<{ at: number }>`select at from events order by id desc limit 1`;

/** A first look at a store, of this version or an older one; throws at anything else. */
export function sightOf(path: string): Sight {
  const db = connect(path, "read");
  try {
    const migration = requireOurFile(db);
    if (migration === 0) throw new EmptyDatabase();
    const [pages, unused, size] = ["page_count", "freelist_count", "page_size"].map((name) =>
      Number(db.value(`pragma ${name}`)),
    ) as [number, number, number];
    const { at = null } = (db.get(lastEvent, {}) as { at: number } | null) ?? {};
    return { migration, bytes: (pages - unused) * size, lastEventAt: at };
  } finally {
    db.close();
  }
}

/** How many records of each kind the store has. */
export async function recordCounts(path: string): Promise<Diagnosis["counts"]> {
  const db = connect(path, "read");
  try {
    return (await diagnose(db, {}, [])).counts;
  } finally {
    db.close();
  }
}

export function isFilled(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}
