import { type Child, fill, h, svg } from "./dom.ts";
import { count } from "./words.ts";

/** A row of numbers, one for each day; its tone is its colour. */
export interface Series {
  readonly name: string;
  readonly tone: string;
  readonly values: readonly number[];
}

export interface DaysOptions {
  readonly title: string;
  /** `2026-11-15`, oldest first. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** A line that should not be crossed, if it is near. */
  readonly limit?: { readonly name: string; readonly value: number };
}

const HEIGHT = 220;
const [TOP, RIGHT, BOTTOM, LEFT] = [20, 8, 26, 52];
const IN_HEIGHT = HEIGHT - TOP - BOTTOM;
/** Half of what the name of a day takes. */
const HALF_A_DAY = 22;
const NARROW = 520;
/** A limit ten times above everything would make the bars flat. */
const NEAR = 10;

/** Bars of days, the series on top of each other; drawn in the width that there is, and as a table for those who want numbers. */
export function daysPlot(options: DaysOptions): HTMLElement {
  const { title, days, series } = options;
  const place = h("div", { class: "plot" });
  const legend = h(
    "ul",
    { class: "legend", "aria-hidden": "true" },
    series.map(({ name, tone }) => h("li", {}, h("span", { class: `swatch ${tone}` }), name)),
  );
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0) fill(place, drawn(options, width));
  }).observe(place);
  const numbers = h(
    "table",
    {},
    h("caption", { class: "heard" }, title),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Day", ...series.map(({ name }) => name)].map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    h(
      "tbody",
      {},
      days.map((day, at) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, day),
          series.map(({ values }) => h("td", { class: "number" }, count(values[at] ?? 0))),
        ),
      ),
    ),
  );
  return h(
    "figure",
    {},
    h("figcaption", {}, title),
    place,
    legend,
    h("details", { class: "numbers" }, h("summary", {}, "The same as a table"), numbers),
  );
}

/** Names with a bar each, the longest first. */
export function barsPlot(
  title: string,
  bars: readonly { name: Child; value: number }[],
  none: string,
): HTMLElement {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return h(
    "figure",
    {},
    h("figcaption", {}, title),
    bars.length === 0
      ? h("p", { class: "soft" }, none)
      : h(
          "ul",
          { class: "bars" },
          bars.map(({ name, value }) =>
            h(
              "li",
              {},
              h("span", { class: "bar-name" }, name),
              h("span", { class: "number" }, count(value)),
              svg(
                "svg",
                {
                  class: "bar-line",
                  viewBox: "0 0 100 4",
                  preserveAspectRatio: "none",
                  "aria-hidden": "true",
                },
                svg("rect", { class: "track", width: 100, height: 4 }),
                svg("rect", { class: "main-fill", width: Math.max(0.5, (value / most) * 100), height: 4 }),
              ),
            ),
          ),
        ),
  );
}

/** Where values and days are in the drawing. */
interface Scale {
  readonly width: number;
  readonly top: number;
  /** What a day has. */
  readonly step: number;
  y(value: number): number;
}

function drawn(options: DaysOptions, width: number): SVGElement {
  const { title, days, series, limit } = options;
  const totals = days.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = Math.max(...totals, 0);
  const isLimitShown = limit !== undefined && limit.value <= most * NEAR;
  const top = roundUp(Math.max(most, isLimitShown ? limit.value : 0, 1));
  const scale: Scale = {
    width,
    top,
    step: (width - LEFT - RIGHT) / Math.max(1, days.length),
    y: (value) => TOP + IN_HEIGHT - (value / top) * IN_HEIGHT,
  };
  return svg(
    "svg",
    { width, height: HEIGHT, role: "img", "aria-label": `${title}. The table below has the numbers.` },
    [0, top / 2, top].map((value) => [
      line("grid", value, scale),
      svg("text", { x: LEFT - 8, y: scale.y(value) + 4, "text-anchor": "end" }, count(value)),
    ]),
    days.map((day, at) => bar(`${day}: ${count(totals[at] ?? 0)}`, at, series, scale)),
    dayNames(days, scale),
    isLimitShown && [
      line("limit", limit.value, scale),
      svg(
        "text",
        { class: "limit-name", x: width - RIGHT, y: scale.y(limit.value) - 5, "text-anchor": "end" },
        limit.name,
      ),
    ],
  );
}

function line(kind: string, value: number, { width, y }: Scale): SVGElement {
  return svg("line", { class: kind, x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
}

/** A day: its series on top of each other, and in words for whoever points at it. */
function bar(title: string, at: number, series: readonly Series[], { step, y }: Scale): SVGElement {
  const x = LEFT + at * step;
  const words = [title];
  let below = 0;
  const parts = series.map(({ name, tone, values }) => {
    const value = values[at] ?? 0;
    if (value === 0) return null;
    words.push(`${name}: ${count(value)}`);
    const [from, to] = [y(below), y(below + value)];
    below += value;
    return svg("rect", {
      class: `fill ${tone}`,
      x: x + step * 0.15,
      width: step * 0.7,
      y: to,
      height: from - to,
    });
  });
  const whole = svg("rect", { class: "hover", x, width: step, y: TOP, height: IN_HEIGHT });
  return svg("g", {}, svg("title", {}, words.join("\n")), whole, parts);
}

/** As many days as there is room for, today among them. */
function dayNames(days: readonly string[], { width, step }: Scale): Child {
  const every = Math.ceil(days.length / (width < NARROW ? 4 : 8));
  return days.map((day, at) => {
    if ((days.length - 1 - at) % every !== 0) return null;
    const x = Math.min(LEFT + (at + 0.5) * step, width - HALF_A_DAY);
    return svg("text", { x, y: HEIGHT - 8, "text-anchor": "middle" }, shortDay(day));
  });
}

/** The next number that reads well: 1, 2 or 5, and noughts; even, so that its half is whole. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8, 10].find((each) => value <= each * power) ?? 10;
  return Math.max(2, step * power);
}

const dayWords = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

function shortDay(day: string): string {
  return dayWords.format(new Date(`${day}T00:00:00Z`));
}
