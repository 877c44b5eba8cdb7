import { ahead } from "./ahead.ts";
import { type Judged, judged, judgedEvenly } from "./aims.ts";
import { type Figure, find, type Missing, shown, type Table, times } from "./figures.ts";
import type { Options } from "./options.ts";
import type { About } from "./sittings.ts";
import { OPENING_MS } from "./wrk.ts";

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
    ({ aim, measured, holds, rounds }) =>
      `  ${holds ? "holds " : "MISSED"}  ${aim}: ${measured}${rounds ? `, in ${inRounds(rounds)}` : ""}`,
  );
  return ["Aims", ...lines].join("\n");
}

/** What a report is made of. */
export interface Results {
  readonly tables: readonly Table[];
  readonly missing: readonly Missing[];
  readonly about: About;
  readonly plots: readonly { readonly name: string; readonly title: string }[];
  readonly notes: Notes;
}

/** Written by hand, by the heading that they stand under: `aims`, `ahead`, or the name of a table. */
export type Notes = ReadonlyMap<string, string>;

/** Takes notes.md apart by its headings. */
export function notesIn(text: string): Notes {
  const sections = text.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end).trim(), section.slice(end).trim()];
    }),
  );
}

/** RESULTS.md. */
export function report(
  { tables, missing, about, plots, notes }: Results,
  { pace, isQuick }: Options,
): string {
  const aims = judged(tables);
  const held = aims.filter(({ holds }) => holds);
  const missed = aims.filter(({ holds }) => holds === false);
  const unknown = aims.filter(({ holds }) => holds === undefined);
  const noted = (name: string) => notes.get(name) ?? [];
  return `${[
    "# Figures",
    `Petstore beside Fastify, Express, Hono and Elysia: the same work on one machine, server and load on a core each. **${held.length} of ${aims.length} aims hold.**`,
    `${isQuick ? "**A quick run: it shows that everything works, and measures nothing.** " : ""}Written by \`npm run bench\`, all of it; what is to be said about the figures stands in \`notes.md\`.`,
    grid(["", ""], about),
    missing.length > 0 ? missingOnes(missing) : [],
    "## Aims",
    `${missed.length === 0 ? "Of what was measured, every aim holds." : `**${missed.length} of ${aims.length} aims are missed.**`}${unknown.length === 0 ? "" : ` ${unknown.length} were not measured.`}`,
    aimsGrid(aims),
    "The same comparisons with peers that also do what ours does besides (log line, usage, request id, `ETag`, all headers, counts by address), and of memory without pages that are mapped from files:",
    aimsGrid(judgedEvenly(tables)),
    noted("aims"),
    "## Where a peer is ahead",
    aheadGrid(tables),
    noted("ahead"),
    plots.length > 0 ? "## Pictures" : [],
    plots.map(({ name, title }) => `![${title}](plots/${name}.svg)`),
    "## How to read the tables",
    howToRead(pace),
    "## Tables",
    "What is promised is the same for all: key, limits of minute and day with their headers, validation, and for an order one transaction (stock, order, movement, event, idempotency key) that is synced to the disk before the answer. Ours also writes a log line for each request, counts it for the client's usage, counts whoever has no valid key by address, and sends the headers of its contract; so do the peers with the same duties, but that they count usage in memory and write none, and the others do not. [docs/decisions/bench.md](../docs/decisions/bench.md) says how it is done.",
    tables.flatMap((table) => [section(table), noted(table.name)]),
  ]
    .flat(2)
    .join("\n\n")}\n`;
}

function missingOnes(missing: readonly Missing[]): string[] {
  const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 300);
  return [
    "## Missing",
    "This run is not whole:",
    missing.map(({ what, reason }) => `- *${what}*: ${oneLine(reason)}`).join("\n"),
  ];
}

/** In p99, start, memory and size; rates are judged by the aims. */
function aheadGrid(tables: readonly Table[]): string {
  const found = ahead(tables);
  if (found.length === 0) return "Nowhere in what was measured, be it p99, start, memory or size.";
  return grid(["what", "ours", "who, and theirs"], found);
}

function howToRead({ rounds, seconds, connections }: Options["pace"]): string {
  return [
    `- The server is pinned to one core and wrk to another, with ${connections} connections where a table says nothing else.`,
    "- **Only figures of one table, taken side by side, may be compared.**",
    `- Tables with a column *shared*: medians of ${rounds} interleaved rounds of ${seconds} s, of which the first ${OPENING_MS / 1000} s, in which connections open, do not count, and the least and the most of them; where there were more rounds, a note says so.`,
    "- Their rounds wait for a calm moment, for as long as there is patience.",
    "- One in which the machine's owner gave more than 3 % of a core's time to others, or let others slow the server's core down for more than 15 % of it, is measured again, up to four times, and the least disturbed counts.",
    "- *Shared* is the share of the time in which others slowed the server's core down all the same (middle of the rounds).",
    "- The other tables (start, memory, sizes, the limiter alone) are taken as the machine is at that moment: starts take turns, memory is one server after another.",
    "- In a run of several sittings a scenario that failed, or in which others disturbed a figure all the same, is taken again as a whole, and of two takes the one that lacks less counts, and then the less disturbed one.",
    "- How many times one is another is the median of what each round says by itself, which is not always that of their medians.",
    "- An aim that compares two figures says both where they differ (*of medians*), and holds only if both do. *holds, in 3 of 5 rounds* says that rounds do not agree: it is too close to tell.",
    "- *p99* is that of the answers: wrk's own also counts the requests that a late answer kept from being sent, and what it adds is taken away again.",
    "- Ours runs with the settings of the runtime that it gives itself, the peers with their runtimes' own. Nobody's log lines are kept (`/dev/null`). In the table of 429 ours bans nobody.",
    "- *CPU us a request* is the time of the processor that the server itself took, in all its threads: on a shared machine it is steadier than a rate.",
  ].join("\n");
}

function aimsGrid(aims: readonly Judged[]): string {
  const rows = aims.map((each) => [each.aim, each.measured, verdict(each)]);
  return grid(["aim", "measured", ""], rows);
}

function section(table: Table): string {
  const { title, note } = table;
  return [`### ${title}`, grid(headOf(table), rows(table)), ...(note ? [note] : [])].join("\n\n");
}

