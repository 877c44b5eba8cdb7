import pg from "pg";
import type { Value } from "../statement.ts";
import type { Answered, Sent } from "./wire.ts";

type OnAnswer = (error: Error | null, answered: Answered) => void;

/** What the driver makes of the server's description of rows. */
interface Description {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

/** What of the driver's connection is used here. */
interface DriverConnection {
  bind(bound: {
    readonly portal: string;
    readonly statement: string;
    readonly values: readonly Value[] | undefined;
    readonly valueMapper: typeof sendable;
  }): void;
  execute(executed: { readonly portal: string }): void;
  sync(): void;
}

/** The driver's own query: more of it than its types tell. */
interface DriverQuery {
  name: string | undefined;
  readonly values: readonly Value[] | undefined;
  readonly _result: Description;
  _accumulateRows: boolean;
  prepare(connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
}

const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: readonly Value[] | undefined,
  onAnswer: OnAnswer,
) => DriverQuery;

/** What the answers to a connection's prepared statements look like; the server refuses to let it change (`0A000`). */
export type Descriptions = Map<string, Description>;

/** The driver's query, but a prepared statement is asked what its answer looks like only once on a connection. */
export class Question extends DriverQuery {
  constructor(
    { text, values, name }: Sent,
    onAnswer: OnAnswer,
    private readonly descriptions: Descriptions,
  ) {
    // As parts: an object would be copied, property by property.
    super(text, values, onAnswer);
    this.name = name;
  }

  override prepare(connection: DriverConnection): void {
    const { name, values } = this;
    const known = name === undefined ? undefined : this.descriptions.get(name);
    if (name === undefined || known === undefined) {
      super.prepare(connection);
      return;
    }
    Object.assign(this._result, known);
    this._accumulateRows = true;
    connection.bind({ portal: "", statement: name, values, valueMapper: sendable });
    connection.execute({ portal: "" });
    connection.sync();
  }

  override handleReadyForQuery(connection: DriverConnection): void {
    if (this.name !== undefined && !this.descriptions.has(this.name)) {
      const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
      this.descriptions.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
    }
    super.handleReadyForQuery(connection);
  }
}

function sendable(value: Value | undefined): string | Buffer | null {
  if (value === null || value === undefined || typeof value === "string") return value ?? null;
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : String(value);
}
