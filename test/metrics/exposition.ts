// Reads Prometheus' text format 0.0.4 as strictly as it is written down; knows nothing of what writes it.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const helpLine = new RegExp(`^# HELP (${NAME}) (.+)$`);
const typeLine = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`);
const sampleLine = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const finite = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Every metric of a text, by name. Throws at the first line that is not as it must be. */
export function exposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("The last line has no end.");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  let family: Family | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const complain = (what: string): never => {
      throw new Error(`${what}: ${line}`);
    };
    if (line.startsWith("#")) {
      const helped = helpLine.exec(line);
      const typed = typeLine.exec(line);
      if (helped) {
        if (help) complain("Two texts of help in a row");
        help = { name: helped[1] as string, text: unescapedHelp(helped[2] as string) };
      } else if (typed) {
        const [, name = "", type = ""] = typed;
        if (help?.name !== name) complain("A type without its help before it");
        if (families.has(name)) complain("A metric in two places");
        family = { name, type, help: help?.text as string, samples: [] };
        families.set(name, family);
        help = undefined;
      } else complain("Neither help nor a type");
      continue;
    }
    const [, name = "", labelText, value = ""] = sampleLine.exec(line) ?? complain("No sample");
    if (help || !family) return complain("A sample where a type belongs");
    if (!suffixesOf(family.type).some((suffix) => name === family?.name + suffix))
      complain(`No sample of ${family.name}`);
    const labels = labelText === undefined ? {} : labelsOf(labelText);
    const sample = { name, labels, value: numberOf(value) };
    const series = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(series)) complain("The same series twice");
    seen.add(series);
    family.samples.push(sample);
  }
  if (help) throw new Error(`Help without a type: ${help.name}`);
  for (const each of families.values()) check(each);
  return families;
}

function suffixesOf(type: string): readonly string[] {
  return type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ""; ) {
    const [pair, name = "", value = ""] = labelPair.exec(rest) ?? [];
    if (pair === undefined || name.startsWith("__") || name in labels)
      throw new Error(`No label, or one twice: ${rest}`);
    labels[name] = value.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
    rest = rest.slice(pair.length);
    if (pair.endsWith(",") && rest === "") throw new Error(`A label is missing: ${text}`);
  }
  return labels;
}

function unescapedHelp(text: string): string {
  if (/\\(?![\\n])/.test(text)) throw new Error(`An escape that there is not: ${text}`);
  return text.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
}

function numberOf(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  if (!finite.test(text)) throw new Error(`No number: ${text}`);
  return Number(text);
}

function check({ name, type, samples }: Family): void {
  const complain = (what: string): never => {
    throw new Error(`${name}: ${what}`);
  };
  if (samples.length === 0) complain("no samples");
  if ((type === "counter") !== name.endsWith("_total")) complain("counters end in _total, and nothing else");
  const names = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== "le");
  for (const { labels } of samples)
    if (
      Object.keys(labels)
        .filter((label) => label !== "le")
        .join() !== names.join()
    )
      complain("labels differ between samples");
  if (type === "counter")
    for (const { value } of samples) if (!(value >= 0 && value < Infinity)) complain(`counts ${value}`);
  if (type !== "histogram") return;
  const series = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest));
  for (const each of series.values()) checkBuckets(each, complain);
}

function checkBuckets(samples: readonly Sample[], complain: (what: string) => never): void {
  const buckets = samples.filter(({ name }) => name.endsWith("_bucket"));
  const sums = samples.filter(({ name }) => name.endsWith("_sum"));
  const counts = samples.filter(({ name }) => name.endsWith("_count"));
  if (sums.length !== 1 || counts.length !== 1) complain("one sum and one count belong to a histogram");
  let [bound, count] = [Number.NEGATIVE_INFINITY, 0];
  for (const { labels, value } of buckets) {
    const next = labels.le === undefined ? complain("a bucket without a bound") : numberOf(labels.le);
    if (next <= bound) complain("bounds must rise");
    if (value < count) complain("a bucket counts those of smaller ones too");
    [bound, count] = [next, value];
  }
  if (bound !== Number.POSITIVE_INFINITY) complain("no bucket for all");
  if (count !== counts[0]?.value) complain("the last bucket is not the count");
}
