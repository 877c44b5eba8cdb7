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
        ? distributionLines(family.name, family.bounds, family.read(moment))
        : family.read(moment).map((each) => sampleLine(family.name, each));
    if (lines.length > 0) text += headOf(family) + lines.join("");
  }
  return text;
}

function headOf({ name, type, help }: Family): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}

function sampleLine(name: string, { labels, value }: Sample): string {
  return `${name}${inBraces(pairsOf(labels))} ${numberText(value)}\n`;
}

/** Each bucket counts all up to its bound, those of smaller ones included. Most lines are these: what they share is made once. */
function distributionLines(
  name: string,
  bounds: readonly number[],
  distributions: readonly Distribution[],
): string[] {
  const ends = [...bounds, Number.POSITIVE_INFINITY].map((bound) => `le="${numberText(bound)}"} `);
  return distributions.map(({ labels, row }) => {
    const pairs = pairsOf(labels);
    const opening = `${name}_bucket{${pairs}${pairs === "" ? "" : ","}`;
    let [text, count] = ["", 0];
    for (const [bucket, end] of ends.entries()) {
      count += row[bucket] as number;
      text += `${opening}${end}${count}\n`;
    }
    const shown = inBraces(pairs);
    return `${text}${name}_sum${shown} ${row[ends.length]}\n${name}_count${shown} ${count}\n`;
  });
}

function pairsOf(labels: Sample["labels"]): string {
  return Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(",");
}

function inBraces(pairs: string): string {
  return pairs === "" ? "" : `{${pairs}}`;
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escaped(text: string): string {
  return /[\\"\n]/.test(text) ? text.replace(/[\\"\n]/g, (letter) => escapes[letter] as string) : text;
}

function numberText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? "+Inf" : String(value);
}
