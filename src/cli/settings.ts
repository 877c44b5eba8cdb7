import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { withoutPassword } from "../addresses.ts";
import { type Config, readConfig, settings } from "../config.ts";
import { Unavailable } from "../core/failure.ts";
import { type Setting, variablesOf } from "../given.ts";
import type { Inspected, OpenedStore } from "../store/engine.ts";
import {
  holdStore,
  holdStoreToFill,
  inspectStore,
  isBeingFilled,
  isPostgres,
  openStore,
} from "../store/open.ts";
import { keptOut, requireNoFolders } from "../store/rights.ts";
import { DatabaseTrouble } from "./say.ts";

type Name = keyof typeof settings;

/** Adds settings as flags: `PORT` is `--port`. */
export function withSettings(
  command: Command,
  names: readonly Name[] = Object.keys(settings) as Name[],
): Command {
  for (const name of names) {
    const { env, fallback, meaning, mayBeInFile } = settings[name] as Setting<unknown>;
    const shown = fallback === "" ? "none" : fallback;
    const variables = mayBeInFile ? `${env} or ${env}_FILE` : env;
    command.addOption(new Option(`--${flagOf(env)} <value>`, `${meaning} (${variables}, default ${shown})`));
  }
  return command;
}

/** The settings of the environment, with the flags of this command over them. */
export function configOf(options: Readonly<Record<string, unknown>>): Config {
  const flags = Object.values(settings).flatMap((setting) => {
    const value = options[camel(flagOf(setting.env))];
    if (typeof value !== "string") return [];
    // A flag wins over the environment, whichever way that gives it.
    const others = variablesOf(setting).map((name) => [name, undefined]);
    return [...others, [setting.env, value]];
  });
  return readConfig({ ...process.env, ...Object.fromEntries(flags) });
}

/** The database that the settings name, up to date. */
export async function openDatabase(config: Config, now: number): Promise<OpenedStore> {
  await requireNoImport(config);
  return orTrouble(config, () => openStore(config.databaseUrl, now));
}

/** Makes this process the server of a database that can have only one. */
export async function holdDatabase(config: Config): Promise<Disposable> {
  const { databaseUrl } = config;
  const held = await orTrouble(config, () => holdStore(databaseUrl));
  if (held) return held;
  throw new DatabaseTrouble(
    `A server runs on ${databaseUrl} already. Stop it first, or choose another file with DATABASE_URL; several servers share a PostgreSQL.`,
  );
}

/** Looks at a database that must be there, and changes nothing in it. */
export async function inspecting<T>(
  options: Readonly<Record<string, unknown>>,
  work: (inspected: Inspected) => Promise<T>,
): Promise<T> {
  const config = configOf(options);
  requireDatabase(config);
  await requireNoImport(config);
  const open = () => inspectStore(config.databaseUrl);
  return closedAfter(isPostgres(config.databaseUrl) ? await orTrouble(config, open) : await open(), work);
}

/** Does something with a database that must be there. */
export async function withDatabase<T>(
  options: Readonly<Record<string, unknown>>,
  work: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  requireDatabase(configOf(options));
  return makingDatabase(options, work);
}

/** Does something with the database, which is made if it is not there. */
export async function makingDatabase<T>(
  options: Readonly<Record<string, unknown>>,
  work: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  return closedAfter(await openDatabase(configOf(options), Date.now()), work);
}

/** The same for what fills it, alone: a file that was made for it goes again if that fails. */
export async function fillingDatabase<T>(
  options: Readonly<Record<string, unknown>>,
  work: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const config = configOf(options);
  using filled = await orTrouble(config, () => holdStoreToFill(config.databaseUrl));
  if (!filled)
    throw new DatabaseTrouble(
      `A server or another import runs on ${config.databaseUrl}. An import needs a new store; nothing was changed.`,
    );
  const opened = await orTrouble(config, () => openStore(config.databaseUrl, Date.now()));
  const done = await closedAfter(opened, work);
  filled.keep();
  return done;
}

/** In the wrong folder a command would change a new store, which no server knows. */
export function requireDatabase({ databaseUrl }: Pick<Config, "databaseUrl">): void {
  if (isPostgres(databaseUrl)) return;
  requireNoFolders([databaseUrl]);
  if (sizeOf(databaseUrl) > 0) return;
  throw noDatabase(databaseUrl);
}

function noDatabase(file: string): DatabaseTrouble {
  return new DatabaseTrouble(
    `There is no database at ${file}. Name it with DATABASE_URL, or make it with 'petstore serve' or 'petstore migrate'.`,
  );
}

/** One that is hidden from this user is not taken for one that is not there. */
function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw keptOut(file, error) ?? noDatabase(file);
  }
}

/** What an import is filling is empty to all others until it has ended, and goes again if it fails. */
export async function requireNoImport({ databaseUrl }: Pick<Config, "databaseUrl">): Promise<void> {
  if (await isBeingFilled(databaseUrl))
    throw new DatabaseTrouble(
      `An import is filling ${databaseUrl}. Wait until it has ended, and run this again; nothing was changed.`,
    );
}

async function closedAfter<Opened extends Inspected, T>(
  opened: Opened,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

async function orTrouble<T>({ databaseUrl }: Config, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : String(error.cause);
    throw new DatabaseTrouble(
      `Cannot open the database ${withoutPassword(databaseUrl)} (${reason}). ${remedyOf(databaseUrl, reason)} with DATABASE_URL.`,
    );
  }
}

function remedyOf(databaseUrl: string, reason: string): string {
  if (!isPostgres(databaseUrl))
    return "Check that its folder can be written and has room, and that the file is a Petstore database, or choose another";
  if (/^permission denied/.test(reason))
    return "Make its tables belong to this user, or grant it rights to their rows; or name another user";
  if (/certificate/i.test(reason))
    return "Name the authority that vouches for the server's certificate (sslrootcert=FILE) and the host that it is for";
  return "Check that the server runs, and that its address, user, password and database are right";
}

/** What a command that is proposed adds to be about the same store. An address with a password is not repeated. */
export function sameStore({ databaseUrl }: Pick<Config, "databaseUrl">): string {
  const isUsual = resolve(databaseUrl) === resolve(settings.databaseUrl.fallback);
  return isUsual || isPostgres(databaseUrl) ? "" : ` --database-url ${quoted(databaseUrl)}`;
}

/** As a shell takes it. */
export function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function flagOf(env: string): string {
  return env.toLowerCase().replaceAll("_", "-");
}

function camel(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
