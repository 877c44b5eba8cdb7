import { existsSync, statSync } from "node:fs";
import { type Command, Option } from "commander";
import { type Config, readConfig, settings } from "../config.ts";
import { Unavailable } from "../core/failure.ts";
import { type Connection, connect } from "../store/sqlite/connection.ts";
import { requireCurrent } from "../store/sqlite/migrate.ts";
import { type EmbeddedStore, openStore } from "../store/sqlite/store.ts";
import { DatabaseTrouble } from "./say.ts";

type Name = keyof typeof settings;

/** Adds settings as flags: `PORT` is `--port`. */
export function withSettings(
  command: Command,
  names: readonly Name[] = Object.keys(settings) as Name[],
): Command {
  for (const name of names) {
    const { env, fallback, meaning } = settings[name];
    const shown = fallback === "" ? "none" : fallback;
    command.addOption(new Option(`--${flagOf(env)} <value>`, `${meaning} (${env}, default ${shown})`));
  }
  return command;
}

/** The settings of the environment, with the flags of this command over them. */
export function configOf(options: Readonly<Record<string, unknown>>): Config {
  const flags = Object.entries(settings).flatMap(([, { env }]) => {
    const value = options[camel(flagOf(env))];
    return typeof value === "string" ? [[env, value]] : [];
  });
  return readConfig({ ...process.env, ...Object.fromEntries(flags) });
}

export interface Opened extends EmbeddedStore {
  readonly migrated: readonly string[];
}

/** The database that the settings name, up to date. */
export function openDatabase(config: Config, now: number): Opened {
  try {
    return openStore(config.databaseUrl, now);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : String(error.cause);
    throw new DatabaseTrouble(
      `Cannot open the database ${config.databaseUrl} (${reason}). Check that its folder can be written and that the file is a Petstore database, or choose another with DATABASE_URL.`,
    );
  }
}

/** Looks at a database that must be there, and changes nothing in it. */
export async function inspecting<T>(
  options: Readonly<Record<string, unknown>>,
  work: (db: Connection) => Promise<T>,
): Promise<T> {
  const { databaseUrl } = configOf(options);
  if (!existsSync(databaseUrl) || statSync(databaseUrl).size === 0) {
    throw new DatabaseTrouble(`There is no database at ${databaseUrl}. Name it with DATABASE_URL.`);
  }
  const db = connect(databaseUrl, "read");
  try {
    requireCurrent(db);
    return await work(db);
  } finally {
    db.close();
  }
}

/** Does something with the database and closes it. */
export async function withDatabase<T>(
  options: Readonly<Record<string, unknown>>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const opened = openDatabase(configOf(options), Date.now());
  try {
    return await work(opened);
  } finally {
    opened.close();
  }
}

function flagOf(env: string): string {
  return env.toLowerCase().replaceAll("_", "-");
}

function camel(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
