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

function drawn({ title, days, series, limit }: DaysOptions, width: number): SVGElement {
  const totals = days.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = Math.max(...totals, 0);
  const isLimitShown = limit !== undefined && limit.value <= most * NEAR;
  const top = roundUp(Math.max(most, isLimitShown ? limit.value : 0, 1));
  const [inWidth, inHeight] = [width - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
  const step = inWidth / Math.max(1, days.length);
  const y = (value: number) => TOP + inHeight - (value / top) * inHeight;
  const bars = days.map((day, at) => {
    let below = 0;
    const parts = series.map(({ name, tone, values }) => {
      const value = values[at] ?? 0;
      const rect = svg("rect", {
        class: `fill ${tone}`,
        x: LEFT + at * step + step * 0.15,
        width: step * 0.7,
        y: y(below + value),
        height: Math.max(0, y(below) - y(below + value)),
      });
      below += value;
      return value > 0 ? { rect, words: `${name}: ${count(value)}` } : undefined;
    });
    const shown = parts.filter((part) => part !== undefined);
    const words = [`${day}: ${count(totals[at] ?? 0)}`, ...shown.map((part) => part.words)].join("\n");
    const whole = svg("rect", { class: "hover", x: LEFT + at * step, width: step, y: TOP, height: inHeight });
    return svg(
      "g",
      {},
      svg("title", {}, words),
      whole,
      shown.map(({ rect }) => rect),
    );
  });
  const every = Math.ceil(days.length / (width < NARROW ? 4 : 8));
  return svg(
    "svg",
    { width, height: HEIGHT, role: "img", "aria-label": `${title}. The table below has the numbers.` },
    [0, 0.5, 1].map((part) => [
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(top * part), y2: y(top * part) }),
      svg("text", { x: LEFT - 8, y: y(top * part) + 4, "text-anchor": "end" }, count(top * part)),
    ]),
    bars,
    days.map(
      (day, at) =>
        (days.length - 1 - at) % every === 0 &&
        svg(
          "text",
          {
            x: Math.min(LEFT + (at + 0.5) * step, width - HALF_A_DAY),
            y: HEIGHT - 8,
            "text-anchor": "middle",
          },
          shortDay(day),
        ),
    ),
    isLimitShown && [
      svg("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(limit.value), y2: y(limit.value) }),
      svg(
        "text",
        { class: "limit-name", x: width - RIGHT, y: y(limit.value) - 5, "text-anchor": "end" },
        limit.name,
      ),
    ],
  );
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
