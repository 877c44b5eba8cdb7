import { Command, Option } from "commander";
import { type Role, roles } from "../contract/route.ts";
import { createKey, revokeKey } from "../core/clients.ts";
import { KEY_BYTES } from "../core/keys.ts";
import type { KeyRecord } from "../core/ports.ts";
import { positive } from "./clients.ts";
import { print, table, time } from "./say.ts";
import { withDatabase, withSettings } from "./settings.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

interface CreateOptions {
  readonly client?: number;
  readonly role: Role;
  readonly name?: string;
  readonly expiresInDays?: number;
  readonly json?: true;
}

/** `petstore keys`: what programs sign in with. */
export function keyCommands(): Command {
  const create = new Command("create")
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
    .action(async (options: CreateOptions) => {
      const now = Date.now();
      const expiresAt =
        options.expiresInDays === undefined ? undefined : now + options.expiresInDays * DAY_MS;
      const { client: clientId, role, name } = options;
      const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      const { key, ...record } = await withDatabase({ ...options }, ({ transact }) =>
        transact((store) => createKey(store, { clientId, role, name, expiresAt }, bytes, now)),
      );
      print(
        options.json === true,
        { ...shown(record), key },
        `${key}\n\nKey ${record.id} of client ${record.clientId}, role ${record.role}. Keep it: it is not shown again.`,
      );
    });
  const list = new Command("list")
    .description("List keys; their secrets are not kept.")
    .option("--client <id>", "Only the keys of this client.", positive)
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore keys list --client 2")
    .action(async (options: { client?: number; json?: true }) => {
      const keys = await withDatabase({ ...options }, async ({ reads }) =>
        (await reads.keys(options.client ?? null)).map(shown),
      );
      print(options.json === true, keys, table(keys, "There are no keys yet: petstore keys create"));
    });
  const revoke = new Command("revoke")
    .description("Stop a key from working, within a second, on a running server too.")
    .argument("<id>", "The key's id, as the list shows it.", positive)
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore keys revoke 7")
    .action(async (id: number, options: { json?: true }) => {
      const key = await withDatabase(options, ({ transact }) =>
        transact((store) => revokeKey(store, id, Date.now())),
      );
      print(options.json === true, shown(key), `Key ${key.id} is revoked since ${time(key.revokedAt)}.`);
    });
  return new Command("keys")
    .description("Make, list and revoke API keys.")
    .addHelpText("after", "\nExample:\n  petstore keys create --client 2 --role staff")
    .addCommand(withSettings(create, ["databaseUrl"]))
    .addCommand(withSettings(list, ["databaseUrl"]))
    .addCommand(withSettings(revoke, ["databaseUrl"]));
}

function shown({ id, clientId, role, name, lastFour, createdAt, expiresAt, revokedAt }: KeyRecord) {
  return {
    id,
    clientId,
    role,
    name: name ?? undefined,
    key: `...${lastFour}`,
    createdAt: time(createdAt),
    expiresAt: time(expiresAt),
    revokedAt: time(revokedAt),
  };
}
