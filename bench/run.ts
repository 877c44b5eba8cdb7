// Petstore beside what a user would pick instead: npm run bench -- --help
import { join } from "node:path";
import { aboutRun, lasting } from "./about.ts";
import { judged, judgedEvenly } from "./aims.ts";
import { benches, type Scenario } from "./bench.ts";
import { install } from "./install.ts";
import { surroundings } from "./machine.ts";
import { help, type Options, readOptions } from "./options.ts";
import { drawn } from "./plots.ts";
import { notesIn, printed, printedAims, type Results, report } from "./report.ts";
import { clientScenarios } from "./scenarios/clients.ts";
import { diskScenarios } from "./scenarios/disk.ts";
import { growthScenarios } from "./scenarios/growth.ts";
import { processScenarios } from "./scenarios/process.ts";
import { requestScenarios } from "./scenarios/requests.ts";
import { scaledScenarios } from "./scenarios/scaled.ts";
import { sizeScenarios } from "./scenarios/sizes.ts";
import { type About, begunRun, type Run, resumedRun } from "./sittings.ts";

const scenarios: readonly Scenario[] = [
  ...requestScenarios,
  ...processScenarios,
  ...sizeScenarios,
  ...growthScenarios,
  ...clientScenarios,
  ...diskScenarios,
  ...scaledScenarios,
];

/** The last whole run, as far as it came. */
const KEPT = join(import.meta.dir, ".tmp/run.json");

try {
  const options = readOptions(
    process.argv.slice(2),
    scenarios.map(({ name }) => name),
  );
  if (!options) console.log(help(scenarios));
  process.exit(options && !(await run(options)) ? 1 : 0);
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exit(1);
}

async function run(options: Options): Promise<boolean> {
  await install();
  const { rounds, seconds, connections, patienceSeconds } = options.pace;
  const about = [
    ...(await surroundings()),
    ["pace", `${rounds} rounds of ${seconds} s, ${connections} connections`] as const,
  ];
  for (const [name, value] of about) console.log(`${name.padEnd(10)}${value}`);
  const args = process.argv.slice(2);
  const command = ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  const sitting = { command, patienceSeconds };
  const run = options.isResumed
    ? await resumedRun(about, sitting, KEPT)
    : begunRun(about, sitting, options.isWhole ? KEPT : undefined);

  await using all = benches(options);
  let ending: Promise<void> | undefined;
  // A terminal, or a program that starts us, may say it twice: what runs and what lies about goes all the same.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      ending ??= Promise.resolve(all[Symbol.asyncDispose]()).finally(() => process.exit(1));
    });
  const asked = scenarios.filter(({ name }) => options.only?.includes(name) ?? true);
  const isComplete = () => asked.every(({ name }) => run.takenOf(name));
  for (const scenario of run.wanted(asked)) {
    const taken = await all.taken(scenario);
    // What failed because its servers were ended is no result.
    await ending;
    for (const table of taken.tables) console.log(`\n${printed(table)}`);
    for (const { what, reason } of taken.missing) console.error(`\nMISSING ${what}: ${reason}`);
    console.log(`\n(${scenario.name}: ${lasting(taken.seconds)})`);
    await run.take(scenario.name, taken);
    // A later sitting makes the report better step by step, and may be stopped at any time.
    if (isComplete()) await write(options, resultsOf(run, asked, about));
  }
  const { tables, missing } = resultsOf(run, asked, about);
  console.log(`\n${printedAims([...judged(tables), ...judgedEvenly(tables)])}\n`);
  return missing.length === 0;
}

type Figures = Pick<Results, "tables" | "missing" | "about">;

function resultsOf(run: Run, asked: readonly Scenario[], about: About): Figures {
  const taken = asked.flatMap(({ name }) => run.takenOf(name) ?? []);
  // A peer that failed its check is missing in many scenarios.
  const missing = new Map(taken.flatMap((each) => each.missing).map((each) => [each.what, each]));
  return {
    tables: taken.flatMap(({ tables }) => tables),
    missing: Array.from(missing.values()),
    about: aboutRun(about, run.sittings(), taken),
  };
}

async function write(options: Options, figures: Figures): Promise<void> {
  const { out: folder } = options;
  if (folder === undefined) return;
  const plots = drawn(figures.tables);
  const notes = notesIn(await Bun.file(join(import.meta.dir, "notes.md")).text());
  for (const { name, svg } of plots) await Bun.write(join(folder, `plots/${name}.svg`), svg);
  await Bun.write(join(folder, "RESULTS.md"), report({ ...figures, plots, notes }, options));
  console.log(`Written to ${join(folder, "RESULTS.md")}`);
}
