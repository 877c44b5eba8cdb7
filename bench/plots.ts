import { dutifulPeers, peers, scaledFastify } from "./contenders.ts";
import { shown, type Table } from "./figures.ts";
import { UNLIMITED } from "./scenarios/clients.ts";
import { FLOOR, NGINX, requestNames } from "./scenarios/requests.ts";
import { scaledNames } from "./scenarios/scaled.ts";

const WIDTH = 940;
const COLUMNS = 2;
const MARGIN = 24;
const GAP = 28;
const BAR = 16;
const ROW = 24;
const NAMES = 138;
const VALUES = 86;
const HEAD = 34;

const ink = {
  text: "#24292f",
  quiet: "#6e7781",
  ours: "#218bff",
  peer: "#afb8c1",
  floor: "#e1e6eb",
  whisker: "#24292f",
};

interface Plot {
  readonly name: string;
  readonly title: string;
  readonly tables: readonly string[];
}

const plots: readonly Plot[] = [
  { name: "requests", title: "Requests a second, more is better", tables: requestNames },
  {
    name: "growth",
    title: "Ours as it grows: requests a second",
    tables: ["pets", "orders", "connections", "clients"],
  },
  { name: "scaled", title: "On PostgreSQL and Redis: requests a second", tables: scaledNames },
  { name: "start", title: "Cold start in milliseconds, less is better", tables: ["start", "start-parts"] },
  { name: "memory", title: "Resident memory in MiB, less is better", tables: ["memory-idle", "memory"] },
];

/** Every picture of which there is a table, by its name. */
export function drawn(tables: readonly Table[]): { name: string; title: string; svg: string }[] {
  return plots.flatMap(({ name, title, tables: names }) => {
    const shownTables = names.flatMap((each) => tables.find((table) => table.name === each) ?? []);
    return shownTables.length === 0 ? [] : [{ name, title, svg: picture(title, shownTables) }];
  });
}

/** Panels of bars in columns, each with a scale of its own. */
function picture(title: string, tables: readonly Table[]): string {
  const width = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS;
  let top = MARGIN + 52;
  const panels: string[] = [];
  for (let first = 0; first < tables.length; first += COLUMNS) {
    const row = tables.slice(first, first + COLUMNS);
    row.forEach((table, column) => {
      panels.push(panel(table, MARGIN + column * (width + GAP), top, width));
    });
    top += HEAD + Math.max(...row.map(({ figures }) => figures.length)) * ROW + GAP;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${WIDTH}" height="${top}" fill="#ffffff"/>
<text x="${MARGIN}" y="${MARGIN + 14}" font-size="17" font-weight="600" fill="${ink.text}">${escaped(title)}</text>
${panels.join("\n")}
</svg>
`;
}

function panel({ title, figures }: Table, left: number, top: number, width: number): string {
  const most = Math.max(...figures.map(({ high }) => high));
  const start = left + NAMES;
  const scale = (width - NAMES - VALUES) / most;
  const bars = figures.map(({ who, middle, low, high }, row) => {
    const y = top + HEAD - 12 + row * ROW;
    const middleY = y + BAR / 2;
    const [from, to] = [fixed(start + low * scale), fixed(start + high * scale)];
    return `<text x="${start - 8}" y="${middleY + 4}" text-anchor="end" fill="${ink.text}">${escaped(brief(who))}</text>
<rect x="${start}" y="${y}" width="${fixed(middle * scale)}" height="${BAR}" rx="2" fill="${colourOf(who)}"/>
${from === to ? "" : `<path d="M${from} ${middleY}H${to}M${from} ${middleY - 3}v6M${to} ${middleY - 3}v6" stroke="${ink.whisker}"/>`}
<text x="${fixed(start + high * scale + 8)}" y="${middleY + 4}" fill="${ink.quiet}">${shown(middle)}</text>`;
  });
  return `<text x="${left}" y="${top}" font-weight="600" fill="${ink.quiet}">${escaped(title)}</text>\n${bars.join("\n")}`;
}

function colourOf(who: string): string {
  if (who === FLOOR || who === NGINX || who === UNLIMITED) return ink.floor;
  return [...peers, ...dutifulPeers, scaledFastify].some(({ name }) => name === who) ? ink.peer : ink.ours;
}

/** Names of the longest tables, short enough for their column. */
function brief(who: string): string {
  return who
    .replace("1,000,000", "1 M")
    .replace(" known", "")
    .replace("without a limiter", "no limiter")
    .replace("PostgreSQL", "PG");
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
