import { dutifulPeers, everyone, oneFilePeers, peers, scaledFastify } from "./contenders.ts";
import { bars, dots, type Kind, line, type Panel, picture } from "./draw.ts";
import type { Figure, Table } from "./figures.ts";
import { FLOOR, NGINX, requestNames, STATIC_FLOOR } from "./scenarios/requests.ts";
import { scaledNames } from "./scenarios/scaled.ts";

interface Plot {
  readonly name: string;
  readonly title: string;
  readonly tables: readonly string[];
  readonly panel: (table: Table) => Panel;
}

const plots: readonly Plot[] = [
  {
    name: "requests",
    title: "Requests a second, one core each: more is better",
    tables: requestNames,
    panel: ofRates,
  },
  {
    name: "latency",
    title: "p99 of an answer under full load: less is better",
    tables: requestNames,
    panel: ofLatencies,
  },
  {
    name: "growth",
    title: "Ours as it grows",
    tables: ["pets", "connections", "orders", "orders-list", "clients", "limiter"],
    panel: ofGrowth,
  },
  {
    name: "scaled",
    title: "On PostgreSQL and Redis, requests a second: more is better",
    tables: scaledNames,
    panel: ofRates,
  },
  { name: "start", title: "Cold start: less is better", tables: ["start", "start-parts"], panel: ofRates },
  {
    name: "memory",
    title: "Resident memory: less is better. The dark part is the process's own",
    tables: ["memory-idle", "memory-first", "memory"],
    panel: ofMemory,
  },
];

/** Every picture of which there is a table, by its name. */
export function drawn(tables: readonly Table[]): { name: string; title: string; svg: string }[] {
  return plots.flatMap(({ name, title, tables: names, panel }) => {
    const wanted = names.flatMap((each) => tables.find((table) => table.name === each) ?? []);
    return wanted.length === 0 ? [] : [{ name, title, svg: picture(title, wanted.map(panel)) }];
  });
}

function ofRates({ title, unit, figures }: Table): Panel {
  return bars(title, unit, figures.map(barOf));
}

function ofMemory({ title, unit, figures }: Table): Panel {
  const all = figures.map((figure) => ({ ...barOf(figure), inner: figure.ownMebibytes }));
  return bars(title, unit, all);
}

/** Times of requests lie far apart: a logarithmic axis, and therefore dots. Floors have none of our work to wait for. */
function ofLatencies({ title, figures }: Table): Panel {
  const waiting = figures.filter(({ who }) => everyone.some(({ name }) => name === who));
  return dots(
    title,
    "ms, logarithmic",
    waiting.map(({ who, p99Milliseconds = 0 }) => ({ name: who, kind: kindOf(who), value: p99Milliseconds })),
  );
}

/** Sizes that go up by powers of ten are points on a logarithmic axis; anything else is bars. */
function ofGrowth(table: Table): Panel {
  const { title, unit, figures } = table;
  const points = figures.map(({ who, middle, low, high }) => ({
    at: Number(who.replaceAll(",", "")),
    middle,
    low,
    high,
  }));
  const isScale = points.length > 2 && points.every(({ at }) => at > 0);
  return isScale ? line(title, unit, points) : ofRates(table);
}

function barOf({ who, middle, low, high }: Figure) {
  return { name: brief(who), kind: kindOf(who), middle, low, high };
}

function kindOf(who: string): Kind {
  const isOneOf = (all: readonly { readonly name: string }[]) => all.some(({ name }) => name === who);
  if ([FLOOR, STATIC_FLOOR, NGINX].includes(who)) return "floor";
  if (isOneOf(dutifulPeers)) return "dutiful";
  return isOneOf([...peers, ...oneFilePeers, scaledFastify]) ? "peer" : "ours";
}

/** Names of the longest tables, short enough for their column. */
function brief(who: string): string {
  return who
    .replace(/,000,000/, " M")
    .replace(" known", "")
    .replace("without a limiter", "no limiter")
    .replace("PostgreSQL + Redis", "PG + Redis");
}
