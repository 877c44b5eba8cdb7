import type { Judged } from "./aims.ts";
import { find, shown, type Table } from "./figures.ts";
import type { Options } from "./options.ts";
import { plotNames } from "./plots.ts";

/** A table for the terminal. */
export function printed(table: Table): string {
  const lines = rows(table).map(([who = "", value = "", spread = "", ratio = "", p99 = ""]) =>
    [
      `  ${who.padEnd(32)}`,
      `${value} ${table.unit}`.padStart(20),
      spread.padStart(20),
      ratio.padStart(8),
      p99 === "" ? "" : `p99 ${p99} ms`.padStart(16),
    ]
      .join(" ")
      .trimEnd(),
  );
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
  { pace, isQuick }: Options,
): string {
  const { rounds, seconds, connections } = pace;
  const missed = aims.filter(({ holds }) => holds === false);
  return `${[
    "# Figures",
    `Written by \`npm run bench\`. ${isQuick ? "**A quick run: it shows that everything works, and measures nothing.** " : ""}The server is pinned to one core and wrk to another; ${connections} connections; medians of ${rounds} interleaved rounds of ${seconds} s, and the least and the most of them. Only figures of one table, taken side by side, may be compared.`,
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
    plotNames.map((name) => `![${name}](plots/${name}.svg)`).join("\n\n"),
    "## Tables",
    "What is promised is the same for all: key, limits of minute and day with their headers, validation, and for an order one transaction (stock, order, movement, event, idempotency key) that is synced to the disk before the answer. Ours also writes a log line for each request and sends the headers of its contract; the peers do not. [docs/decisions/bench.md](../docs/decisions/bench.md) says how it is done.",
    ...tables.map(section),
  ].join("\n\n")}\n`;
}

function section(table: Table): string {
  const { title, unit, note, figures } = table;
  const hasP99 = figures.some(({ p99Milliseconds }) => p99Milliseconds !== undefined);
  const head = ["", unit, "least to most", `of ${table.against}`, ...(hasP99 ? ["p99, ms"] : [])];
  const body = rows(table).map((row) => row.slice(0, head.length));
  return [`### ${title}`, grid(head, body), ...(note ? [note] : [])].join("\n\n");
}

function rows(table: Table): string[][] {
  const base = find([table], table.name, table.against)?.middle;
  return table.figures.map(({ who, middle, low, high, p99Milliseconds }) => [
    who,
    shown(middle),
    low === high ? "" : `${shown(low)} to ${shown(high)}`,
    base ? (middle / base).toFixed(2) : "",
    p99Milliseconds === undefined ? "" : shown(p99Milliseconds),
  ]);
}

function verdict(holds: boolean | undefined): string {
  return holds === undefined ? "" : holds ? "holds" : "**missed**";
}

function grid(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...body.map(line)].join("\n");
}
