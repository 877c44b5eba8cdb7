// Petstore beside what a user would pick instead: npm run bench -- --help
import { join } from "node:path";
import { judged } from "./aims.ts";
import { aBench, type Scenario } from "./bench.ts";
import type { Table } from "./figures.ts";
import { install } from "./install.ts";
import { surroundings } from "./machine.ts";
import { help, type Options, readOptions } from "./options.ts";
import { drawn } from "./plots.ts";
import { printed, printedAims, report } from "./report.ts";
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
  if (options) await run(options);
  else console.log(help(scenarios));
  process.exit(0);
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exit(1);
}

async function run(options: Options): Promise<void> {
  await install();
  const about = await surroundings();
  for (const [name, value] of about) console.log(`${name.padEnd(10)}${value}`);
  const { rounds, seconds, connections } = options.pace;
  console.log(`${"pace".padEnd(10)}${rounds} rounds of ${seconds} s, ${connections} connections\n`);

  const tables: Table[] = [];
  await using bench = aBench(options);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, async () => {
      await bench[Symbol.asyncDispose]();
      process.exit(1);
    });
  for (const scenario of scenarios) {
    if (options.only && !options.only.includes(scenario.name)) continue;
    for (const table of await scenario.run(bench)) {
      tables.push(table);
      console.log(`${printed(table)}\n`);
    }
  }
  const aims = judged(tables);
  console.log(`${printedAims(aims)}\n`);
  if (options.out === undefined) return;
  const plots = drawn(tables);
  const names = plots.map(({ name }) => name);
  await Bun.write(join(options.out, "RESULTS.md"), report(tables, aims, about, names, options));
  for (const { name, svg } of plots) await Bun.write(join(options.out, `plots/${name}.svg`), svg);
  console.log(`Written to ${join(options.out, "RESULTS.md")}`);
}
