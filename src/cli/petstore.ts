import { Command, CommanderError } from "commander";
import packageFile from "../../package.json" with { type: "json" };
import { WrongSettings } from "../config.ts";
import { causeOf, Failure, Unavailable } from "../core/failure.ts";
import { visible } from "../core/visible.ts";
import { CannotMove } from "../store/move/moving.ts";
import { UnusableDatabase } from "../store/usable.ts";
import {
  CannotListen,
  complain,
  DatabaseTrouble,
  Exit,
  isKeptOut,
  lackingRight,
  Refused,
  STANDARD_OUTPUT,
  USAGE_EXIT,
  writeAll,
} from "./say.ts";
import { stopSignal } from "./signals.ts";

/** In the order of the help. Only what is asked for is loaded: a server has no use for the rest. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => {
    // Before the rest is loaded, so that a start hears it: as process 1 it would be lost.
    const stop = stopSignal();
    return (await import("./serve.ts")).serveCommand(stop);
  },
  migrate: async () => (await import("./store.ts")).migrateCommand(),
  demo: async () => (await import("./store.ts")).demoCommand(),
  clients: async () => (await import("./clients.ts")).clientCommands(),
  keys: async () => (await import("./keys.ts")).keyCommands(),
  plans: async () => (await import("./bans.ts")).planCommands(),
  bans: async () => (await import("./bans.ts")).banCommands(),
  export: async () => (await import("./move.ts")).exportCommand(),
  import: async () => (await import("./move.ts")).importCommand(),
  backup: async () => (await import("./backup.ts")).backupCommand(),
  restore: async () => (await import("./backup.ts")).restoreCommand(),
  doctor: async () => (await import("./store.ts")).doctorCommand(),
  openapi: async () => (await import("./store.ts")).openapiCommand(),
};

const HELP_FLAGS = "-h, --help";
const HELP_MEANING = "Print this help.";
const HELP_OF_A_COMMAND = "Print the help of a command.";

const program = new Command("petstore")
  .description("A pet store API over HTTP and JSON.")
  .version(packageFile.version, "-V, --version", "Print the version.")
  .helpCommand("help [command...]", HELP_OF_A_COMMAND)
  .addHelpText(
    "after",
    `
Examples:
  petstore serve --demo                            start, with a small catalogue to try
  petstore clients create --name Shop --plan pro   a new client
  petstore keys create --client 2                  a key for it, shown this once
  petstore export store.ndjson                     the whole store in a file, to move it elsewhere
  petstore backup /backups/petstore.db             a proven copy of the database file
  petstore doctor                                  prove that the store is whole

Settings come from the environment or as flags; 'petstore serve --help' lists them.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings, 3 the store or backup is damaged.`,
  );
const [first, ...rest] = process.argv.slice(2);
// The parser's own `help` looks at one word only, and `keys create` are two.
const words = first === "help" && rest.length > 1 ? [...rest, "--help"] : process.argv.slice(2);
const asked = Object.entries(commands).filter(([name]) => name === words[0]);
for (const [, command] of asked.length > 0 ? asked : Object.entries(commands)) {
  program.addCommand(await command());
}

for (const command of everyCommand(program)) {
  command.exitOverride().helpOption(HELP_FLAGS, HELP_MEANING);
  command.showHelpAfterError("(--help shows how the command is used)");
  command.configureOutput({ writeOut: (text) => writeAll(STANDARD_OUTPUT, text) });
  const isGroup = command !== program && command.commands.length > 0;
  if (isGroup) command.helpCommand("help [command]", HELP_OF_A_COMMAND);
}
try {
  await program.parseAsync(words, { from: "user" });
} catch (error) {
  process.exitCode = told(error);
}

/** One plain sentence for what a person can mend; anything else is a fault of ours and keeps its stack. */
function told(error: unknown): number {
  if (error instanceof Exit) return error.code;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT;
  if (error instanceof WrongSettings) return say(error.message, USAGE_EXIT);
  if (error instanceof Unavailable && error.cause !== undefined)
    return say(
      isKeptOut(error)
        ? keptOut(error)
        : (lackingRight(error) ?? `${error.message} The cause: ${causeOf(error)}.`),
      1,
    );
  if (error instanceof Refused) return say(error.message, error.exit);
  for (const known of [CannotListen, DatabaseTrouble, UnusableDatabase, CannotMove, Failure]) {
    if (error instanceof known) return say(error.message, 1);
  }
  console.error(Bun.inspect(error).split("\n").map(visible).join("\n"));
  return 1;
}

function keptOut(error: Unavailable): string {
  return `Cannot use the database: ${causeOf(error)}. Run this as the user of the server; the folder must be writable.`;
}

function say(message: string, code: number): number {
  complain(message);
  return code;
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap((each) => everyCommand(each as Command))];
}
