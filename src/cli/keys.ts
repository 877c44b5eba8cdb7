import { Command, Option } from "commander";
import type { Key } from "../contract/access-shapes.ts";
import { ROTATION_DAYS, ROTATION_DAYS_DEFAULT } from "../contract/bounds.ts";
import { roles } from "../contract/route.ts";
import { operator } from "../core/clients.ts";
import { shownKey } from "../core/keys.ts";
import { some } from "../core/some.ts";
import { act, given } from "./act.ts";
import { positive, wholeNumber } from "./clients.ts";
import { print, Refused, table } from "./say.ts";
import { inspecting, withDatabase, withSettings } from "./settings.ts";

type CreatedKey = Key & { readonly key: string };

interface CreateOptions {
  readonly client?: number;
  readonly role: string;
  readonly name?: string;
  readonly expiresInDays?: number;
  readonly json?: true;
}

/** `petstore keys`: what programs sign in with. */
export function keyCommands(): Command {
  const keys = new Command("keys")
    .description("Make, list, rotate and revoke API keys.")
    .addHelpText("after", "\nExample:\n  petstore keys create --client 2 --role staff");
  for (const each of [create(), list(), rotate(), revoke()])
    keys.addCommand(withSettings(each, ["databaseUrl"]));
  return keys;
}

function create(): Command {
  return new Command("create")
    .description("Make an API key. It is shown this once.")
    .option("--client <id>", "The client that it belongs to; without one it is the operator's own.", positive)
    .addOption(new Option("--role <role>", "What it may do.").choices([...roles]).default("customer"))
    .option("--name <name>", "What it is for.")
    .option("--expires-in-days <n>", "When it stops working; without it, never.", positive)
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      "\nExamples:\n  petstore keys create --client 2\n  petstore keys create --client 2 --role staff --name till --expires-in-days 90\n  petstore keys create --role admin",
    )
    .action(async ({ client, role, name, expiresInDays, json, ...options }: CreateOptions) => {
      const clientId = client ?? (await operatorId(options));
      const key = await act<CreatedKey>(options, "admin.keys.create", {
        clientId,
        body: given({ role, name, expiresInDays }),
      });
      print(json === true, key, lines(key));
    });
}

function list(): Command {
  return new Command("list")
    .description("List keys; their secrets are not kept.")
    .option("--client <id>", "Only the keys of this client.", positive)
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore keys list --client 2")
    .action(async ({ client, json, ...options }: { client?: number; json?: true }) => {
      const keys = await inspecting(options, async ({ reads: store }) => {
        if (client !== undefined && !(await store.client(client)))
          throw new Refused(`There is no client ${client}. Find ids with 'petstore clients list'.`);
        return (await store.keys(client ?? null)).map((key) => shownKey(key, Date.now()));
      });
      print(json === true, keys, table(keys.map(row), "There are no keys yet: petstore keys create"));
    });
}

function rotate(): Command {
  return new Command("rotate")
    .description("Replace a key by a new one, which is shown this once.")
    .argument("<id>", "The key's id, as the list shows it.", positive)
    .option(
      "--overlap-days <n>",
      `How long the old key still works, 0 to ${ROTATION_DAYS} days; 0 ends it at once.`,
      wholeNumber,
      ROTATION_DAYS_DEFAULT,
    )
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore keys rotate 7 --overlap-days 7")
    .action(
      async (keyId: number, { overlapDays, json, ...options }: { overlapDays: number; json?: true }) => {
        const key = await act<CreatedKey>(options, "admin.keys.rotate", { keyId, body: { overlapDays } });
        print(json === true, key, [...lines(key), whatBecomesOf(keyId, overlapDays)]);
      },
    );
}

function revoke(): Command {
  return new Command("revoke")
    .description("Stop a key from working, within a second, on a running server too.")
    .argument("<id>", "The key's id, as the list shows it.", positive)
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore keys revoke 7")
    .action(async (keyId: number, { json, ...options }: { json?: true }) => {
      await act(options, "admin.keys.revoke", { keyId });
      print(json === true, { id: keyId }, `Key ${keyId} is revoked.`);
    });
}

function operatorId(options: Readonly<Record<string, unknown>>): Promise<number> {
  return withDatabase(options, ({ transact }) =>
    transact(async (store) => (await operator(store, Date.now())).id),
  );
}

function lines({ key, id, clientId, role }: CreatedKey): string[] {
  return [key, "", `Key ${id} of client ${clientId}, role ${role}. Keep it: it is not shown again.`];
}

function whatBecomesOf(old: number, overlapDays: number): string {
  if (overlapDays === 0) return `Key ${old}, which it replaces, no longer works.`;
  return `Key ${old}, which it replaces, goes on working for ${some(overlapDays, "day")}, if it does not expire before.`;
}

function row({ id, clientId, role, name, lastFour, lastUsedAt, expiresAt, revokedAt, bannedUntil }: Key) {
  return { id, clientId, role, name, key: `...${lastFour}`, lastUsedAt, expiresAt, revokedAt, bannedUntil };
}
