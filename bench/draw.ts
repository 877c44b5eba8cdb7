// Pictures as SVG: panels in columns, each with axes of its own; light or dark as the reader's system is.
import { shown } from "./figures.ts";

const WIDTH = 960;
const COLUMNS = 2;
const MARGIN = 24;
const GAP = 32;
const TOP = 84;
const HEAD = 18;
const FOOT = 64;
const BAR = 14;
const ROW = 20;
const NAMES = 146;
const VALUES = 52;
const LINE_HEIGHT = 190;
const LINE_LEFT = 62;

/** Whose a bar is, which gives it its colour. */
export type Kind = "ours" | "dutiful" | "peer" | "floor";

export interface Bar {
  readonly name: string;
  readonly kind: Kind;
  readonly middle: number;
  readonly low: number;
  readonly high: number;
  /** A part of it that is drawn darker. */
  readonly inner?: number | undefined;
}

export interface Panel {
  readonly title: string;
  readonly height: number;
  readonly kinds: readonly Kind[];
  draw(left: number, top: number, width: number): string;
}

const legends: Record<Kind, string> = {
  ours: "petstore",
  dutiful: "peer, same duties",
  peer: "peer, doing less",
  floor: "floor",
};

const style = `
svg { --page: #ffffff; --text: #1f2328; --quiet: #59636e; --grid: #e1e4e8; --ours: #0969da; --dutiful: #8250df; --peer: #b7a3d9; --floor: #c4ccd4; --inner: rgba(0, 0, 0, 0.3) }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --text: #e6edf3; --quiet: #9198a1; --grid: #2a3038; --ours: #4493f8; --dutiful: #ab7df8; --peer: #6a548f; --floor: #4a525c; --inner: rgba(0, 0, 0, 0.38) }
}
text { fill: var(--text) } .quiet { fill: var(--quiet) } .end { text-anchor: end } .middle { text-anchor: middle }
.page { fill: var(--page) } .grid { stroke: var(--grid) } .mark { stroke: var(--text); fill: none } .inner { fill: var(--inner) }
.ours { fill: var(--ours) } .dutiful { fill: var(--dutiful) } .peer { fill: var(--peer) } .floor { fill: var(--floor) }
.curve { stroke: var(--ours); stroke-width: 2; fill: none } .over { paint-order: stroke; stroke: var(--page); stroke-width: 4px }`;

