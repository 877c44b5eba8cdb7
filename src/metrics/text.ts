import { families } from "./families.ts";
import type { Distribution, Family, Sample } from "./family.ts";
import type { Figures } from "./figures.ts";
import type { Meters } from "./meters.ts";
import { processFigures } from "./process.ts";

/** All metrics as they are now, in Prometheus' text format 0.0.4. */
export function metricsText(meters: Meters, figures: Figures): string {
  const moment = { meters, figures, process: processFigures() };
  let text = "";
  for (const family of families) {
    const lines =
      family.type === "histogram"
        ? family.read(moment).map((each) => distributionLines(family.name, each))
        : family.read(moment).map((each) => sampleLine(family.name, each));
    if (lines.length > 0) text += headOf(family) + lines.join("");
  }
  return text;
}

function headOf({ name, type, help }: Family): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}

function sampleLine(name: string, { labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${numberText(value)}\n`;
}

/** Each bucket counts all up to its bound, those of smaller ones included. */
function distributionLines(name: string, { labels, bounds, row }: Distribution): string {
  let [text, count] = ["", 0];
  for (const [bucket, bound] of [...bounds, Number.POSITIVE_INFINITY].entries()) {
    count += row[bucket] as number;
    text += sampleLine(`${name}_bucket`, { labels: { ...labels, le: numberText(bound) }, value: count });
  }
  text += sampleLine(`${name}_sum`, { labels, value: row[bounds.length + 1] as number });
  return text + sampleLine(`${name}_count`, { labels, value: count });
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? "+Inf" : String(value);
}
