import type { Judged } from "./aims.ts";
import { type Figure, find, shown, type Table } from "./figures.ts";
import type { Options } from "./options.ts";

/** A table for the terminal. */
export function printed(table: Table): string {
  const body = [headOf(table), ...rows(table)];
  const widths = headOf(table).map((_, column) => Math.max(...body.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
  const lines = body.map((row) => `  ${line(row).join("   ")}`.trimEnd());
  return [table.title, ...lines, ...(table.note ? [`  ${table.note}`] : [])].join("\n");
}

export function printedAims(aims: readonly Judged[]): string {
  const seen = aims.filter(({ holds }) => holds !== undefined);
  const lines = seen.map(
    ({ aim, measured, holds }) => `  ${holds ? "holds " : "MISSED"}  ${aim}: ${measured}`,
  );
  return ["Aims", ...lines].join("\n");
}

/** RESULTS.md. */
export function report(
  tables: readonly Table[],
  aims: readonly Judged[],
  about: readonly (readonly [string, string])[],
  plots: readonly string[],
  { pace, isQuick }: Options,
): string {
  const { rounds, seconds, connections } = pace;
  const missed = aims.filter(({ holds }) => holds === false);
  return `${[
    "# Figures",
    `Written by \`npm run bench\`. ${isQuick ? "**A quick run: it shows that everything works, and measures nothing.** " : ""}The server is pinned to one core and wrk to another; ${connections} connections; medians of ${rounds} interleaved rounds of ${seconds} s, and the least and the most of them. Only figures of one table, taken side by side, may be compared. The last column is the time of the processor that the server itself took for a request, in all its threads.`,
    grid(["", ""], about),
    "## Aims",
    missed.length === 0
      ? "Of what was measured, every aim holds."
      : `**${missed.length} of ${aims.length} aims are missed**: they are marked below.`,
    grid(
      ["aim", "measured", ""],
      aims.map(({ aim, measured, holds }) => [aim, measured, verdict(holds)]),
    ),
    "## Pictures",
    plots.map((name) => `![${name}](plots/${name}.svg)`).join("\n\n"),
    "## Tables",
    "What is promised is the same for all: key, limits of minute and day with their headers, validation, and for an order one transaction (stock, order, movement, event, idempotency key) that is synced to the disk before the answer. Ours also writes a log line for each request, counts it for the client's usage, and sends the headers of its contract; the peers do not, except where they are said to have the same duties. [docs/decisions/bench.md](../docs/decisions/bench.md) says how it is done.",
    ...tables.map(section),
  ].join("\n\n")}\n`;
}

function section(table: Table): string {
  const { title, note } = table;
  return [`### ${title}`, grid(headOf(table), rows(table)), ...(note ? [note] : [])].join("\n\n");
}

/** The columns of a table: what it is about, and what else was measured. */
function columnsOf(table: Table): { head: string; cell: (figure: Figure) => string }[] {
  const base = find([table], table.name, table.against)?.middle;
  const has = (name: "p99Milliseconds" | "cpuMicroseconds") =>
    table.figures.some((figure) => figure[name] !== undefined);
  return [
    { head: "", cell: ({ who }) => who },
    { head: table.unit, cell: ({ middle }) => shown(middle) },
    {
      head: "least to most",
      cell: ({ low, high }) => (low === high ? "" : `${shown(low)} to ${shown(high)}`),
    },
    ...(base
      ? [{ head: `of ${table.against}`, cell: ({ middle }: Figure) => (middle / base).toFixed(2) }]
      : []),
    ...(has("p99Milliseconds")
      ? [{ head: "p99, ms", cell: (figure: Figure) => shown(figure.p99Milliseconds ?? 0) }]
      : []),
    ...(has("cpuMicroseconds")
      ? [{ head: "processor, us", cell: (figure: Figure) => shown(figure.cpuMicroseconds ?? 0) }]
      : []),
  ];
}

function headOf(table: Table): string[] {
  return columnsOf(table).map(({ head }) => head);
}

function rows(table: Table): string[][] {
  const columns = columnsOf(table);
  return table.figures.map((figure) => columns.map(({ cell }) => cell(figure)));
}

function verdict(holds: boolean | undefined): string {
  return holds === undefined ? "" : holds ? "holds" : "**missed**";
}

function grid(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...body.map(line)].join("\n");
}