/** The columns of a table: what it is about, and what else was measured. */
function columnsOf(table: Table): { head: string; cell: (figure: Figure) => string }[] {
  const base = find([table], table.name, table.against);
  const ownBase = base?.ownMebibytes;
  const has = (name: "p99Milliseconds" | "slowedShare" | "cpuMicroseconds") =>
    table.figures.some((figure) => figure[name] !== undefined);
  return [
    { head: "", cell: ({ who }) => who },
    { head: table.unit, cell: ({ middle }) => shown(middle) },
    {
      head: "least to most",
      cell: ({ low, high }) => (low === high ? "" : `${shown(low)} to ${shown(high)}`),
    },
    ...(base && table.figures.length > 1
      ? [{ head: `of ${table.against}`, cell: (figure: Figure) => times(figure, base).toFixed(2) }]
      : []),
    ...(ownBase
      ? [
          { head: "its own, MiB", cell: (figure: Figure) => shown(figure.ownMebibytes ?? 0) },
          {
            head: `of ${table.against}`,
            cell: (figure: Figure) => ((figure.ownMebibytes ?? 0) / ownBase).toFixed(2),
          },
        ]
      : []),
    ...(has("p99Milliseconds")
      ? [{ head: "p99, ms", cell: (figure: Figure) => shown(figure.p99Milliseconds ?? 0) }]
      : []),
    ...(has("slowedShare")
      ? [{ head: "shared", cell: (figure: Figure) => `${Math.round((figure.slowedShare ?? 0) * 100)} %` }]
      : []),
    ...(has("cpuMicroseconds")
      ? [{ head: "CPU us a request", cell: (figure: Figure) => shown(figure.cpuMicroseconds ?? 0) }]
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

/** Where the rounds do not agree, in how many of them it holds: what is that close, another run may decide otherwise. */
function verdict({ holds, rounds }: Judged): string {
  if (holds === undefined) return "";
  const besides = !rounds || rounds.held === (holds ? rounds.all : 0) ? "" : `, in ${inRounds(rounds)}`;
  return `${holds ? "holds" : "**missed**"}${besides}`;
}

function inRounds({ held, all }: NonNullable<Judged["rounds"]>): string {
  return `${held} of ${all} rounds`;
}

function grid(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...body.map(line)].join("\n");
}
