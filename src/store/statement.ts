import type { Awaitable } from "../core/ports.ts";

/** A piece of SQL that is part of the program's text, never of its input. */
export class Fragment {
  constructor(readonly text: string) {}
}

/** One of the store's own; a list, of which there are many; or one of the few lists that nearly everybody asks for. */
export type Kind = "own" | "list" | "kept list";

/** SQL for both engines: each `$n` stands once and in order, so that one binds by number and one by position. */
export class Statement<Row = unknown> {
  /** Its place among the prepared statements that a connection holds; none for a list of which there are many. */
  readonly slot: number;
  /** Whether each row that it gives is one that it changed. */
  readonly isWrite: boolean;
  private readonly forNow: Value[] = [];

  constructor(
    readonly text: string,
    readonly names: readonly string[],
    readonly kind: Kind,
    readonly shape?: (row: never) => Row,
  ) {
    this.slot = kind === "list" ? -1 : slots++;
    this.isWrite = /^(with\b.*\b)?(insert|update|delete)\b/s.test(text);
  }

  /** The same statement, giving its rows in another shape. */
  as<Raw, Shaped>(shape: (row: Raw) => Shaped): Statement<Shaped> {
    return new Statement<Shaped>(this.text, this.names, this.kind, shape as (row: never) => Shaped);
  }

  /** The arguments in the order of the text. */
  values(args: Arguments): Value[] {
    return this.filled(args, []);
  }

  /** The same in a list that is filled anew by the next who asks: for an engine that takes them at once. */
  valuesForNow(args: Arguments): readonly Value[] {
    return this.filled(args, this.forNow);
  }

  private filled(args: Arguments, values: Value[]): Value[] {
    if (Array.isArray(args)) return args;
    for (let at = 0; at < this.names.length; at++)
      values[at] = (args as Readonly<Record<string, Value>>)[this.names[at] as string] as Value;
    return values;
  }
}

export type Value = string | number | bigint | Uint8Array | null;
/** By name; or by place, for a statement whose arguments are numbered. */
export type Arguments = Readonly<Record<string, unknown>> | readonly Value[];

/** What an engine does; all else about the store is written once. */
export interface Db {
  get<Row>(statement: Statement<Row>, args: Arguments): Awaitable<Row | null>;
  all<Row>(statement: Statement<Row>, args: Arguments): Awaitable<Row[]>;
  run(statement: Statement, args: Arguments): Awaitable<void>;
  /** Adds rows to a table that only grows: before the commit, with those of other writes. An engine without it adds them at once. */
  append?<Row extends object>(into: RowsStatement<Row>, rows: readonly Row[]): void;
}

let slots = 0;

export function fragment(parts: TemplateStringsArray, ...inner: Fragment[]): Fragment {
  return new Fragment(String.raw(parts, ...inner.map((each) => each.text)));
}

/** A statement with its arguments as `:name`. */
export function sql<Row>(parts: TemplateStringsArray, ...inner: Fragment[]): Statement<Row> {
  return statement<Row>(fragment(parts, ...inner).text);
}

export function statement<Row>(source: string, kind: Kind = "own"): Statement<Row> {
  const names: string[] = [];
  const text = source.replace(/(?<!:):(\w+)/g, (_, name: string) => `$${names.push(name)}`);
  return new Statement<Row>(text.trim(), names, kind);
}

/** Rows that one statement takes: as many of the larger as there are, then of the smaller. */
const ROWS_AT_ONCE = [100, 20, 4, 3, 2, 1];

/** A statement for rows, many at once: its text around their `values`. */
export class RowsStatement<Row extends object> {
  private readonly sized: readonly (readonly [size: number, statement: Statement])[];

  constructor(
    private readonly columns: readonly (keyof Row & string)[],
    text: (values: string) => string,
  ) {
    const row = `(${columns.map((name) => `:${name}`).join(", ")})`;
    this.sized = ROWS_AT_ONCE.map((size) => [
      size,
      statement(text(`values ${new Array(size).fill(row).join(", ")}`)),
    ]);
  }

  async run(db: Db, rows: readonly Row[]): Promise<void> {
    for (const [statement, values] of this.parts(rows)) await db.run(statement, values);
  }

  /** Adds rows that nobody reads before they are committed. */
  append(db: Db, rows: readonly Row[]): Awaitable<void> {
    return db.append ? db.append(this, rows) : this.run(db, rows);
  }

  /** The statements that insert the rows, each with its values. */
  *parts(rows: readonly Row[]): Iterable<[Statement, Value[]]> {
    let at = 0;
    for (const [size, statement] of this.sized)
      for (; at + size <= rows.length; at += size) yield [statement, this.values(rows, at, at + size)];
  }

  private values(rows: readonly Row[], from: number, to: number): Value[] {
    const values: Value[] = [];
    for (let at = from; at < to; at++)
      for (const name of this.columns) values.push((rows[at] as Row)[name] as Value);
    return values;
  }
}
