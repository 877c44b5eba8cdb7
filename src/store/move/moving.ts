import type { Awaitable } from "../../core/ports.ts";
import type { Diagnosis, Finding } from "../doctor.ts";
import { type Db, Statement, statement, type Value } from "../statement.ts";
import type { CarriedTable } from "./tables.ts";

/** A row as its table's columns have it, in their order. */
export type MovedRow = readonly Value[];

/** The whole store as it was at one moment, whatever is written meanwhile. */
export interface Snapshot {
  readonly db: Db;
  /** Some rows at a time, in the order of the table's key; text is compared by code points. */
  rows(table: CarriedTable): AsyncIterable<readonly MovedRow[]>;
  /** The highest number that the table ever gave a row, 0 if none. */
  lastId(table: CarriedTable): Awaitable<number>;
}

/** A store that nobody else writes to, in a transaction that keeps all or nothing. */
export interface Filling {
  readonly db: Db;
  /** Rejects with `RefusedRows` what the database's own rules forbid. */
  add(table: CarriedTable, rows: readonly MovedRow[]): Awaitable<void>;
  /** The table's next row gets a number above this one. */
  continueAfter(table: CarriedTable, lastId: number): Awaitable<void>;
  diagnose(): Promise<Diagnosis>;
}

/** Rows that the database does not take; the first of them, where it is known. */
export class RefusedRows extends Error {
  constructor(
    message: string,
    readonly place?: number,
  ) {
    super(message);
  }
}

/** What was asked to be moved cannot be; nothing was changed. */
export class CannotMove extends Error {}

/** The store that was to be copied is not whole; nothing was changed. */
export class Damaged extends Error {
  constructor(readonly findings: readonly Finding[]) {
    super(findings.map(({ check, message }) => `${check}: ${message}`).join("; "));
  }
}

export async function countOf(db: Db, { name }: CarriedTable): Promise<number> {
  const count = statement<{ rows: number }>(`select count(*) as rows from ${name}`, "list");
  return (await db.get(count, {}))?.rows ?? 0;
}

export async function isEmpty(db: Db, { name }: CarriedTable): Promise<boolean> {
  return (await db.get(statement(`select 1 as one from ${name} limit 1`, "list"), {})) === null;
}

/** Adds so many rows, whose values are its arguments one after another. */
export function insertOf({ name, columns }: CarriedTable, rows: number, kind: "own" | "list"): Statement {
  const names = Object.keys(columns);
  const places = Array.from({ length: rows }, (_, row) => {
    const marks = names.map((_, column) => `$${row * names.length + column + 1}`);
    return `(${marks.join(", ")})`;
  });
  const text = `insert into ${name} (${names.join(", ")}) values ${places.join(", ")}`;
  return new Statement(
    text,
    Array.from({ length: rows * names.length }, (_, place) => String(place)),
    kind,
  );
}
