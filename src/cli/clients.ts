import { Command, InvalidArgumentError, Option } from "commander";
import type { Client } from "../contract/access-shapes.ts";
import { plans } from "../contract/plans.ts";
import type { ClientRecord } from "../core/ports.ts";
import { some } from "../core/some.ts";
import { act, given } from "./act.ts";
import { print, table, time } from "./say.ts";
import { configOf, inspecting, sameStore, withSettings } from "./settings.ts";

interface ChangeOptions {
  readonly name?: string;
  readonly plan?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly json?: true;
}

/** `petstore clients`: who the limits apply to. */
export function clientCommands(): Command {
  const create = command("create", "Make a client.")
    .requiredOption("--name <name>", "What the client is called.")
    .addOption(new Option("--plan <plan>", "Its plan.").choices(Object.keys(plans)).default("free"))
    .option("--per-minute <n>", "Requests per minute; enterprise only.", positive)
    .option("--per-day <n>", "Requests per day; enterprise only.", positive)
    .addHelpText(
      "after",
      "\nExamples:\n  petstore clients create --name Shop --plan pro\n  petstore clients create --name Big --plan enterprise --per-minute 5000 --per-day 2000000",
    )
    .action(async (options: ChangeOptions) => {
      const client = await act<Client>({ ...options }, "admin.clients.create", { body: fieldsOf(options) });
      const next = `Make a key for it: petstore keys create --client ${client.id}${sameStore(configOf({ ...options }))}`;
      print(options.json === true, client, [sentence(client), next]);
    });
  const list = command("list", "List all clients.")
    .addHelpText("after", "\nExample:\n  petstore clients list --json")
    .action(async (options: { json?: true }) => {
      const clients = await inspecting(options, async ({ reads }) => (await everyClient(reads)).map(shown));
      print(
        options.json === true,
        clients,
        table(clients, "There are no clients yet: petstore clients create --name NAME"),
      );
    });
  const change = command("change", "Change a client's name, plan or numbers; what was counted stays.")
    .argument("<id>", "The client's id.", positive)
    .option("--name <name>", "Its new name.")
    .addOption(new Option("--plan <plan>", "Its new plan.").choices(Object.keys(plans)))
    .option("--per-minute <n>", "Requests per minute; enterprise only.", positive)
    .option("--per-day <n>", "Requests per day; enterprise only.", positive)
    .addHelpText("after", "\nExample:\n  petstore clients change 2 --plan business")
    .action(async (clientId: number, options: ChangeOptions) => {
      const client = await act<Client>({ ...options }, "admin.clients.update", {
        clientId,
        body: fieldsOf(options),
      });
      print(options.json === true, client, sentence(client));
    });
  const remove = command("remove", "Remove a client without open orders, and revoke its keys.")
    .argument("<id>", "The client's id.", positive)
    .addHelpText("after", "\nExample:\n  petstore clients remove 2")
    .action(async (clientId: number, options: { json?: true }) => {
      await act({ ...options }, "admin.clients.remove", { clientId });
      print(options.json === true, { id: clientId }, `Client ${clientId} is removed.`);
    });
  const all = [create, list, change, suspension("suspend", true), suspension("resume", false), remove];
  const clients = new Command("clients")
    .description("Make, list, change, suspend and remove clients.")
    .addHelpText("after", "\nExample:\n  petstore clients create --name Shop --plan pro");
  for (const each of all) clients.addCommand(withSettings(each, ["databaseUrl"]));
  return clients;
}

/** A whole number above zero, as a flag gives it. */
export function positive(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}

/** A whole number from zero, as a flag gives it. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number.");
  return value;
}

function suspension(name: "suspend" | "resume", suspended: boolean): Command {
  const what = suspended
    ? "Refuse all keys of a client, within a second."
    : "Let a suspended client's keys in again.";
  return command(name, what)
    .argument("<id>", "The client's id.", positive)
    .addHelpText("after", `\nExample:\n  petstore clients ${name} 2`)
    .action(async (clientId: number, options: { json?: true }) => {
      const client = await act<Client>({ ...options }, "admin.clients.update", {
        clientId,
        body: { suspended },
      });
      print(
        options.json === true,
        client,
        `Client ${client.id} "${client.name}" is ${suspended ? "suspended" : "let in again"}.`,
      );
    });
}

function command(name: string, description: string): Command {
  return new Command(name).description(description).option("--json", "Print JSON.");
}

function fieldsOf({ name, plan, perMinute, perDay }: ChangeOptions): Record<string, unknown> {
  return given({ name, plan, perMinute, perDay });
}

function sentence({ id, name, plan, perMinute, perDay }: Client): string {
  return `Client ${id} "${name}" on the ${plan} plan: ${some(perMinute, "request")} a minute, ${perDay} a day.`;
}

function shown({ suspendedAt, createdAt, ...client }: ClientRecord) {
  return { ...client, suspended: suspendedAt !== null, createdAt: time(createdAt) };
}

async function everyClient(reads: {
  clients(query: { descending: boolean; limit: number }): unknown;
}): Promise<ClientRecord[]> {
  return (await reads.clients({ descending: false, limit: Number.MAX_SAFE_INTEGER })) as ClientRecord[];
}
