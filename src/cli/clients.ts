import { Command, InvalidArgumentError, Option } from "commander";
import { createClient } from "../core/clients.ts";
import { type Plan, plans } from "../core/plans.ts";
import type { ClientRecord } from "../core/ports.ts";
import { print, table, time } from "./say.ts";
import { withDatabase, withSettings } from "./settings.ts";

interface CreateOptions {
  readonly name: string;
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly json?: true;
}

/** `petstore clients`: who the keys belong to. */
export function clientCommands(): Command {
  const create = new Command("create")
    .description("Make a client.")
    .requiredOption("--name <name>", "What the client is called.")
    .addOption(new Option("--plan <plan>", "Its plan.").choices(Object.keys(plans)).default("free"))
    .option("--per-minute <n>", "Requests per minute; enterprise only.", positive)
    .option("--per-day <n>", "Requests per day; enterprise only.", positive)
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      "\nExamples:\n  petstore clients create --name Shop --plan pro\n  petstore clients create --name Big --plan enterprise --per-minute 5000 --per-day 2000000",
    )
    .action(async (options: CreateOptions) => {
      const client = await withDatabase({ ...options }, ({ transact }) =>
        transact((store) => createClient(store, options, Date.now())),
      );
      print(
        options.json === true,
        shown(client),
        `Client ${client.id} "${client.name}" on the ${client.plan} plan.\nMake a key for it: petstore keys create --client ${client.id}`,
      );
    });
  const list = new Command("list")
    .description("List all clients.")
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore clients list --json")
    .action(async (options: { json?: true }) => {
      const clients = await withDatabase(options, async ({ reads }) => (await reads.clients()).map(shown));
      print(
        options.json === true,
        clients,
        table(clients, "There are no clients yet: petstore clients create --name NAME"),
      );
    });
  return new Command("clients")
    .description("Make and list clients.")
    .addHelpText("after", "\nExample:\n  petstore clients create --name Shop --plan pro")
    .addCommand(withSettings(create, ["databaseUrl"]))
    .addCommand(withSettings(list, ["databaseUrl"]));
}

function shown({ createdAt, suspendedAt, ...client }: ClientRecord) {
  return {
    ...client,
    createdAt: time(createdAt),
    ...(suspendedAt !== null && { suspendedAt: time(suspendedAt) }),
  };
}

/** A whole number above zero, as a flag gives it. */
export function positive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}
