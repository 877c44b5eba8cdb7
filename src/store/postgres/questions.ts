import type { Writable } from "node:stream";
import pg from "pg";
import type { Value } from "../statement.ts";
import type { Answered, Sent } from "./wire.ts";

/** A statement, and who waits for its answer. */
export interface Question {
  readonly sent: Sent;
  readonly onAnswer: (error: Error | null | undefined, answered?: Answered) => void;
}

/** What the rows of an answer look like. */
interface Description {
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
}

/** What the answers to a connection's prepared statements look like; the server refuses to let it change (`0A000`). */
export type Descriptions = Map<string, Description>;

/** What of the driver's connection is used here. */
interface DriverConnection {
  readonly stream: Writable;
  /** By name, the statements that the server has, and those that were sent to it. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(parsed: { readonly text: string; readonly name: string | undefined }): void;
  bind(bound: {
    readonly statement: string | undefined;
    readonly values: readonly Value[] | undefined;
    readonly valueMapper: typeof sendable;
  }): void;
  describe(described: { readonly type: "P" }): void;
  execute(): void;
  sync(): void;
}

/** The driver's own query: more of it than its types tell. What it calls the active query's name and text are those of the statement that is being answered. */
interface DriverQuery {
  name: string | undefined;
  text: string;
  submit(connection: DriverConnection): Error | null;
  handleRowDescription(message: { readonly fields: readonly pg.FieldDef[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleEmptyQuery(): void;
  handleError(error: Error, connection: DriverConnection): void;
  handleReadyForQuery(): void;
  /** Ends what the driver waits for, such as a timer that the database's address asks for. */
  callback(): void;
}

const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: undefined,
  onAnswer: () => void,
) => DriverQuery;
/** The driver makes a promise for a query without one. */
const noAnswer = () => {};

/** The types of whole numbers: ids stay below 2^53, and sums of what is counted do too. */
const WHOLE_NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

export function parserOf(type: number): (text: string) => unknown {
  return WHOLE_NUMBERS.has(type) ? Number : pg.types.getTypeParser(type, "text");
}

const NO_ROWS: Description = { names: [], parsers: [] };

/**
 * The statements of one turn as one query of the driver's: the server answers them all at once, and does none that comes
 * after one that failed. A prepared statement is asked what its rows look like only once on a connection.
 */
export class Questions extends DriverQuery {
  private readonly answers: Answered[] = [];
  private found: unknown[] = [];
  private description: Description | undefined;

  constructor(
    private readonly asked: readonly Question[],
    private readonly descriptions: Descriptions,
  ) {
    super("", undefined, noAnswer);
    this.turnToNext();
  }

  override submit(connection: DriverConnection): null {
    // The messages leave in one piece.
    connection.stream.cork();
    for (const { sent } of this.asked) this.send(connection, sent);
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  private send(connection: DriverConnection, { text, values, name }: Sent): void {
    const { submittedNamedStatements: submitted } = connection;
    if (name === undefined || !isPrepared(connection, name)) {
      connection.parse({ text, name });
      if (name !== undefined) submitted[name] = text;
    }
    connection.bind({ statement: name, values, valueMapper: sendable });
    if (name === undefined || !this.descriptions.has(name)) connection.describe({ type: "P" });
    connection.execute();
  }

  override handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.description = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
    };
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { names, parsers } = this.description ?? NO_ROWS;
    const row: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at++) {
      const text = fields[at] as string | null;
      row[names[at] as string] = text === null ? null : parsers[at]?.(text);
    }
    this.found.push(row);
  }

  override handleCommandComplete({ text }: { readonly text: string }): void {
    this.answers.push({ command: text.split(" ", 1)[0] as string, rows: this.found });
    if (this.name !== undefined) this.descriptions.set(this.name, this.description ?? NO_ROWS);
    this.turnToNext();
  }

  override handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  override handleError(error: Error, { parsedStatements, submittedNamedStatements }: DriverConnection): void {
    // After the last answer it is what the server met when it ended the turn.
    const failed = Math.min(this.answers.length, this.asked.length - 1);
    this.tellUpTo(failed);
    for (const { sent, onAnswer } of this.asked.slice(failed)) {
      // The server has not looked at those behind the one that failed.
      if (sent.name !== undefined && parsedStatements[sent.name] === undefined)
        delete submittedNamedStatements[sent.name];
      onAnswer(error);
    }
    this.callback();
  }

  override handleReadyForQuery(): void {
    this.tellUpTo(this.answers.length);
    this.callback();
  }

  private tellUpTo(end: number): void {
    for (let at = 0; at < end; at++) this.asked[at]?.onAnswer(null, this.answers[at]);
  }

  private turnToNext(): void {
    const { name, text } = this.asked[this.answers.length]?.sent ?? { name: undefined, text: "" };
    this.name = name;
    this.text = text;
    this.found = [];
    this.description = name === undefined ? undefined : this.descriptions.get(name);
  }
}

function isPrepared({ parsedStatements, submittedNamedStatements }: DriverConnection, name: string): boolean {
  return parsedStatements[name] !== undefined || submittedNamedStatements[name] !== undefined;
}

function sendable(value: Value | undefined): string | Buffer | null {
  if (value === null || value === undefined || typeof value === "string") return value ?? null;
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : String(value);
}
