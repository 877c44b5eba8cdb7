// Petstore beside what a user would pick instead: npm run bench -- --help
import { join } from "node:path";
import { judged, judgedEvenly } from "./aims.ts";
import { benches, type Scenario } from "./bench.ts";
import type { Table } from "./figures.ts";
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

const scenarios: readonly Scenario[] = [
  ...requestScenarios,
  ...processScenarios,
  ...sizeScenarios,
  ...growthScenarios,
  ...clientScenarios,
  ...diskScenarios,
  ...scaledScenarios,
];

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
  const began = performance.now();
  const machine = await surroundings();
  const { rounds, seconds, connections } = options.pace;
  const pace = ["pace", `${rounds} rounds of ${seconds} s, ${connections} connections`] as const;
  for (const [name, value] of [...machine, pace]) console.log(`${name.padEnd(10)}${value}`);

  const tables: Table[] = [];
  await using all = benches(options);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, async () => {
      await all[Symbol.asyncDispose]();
      process.exit(1);
    });
  for (const scenario of scenarios) {
    if (options.only && !options.only.includes(scenario.name)) continue;
    const from = performance.now();
    const told = all.missing.length;
    for (const table of await all.tablesOf(scenario)) {
      tables.push(table);
      console.log(`\n${printed(table)}`);
    }
    for (const { what, reason } of all.missing.slice(told)) console.error(`\nMISSING ${what}: ${reason}`);
    console.log(`\n(${scenario.name}: ${lasted(from)})`);
  }
  console.log(`\n${printedAims([...judged(tables), ...judgedEvenly(tables)])}\n`);
  const about = [...machine, pace, ["took", lasted(began)] as const];
  if (options.out !== undefined) await write(options.out, options, { tables, missing: all.missing, about });
  return all.missing.length === 0;
}

function lasted(from: number): string {
  const seconds = Math.round((performance.now() - from) / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

async function write(
  folder: string,
  options: Options,
  results: Pick<Results, "tables" | "missing" | "about">,
): Promise<void> {
  const plots = drawn(results.tables);
  const notes = notesIn(await Bun.file(join(import.meta.dir, "notes.md")).text());
  for (const { name, svg } of plots) await Bun.write(join(folder, `plots/${name}.svg`), svg);
  await Bun.write(join(folder, "RESULTS.md"), report({ ...results, plots, notes }, options));
  console.log(`Written to ${join(folder, "RESULTS.md")}`);
}
