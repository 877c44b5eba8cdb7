// The long forms of what three instances must survive, one after another, with a report: `npm run prove -- --help`.
import { parseArgs } from "node:util";
import { chance, type Scenario, scenarios } from "./scaled/scenarios.ts";
import { aWorld, type World } from "./scaled/world.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    seconds: { type: "string" },
    rounds: { type: "string", default: "1" },
    short: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [seed, rounds, seconds] = [values.seed, values.rounds, values.seconds ?? "1"].map(Number) as [
  number,
  number,
  number,
];
const chosen = scenarios.filter(({ name }) =>
  positionals.every((word) => name.toLowerCase().includes(word.toLowerCase())),
);

if (values.help || chosen.length === 0 || ![seed, rounds, seconds].every(Number.isFinite)) {
  console.log(`npm run prove -- [options] [words of a name]

  --seed N      the same chances again
  --seconds N   how long each fault lasts, in the place of its own length
  --rounds N    all of it so often
  --short       as short as in npm test

${scenarios.map(({ name, longMs }) => `  ${`${longMs / 1000} s`.padStart(5)}  ${name}`).join("\n")}`);
  process.exit(values.help ? 0 : 2);
}

await using world = await aWorld();
console.log(`seed ${seed}, ${world.urls.length} instances\n`);
for (let round = 1; round <= rounds; round++)
  for (const scenario of chosen) if (!(await proven(world, scenario, round))) process.exitCode = 1;

async function proven(world: World, scenario: Scenario, round: number): Promise<boolean> {
  const { name, longMs, shortMs, run } = scenario;
  const began = performance.now();
  const ms = values.seconds === undefined ? (values.short ? shortMs : longMs) : seconds * 1000;
  const { figures, problems } = await run(world, { ms, random: chance(seed + round) });
  const took = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"}  ${name}  (${took} s)`);
  for (const [figure, value] of Object.entries(figures)) console.log(`          ${figure}: ${value}`);
  for (const problem of problems) console.log(`        ! ${problem}`);
  console.log();
  return problems.length === 0;
}