export function picture(title: string, panels: readonly Panel[]): string {
  const width = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS;
  const parts: string[] = [];
  let top = TOP;
  for (let first = 0; first < panels.length; first += COLUMNS) {
    const row = panels.slice(first, first + COLUMNS);
    row.forEach((panel, column) => {
      const left = MARGIN + column * (width + GAP);
      parts.push(`<text x="${left}" y="${top}" font-weight="600">${escaped(panel.title)}</text>`);
      parts.push(panel.draw(left, top + HEAD, width));
    });
    top += HEAD + Math.max(...row.map(({ height }) => height)) + FOOT;
  }
  const kinds = new Set(panels.flatMap((panel) => panel.kinds));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" font-family="system-ui, sans-serif" font-size="12">
<title>${escaped(title)}</title>
<style>${style}</style>
<rect class="page" width="${WIDTH}" height="${top}"/>
<text x="${MARGIN}" y="${MARGIN + 12}" font-size="17" font-weight="600">${escaped(title)}</text>
${kinds.size > 1 ? legend(kinds) : ""}
${parts.join("\n")}
</svg>
`;
}

function legend(kinds: ReadonlySet<Kind>): string {
  let left = MARGIN;
  return (Object.keys(legends) as Kind[])
    .filter((kind) => kinds.has(kind))
    .map((kind) => {
      const at = left;
      left += 34 + legends[kind].length * 6.6;
      return `<rect class="${kind}" x="${at}" y="45" width="11" height="11" rx="2"/><text class="quiet" x="${at + 17}" y="55">${legends[kind]}</text>`;
    })
    .join("\n");
}

/** A panel with a row for each, its name at the left and its value at the right of what is drawn between. */
function inRows(
  title: string,
  all: readonly { readonly kind: Kind }[],
  draw: (start: number, top: number, width: number, height: number) => string,
): Panel {
  const height = all.length * ROW;
  return {
    title,
    height,
    kinds: all.map(({ kind }) => kind),
    draw: (left, top, width) => draw(left + NAMES, top, width - NAMES - VALUES, height),
  };
}

/** Bars from nought, with the least and the most of the rounds. */
export function bars(title: string, unit: string, all: readonly Bar[]): Panel {
  return inRows(title, all, (start, top, width, height) => {
    const marks = ticks(Math.max(...all.map(({ high }) => high)));
    const scale = width / (marks.at(-1) as number);
    const x = (value: number) => fixed(start + value * scale);
    return [
      axis(marks, x, top, height, unit),
      ...all.map(({ name, kind, middle, low, high, inner }, row) => {
        const y = top + row * ROW + (ROW - BAR) / 2;
        const centre = y + BAR / 2;
        return [
          `<text class="end" x="${start - 8}" y="${centre + 4}">${escaped(name)}</text>`,
          `<rect class="${kind}" x="${start}" y="${y}" width="${fixed(middle * scale)}" height="${BAR}" rx="2"/>`,
          inner === undefined
            ? ""
            : `<rect class="inner" x="${start}" y="${y}" width="${fixed(inner * scale)}" height="${BAR}" rx="2"/>`,
          low === high ? "" : whisker(x(low), x(high), centre),
          `<text class="quiet" x="${fixed(start + high * scale + 6)}" y="${centre + 4}">${shown(middle)}</text>`,
        ].join("");
      }),
    ].join("\n");
  });
}

export interface Dot {
  readonly name: string;
  readonly kind: Kind;
  readonly value: number;
}

/** Dots on a logarithmic axis. */
export function dots(title: string, unit: string, all: readonly Dot[]): Panel {
  return inRows(title, all, (start, top, width, height) => {
    const marks = powers(all.map(({ value }) => value));
    const x = logarithmic(marks, start, width);
    return [
      axis(marks, x, top, height, unit),
      ...all.map(({ name, kind, value }, row) => {
        const centre = top + row * ROW + ROW / 2;
        return [
          `<text class="end" x="${start - 8}" y="${centre + 4}">${escaped(name)}</text>`,
          `<path class="grid" d="M${start} ${centre}H${x(value)}"/>`,
          `<circle class="${kind}" cx="${x(value)}" cy="${centre}" r="5"/>`,
          `<text class="quiet" x="${fixed(Number(x(value)) + 9)}" y="${centre + 4}">${shown(value)}</text>`,
        ].join("");
      }),
    ].join("\n");
  });
}

export interface Point {
  readonly at: number;
  readonly middle: number;
  readonly low: number;
  readonly high: number;
}

/** A curve over sizes that grow by powers of ten. */
export function line(title: string, unit: string, points: readonly Point[]): Panel {
  return {
    title,
    height: LINE_HEIGHT,
    kinds: ["ours"],
    draw(left, top, width) {
      const start = left + LINE_LEFT;
      const x = logarithmic(powers(points.map(({ at }) => at)), start + 30, width - LINE_LEFT - 60);
      const marks = ticks(Math.max(...points.map(({ high }) => high)));
      const most = marks.at(-1) as number;
      const y = (value: number) => fixed(top + LINE_HEIGHT * (1 - value / most));
      const bottom = top + LINE_HEIGHT;
      return [
        ...marks.map(
          (mark) =>
            `<path class="grid" d="M${start} ${y(mark)}H${left + width}"/><text class="quiet end" x="${start - 6}" y="${Number(y(mark)) + 4}">${short(mark)}</text>`,
        ),
        `<text class="quiet middle" transform="translate(${left + 8} ${top + LINE_HEIGHT / 2}) rotate(-90)">${escaped(unit)}</text>`,
        `<text class="quiet middle" x="${fixed(start + (width - LINE_LEFT) / 2)}" y="${bottom + 31}">how many, logarithmic</text>`,
        `<path class="curve" d="M${points.map(({ at, middle }) => `${x(at)} ${y(middle)}`).join("L")}"/>`,
        ...points.map(({ at, middle, low, high }) =>
          [
            `<path class="mark" d="M${x(at)} ${y(low)}V${y(high)}m-3 0h6M${Number(x(at)) - 3} ${y(low)}h6"/>`,
            `<circle class="ours" cx="${x(at)}" cy="${y(middle)}" r="4"/>`,
            `<text class="middle over" x="${x(at)}" y="${Number(y(high)) - 6}">${shown(middle)}</text>`,
            `<text class="quiet middle" x="${x(at)}" y="${bottom + 16}">${short(at)}</text>`,
          ].join(""),
        ),
      ].join("\n");
    },
  };
}

/** Lines down from the marks of an axis, each with its number; the unit below. */
function axis(
  marks: readonly number[],
  x: (value: number) => string,
  top: number,
  height: number,
  unit: string,
): string {
  const bottom = top + height;
  const middle = (Number(x(marks[0] as number)) + Number(x(marks.at(-1) as number))) / 2;
  return [
    ...marks.map(
      (mark) =>
        `<path class="grid" d="M${x(mark)} ${top}V${bottom + 4}"/><text class="quiet middle" font-size="11" x="${x(mark)}" y="${bottom + 16}">${short(mark)}</text>`,
    ),
    `<text class="quiet middle" font-size="11" x="${fixed(middle)}" y="${bottom + 30}">${escaped(unit)}</text>`,
  ].join("\n");
}

function whisker(from: string, to: string, y: number): string {
  return `<path class="mark" d="M${from} ${y}H${to}M${from} ${y - 3}v6M${to} ${y - 3}v6"/>`;
}

/** Three to five round numbers from nought to above the most. */
function ticks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most));
  const step =
    [0.25, 0.5, 1, 2, 2.5].map((part) => part * power).find((each) => most / each <= 4) ?? power * 5;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}

/** The powers of ten around some numbers. */
function powers(values: readonly number[]): number[] {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n));
}

function logarithmic(marks: readonly number[], start: number, width: number): (value: number) => string {
  const [from, to] = [Math.log10(marks[0] as number), Math.log10(marks.at(-1) as number)];
  return (value) => fixed(start + ((Math.log10(value) - from) / (to - from)) * width);
}

/** A number on an axis: 10 M, 25 k, 0.5. */
function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1e4 ? `${value / 1e3} k` : value.toLocaleString("en");
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
