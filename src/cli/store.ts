import { Command } from "commander";
import { openapi } from "../contract/openapi.ts";
import { yamlOf } from "../contract/yaml.ts";
import { operator } from "../core/clients.ts";
import { loadDemo } from "../core/demo.ts";
import { Unavailable } from "../core/failure.ts";
import { rulesOf } from "../core/rules.ts";
import { some } from "../core/some.ts";
import type { Diagnosis } from "../store/doctor.ts";
import { DAMAGE_EXIT, Exit, isKeptOut, print, Refused, STANDARD_OUTPUT, writeAll } from "./say.ts";
import { configOf, inspecting, makingDatabase, withSettings } from "./settings.ts";

/** `petstore migrate`: the tables brought up to date. */
export function migrateCommand(): Command {
  const command = new Command("migrate")
    .description("Make the database, or bring its tables up to date. A start does the same.")
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore migrate --database-url ./data/petstore.db")
    .action((options: { json?: true }) =>
      makingDatabase(options, async ({ migrated }) => {
        const lines =
          migrated.length === 0 ? "The database is up to date." : migrated.map((name) => `applied: ${name}`);
        print(options.json === true, { applied: migrated }, lines);
      }),
    );
  return withSettings(command, ["databaseUrl"]);
}

/** `petstore demo`: something to try the API with. */
export function demoCommand(): Command {
  const command = new Command("demo")
    .description("Load a small catalogue into an empty store.")
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore demo")
    .action((options: { json?: true }) =>
      makingDatabase(options, async ({ transact }) => {
        const config = configOf(options);
        const now = Date.now();
        const loaded = await transact(async (store) => {
          if (!(await store.isEmpty()))
            throw new Refused("The store already has a catalogue; nothing was changed.");
          return loadDemo(store, (await operator(store, now)).id, rulesOf(config), now);
        });
        print(
          options.json === true,
          loaded,
          `Loaded ${some(loaded.categories, "category", "categories")} and ${some(loaded.pets, "pet")}.`,
        );
      }),
    );
  return withSettings(command, ["databaseUrl", "newPetStock"]);
}

/** `petstore doctor`: proof that the store is whole. */
export function doctorCommand(): Command {
  const command = new Command("doctor")
    .description("Prove that ledger, stock, status, orders and references of the whole store agree.")
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      "\nExamples:\n  petstore doctor\n  petstore doctor --json\n\nExit code 3 means that damage was found.",
    )
    .action(async (options: { json?: true }) => {
      const { checked, counts, findings } = await diagnosis(options);
      const counted = Object.entries(counts).map(([name, count]) => `${name}: ${count}`);
      const verdicts = checked.flatMap((check) => {
        const found = findings.filter((finding) => finding.check === check);
        const wrong = found.map(({ message }) => `WRONG  ${check}: ${message}`);
        return found.length === 0 ? `ok     ${check}` : wrong;
      });
      const end =
        findings.length === 0
          ? "Nothing is wrong."
          : `Found wrong: ${findings.length}. Restore a backup, or mend the rows named above.`;
      const lines = [`Looked at ${counted.join(", ") || "what can be read"}`, ...verdicts, end];
      print(options.json === true, { counts, findings }, lines);
      if (findings.length > 0) throw new Exit(DAMAGE_EXIT);
    });
  return withSettings(command, ["databaseUrl"]);
}

/** A file that is no database any more is a finding too; one that this user may not open is none. */
async function diagnosis(options: Readonly<Record<string, unknown>>): Promise<Diagnosis> {
  const check = "the file is whole";
  try {
    return await inspecting(options, (inspected) => inspected.diagnose());
  } catch (error) {
    if (!(error instanceof Unavailable) || isKeptOut(error)) throw error;
    const message = error.cause instanceof Error ? error.cause.message : String(error.cause);
    return { checked: [check], counts: {}, findings: [{ check, message }] };
  }
}

/** `petstore openapi`: the document of the API. */
export function openapiCommand(): Command {
  const command = new Command("openapi")
    .description("Print the OpenAPI document.")
    .option("--yaml", "As YAML instead of JSON.")
    .addHelpText("after", "\nExamples:\n  petstore openapi > openapi.json\n  petstore openapi --yaml")
    .action((options: { yaml?: true }) => {
      const document = openapi({ sunsetAt: configOf(options).petGetSunsetAt });
      writeAll(STANDARD_OUTPUT, `${options.yaml ? yamlOf(document) : JSON.stringify(document, null, 2)}\n`);
    });
  return withSettings(command, ["petGetSunsetAt"]);
}
