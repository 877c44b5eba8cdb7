import { some } from "../../core/some.ts";
import { migrations } from "../migrations.ts";
import type { Value } from "../statement.ts";
import { CannotMove, type MovedRow } from "./moving.ts";
import type { CarriedTable, ColumnKind } from "./tables.ts";

const FORMAT = "petstore-export";
const VERSION = 1;

/** What the first line says of the file beside its format. */
export interface Origin {
  /** When the export was made, RFC 3339. */
  readonly exportedAt: string;
  /** The version of the program that made it. */
  readonly petstore: string;
}

/** Rows by table. */
export type Counts = Readonly<Record<string, number>>;

export interface End {
  readonly rows: Counts;
  /** Over all lines before this one, with their ends. */
  readonly sha256: string;
}

export function headerLine({ exportedAt, petstore }: Origin): string {
  return lineOf({ format: FORMAT, version: VERSION, migration: migrations.length, exportedAt, petstore });
}

export function tableLine({ name, columns, numbersRows }: CarriedTable, lastId: number): string {
  return lineOf({ table: name, columns: Object.keys(columns), ...(numbersRows && { lastId }) });
}

export function rowLine(table: CarriedTable, row: MovedRow): string {
  const kinds = Object.values(table.columns);
  return lineOf(row.map((value, place) => written(table, value, kinds[place] as ColumnKind)));
}

export function endLine({ rows, sha256 }: End): string {
  return lineOf({ rows, sha256 });
}

/** Refuses a first line that is not of an export, or of one that this program cannot take over. */
export function readHeader(line: unknown): void {
  if (!isRecord(line) || line.format !== FORMAT)
    throw new CannotMove("this is not an export of Petstore; make one with 'petstore export'");
  if (line.version !== VERSION)
    throw new CannotMove(
      `the file has version ${line.version} of the format, this program reads ${VERSION}. Import it with the version of Petstore that made it`,
    );
  const known = migrations.length;
  if (typeof line.migration !== "number" || line.migration > known)
    throw new CannotMove(
      `the file was made with migration ${line.migration}, this program knows only ${known}. Import it with the version of Petstore that made it, or a newer one`,
    );
  if (line.migration < known)
    throw new CannotMove(
      `the file was made with migration ${line.migration}, this program needs ${known}. Run 'petstore migrate' with this version on the store it came from, and export it again`,
    );
}

/** The last id of the table that a line opens; refuses one that does not open this table. */
export function readTable(line: unknown, { name, columns, numbersRows }: CarriedTable): number {
  const found = isRecord(line) ? line.table : undefined;
  if (!isRecord(line) || found !== name)
    throw new CannotMove(
      `here the table ${name} must begin${found === undefined ? "" : `, not ${JSON.stringify(found)}`}`,
    );
  const known = Object.keys(columns);
  const given: readonly unknown[] = Array.isArray(line.columns) ? line.columns : [];
  const unknown = given.find((column) => !known.includes(column as string));
  if (unknown !== undefined)
    throw new CannotMove(`the table ${name} has no column ${JSON.stringify(unknown)}`);
  if (given.join() !== known.join())
    throw new CannotMove(`the columns of the table ${name} must be ${known.join(", ")}, in this order`);
  if (!numbersRows) return 0;
  if (!Number.isSafeInteger(line.lastId) || (line.lastId as number) < 0)
    throw new CannotMove(`lastId of the table ${name} must be a whole number`);
  return line.lastId as number;
}

export function readRow(line: readonly unknown[], { name, columns }: CarriedTable): MovedRow {
  const kinds = Object.entries(columns);
  if (line.length !== kinds.length)
    throw new CannotMove(`a row of the table ${name} has ${some(kinds.length, "value")}, not ${line.length}`);
  return kinds.map(([column, kind], place) => {
    const value = line[place];
    if (value === null) return null;
    const read = readers[kind](value);
    if (read === undefined) throw new CannotMove(`${column} of the table ${name} must be ${must[kind]}`);
    return read;
  });
}

export function readEnd(line: unknown): End {
  if (!isRecord(line) || !isRecord(line.rows) || typeof line.sha256 !== "string")
    throw new CannotMove("here the file must end with the number of its rows and its checksum");
  return { rows: line.rows as Counts, sha256: line.sha256 };
}

/** What a value must be, in words. */
const must: Readonly<Record<ColumnKind, string>> = {
  integer: "a whole number below 2^53",
  text: "text without NUL and without halves of characters",
  bytes: "bytes in base64",
};

const readers: Readonly<Record<ColumnKind, (value: unknown) => Value | undefined>> = {
  integer: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
  text: (value) =>
    typeof value === "string" && value.isWellFormed() && !value.includes("\0") ? value : undefined,
  bytes(value) {
    const bytes = Buffer.from(String(value), "base64");
    return bytes.toString("base64") === value ? bytes : undefined;
  },
};

function written({ name }: CarriedTable, value: Value, kind: ColumnKind): string | number | null {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (value !== null && readers[kind](value) === undefined)
    throw new CannotMove(
      `The table ${name} holds ${String(value).slice(0, 40)} where it must be ${must[kind]}.`,
    );
  return value as string | number | null;
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
