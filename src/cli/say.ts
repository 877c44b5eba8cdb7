import { writeSync } from "node:fs";
import type { Unavailable } from "../core/failure.ts";
import { visible } from "../core/visible.ts";

export const STANDARD_OUTPUT = 1;
export const STANDARD_ERROR = 2;
const PIPE_IS_FULL_MS = 5;

/** Wrong usage or wrong settings. */
export const USAGE_EXIT = 2;
/** The doctor found damage. */
export const DAMAGE_EXIT = 3;

/** Ends a command that has said all there is to say. */
export class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

/** The address cannot be listened on. */
export class CannotListen extends Error {}

/** Something was asked for that cannot be. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly exit = 1,
  ) {
    super(message);
  }
}

/** The database cannot be opened. */
export class DatabaseTrouble extends Error {}

/** This user may not write the database or what lies beside it: that is no damage, and waiting does not help. */
export function isKeptOut({ cause }: Unavailable): boolean {
  return /^SQLITE_(CANTOPEN|READONLY)/.test((cause as { code?: string } | undefined)?.code ?? "");
}

/** What PostgreSQL's user would need, by what it is refused. */
const RIGHTS: Readonly<Record<string, string>> = {
  table: "select, insert, update, delete",
  sequence: "usage, select",
};

/** What to grant, if PostgreSQL says that its user lacks a right. */
export function lackingRight({ cause }: Unavailable): string | null {
  const { message } = cause as { message?: string };
  const [told, kind = "", name] = /^permission denied for (table|sequence) (.+)$/.exec(message ?? "") ?? [];
  if (!told) return null;
  return `The user of the database lacks a right: ${told}. As the owner of the tables: grant ${RIGHTS[kind]} on ${kind} ${name} to that user`;
}

/** Records for people, a line each: columns as wide as they need to be. */
export function table(rows: readonly Readonly<Record<string, unknown>>[], empty: string): string[] {
  const [first] = rows;
  if (!first) return [empty];
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => (row[column] as string).length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((text, column) => text.padEnd(widths[column] as number))
      .join("  ")
      .trimEnd();
  return [line(names), ...cells.map(line)];
}

/** One JSON value for machines, or lines for people: a name in them begins no line of its own. */
export function print(
  asJson: boolean,
  value: unknown,
  lines: string | readonly string[],
  fd = STANDARD_OUTPUT,
): void {
  const text = [lines].flat().map(visible).join("\n");
  writeAll(fd, `${asJson ? JSON.stringify(value, null, 2) : text}\n`);
}

/** What went wrong, in a line on standard error. */
export function complain(message: string): void {
  console.error(visible(`petstore: ${message}`));
}

/** What cannot be written is told: it may be a key that is shown this once. A slow reader is waited for. */
export function writeAll(fd: number, text: string, meaning = "the answer"): void {
  for (let left = Buffer.from(text); left.length > 0; ) {
    try {
      left = left.subarray(writeSync(fd, left));
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code !== "EAGAIN") throw new Refused(`Cannot write ${meaning}: ${message}.`);
      Bun.sleepSync(PIPE_IS_FULL_MS);
    }
  }
}

/** A time as people and machines read it; none is left out of JSON and shown as `-`. */
export function time(milliseconds: number | null): string | undefined {
  return milliseconds === null ? undefined : new Date(milliseconds).toISOString();
}

/** As wide as it will be seen. */
function cell(value: unknown): string {
  return value === null || value === undefined ? "-" : visible(String(value));
}
