import { readFileSync } from "node:fs";

/** A value that those who run the server choose. */
export interface Setting<T> {
  readonly env: string;
  /** Another name that is understood too, as the first is. */
  readonly alias?: string;
  /** Its value is never shown. */
  readonly isSecret?: true;
  /** It may hold a password, so it can be read from the file that the same name with `_FILE` names. */
  readonly mayBeInFile?: true;
  /** The value when it is not set, as it would be written. */
  readonly fallback: string;
  readonly meaning: string;
  /** The value, or an Error that says what it must be. */
  readonly read: (text: string) => T | Error;
}

export const textOf = (path: string) => readFileSync(path, "utf8");

export type Environment = Readonly<Record<string, string | undefined>>;

/** All variables that give a setting. */
export function variablesOf(setting: Setting<unknown>): readonly string[] {
  return [...namesOf(setting), ...fileNamesOf(setting)];
}

function namesOf({ env, alias }: Setting<unknown>): readonly string[] {
  return alias === undefined ? [env] : [env, alias];
}

function fileNamesOf(setting: Setting<unknown>): readonly string[] {
  return setting.mayBeInFile ? namesOf(setting).map((name) => `${name}_FILE`) : [];
}

/** What is given for a setting: by its name, by another, or in a file. What is empty is not given. */
export function givenIn(
  env: Environment,
  setting: Setting<unknown>,
  readFile: (path: string) => string,
): string | undefined | Error {
  const isGiven = (name: string) => env[name] !== undefined && env[name] !== "";
  const name = namesOf(setting).find(isGiven);
  const fileName = fileNamesOf(setting).find(isGiven);
  if (fileName === undefined) return name && env[name];
  if (name !== undefined) return new Error(`must not be given beside ${fileName}`);
  try {
    return readFile(env[fileName] as string).trim() || new Error(`must not be empty in ${fileName}`);
  } catch (error) {
    return new Error(`cannot be read from ${fileName}: ${(error as Error).message}`);
  }
}

export function setting<T>(
  env: string,
  fallback: string,
  meaning: string,
  read: (text: string) => T | Error,
): Setting<T> {
  return { env, fallback, meaning, read };
}
