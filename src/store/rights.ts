import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { UnusableDatabase } from "./usable.ts";

const { R_OK, W_OK, X_OK } = constants;
/** What the system says of a place that this user may not use so. */
const FORBIDDEN: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Refuses files that this user may not write, or whose folder: SQLite would say so in few words, and some of it only at a write. */
export function requireRights(files: readonly string[]): void {
  for (const file of files) requireRight(file);
}

/** Refuses a folder where a file belongs: a container makes one of a file that it shall mount and that is not there. */
export function requireNoFolders(files: readonly string[]): void {
  for (const file of files)
    if (statOf(file)?.isDirectory())
      throw new UnusableDatabase(
        `${file} is a folder, and the database needs a file there. Name another file with DATABASE_URL, or remove the folder if nothing is in it.`,
      );
}

/** The innermost place on the way to the file that this user may not use, and what to do; null if the error is another. */
export function keptOut(file: string, error: unknown): UnusableDatabase | null {
  const { code } = error as { code?: unknown };
  if (!FORBIDDEN.has(code)) return null;
  const found = innermost(file);
  return found && new UnusableDatabase(reasonOf(file, ...found, code));
}

function requireRight(file: string): void {
  try {
    accessSync(dirname(file), W_OK | X_OK);
    accessSync(file, R_OK | W_OK);
  } catch (error) {
    const refused = keptOut(file, error);
    if (refused) throw refused;
  }
}

/** The file itself may be hidden behind a folder, or not there. */
function innermost(file: string): [string, Stats] | null {
  for (let place = file; place !== dirname(place); place = dirname(place)) {
    const stats = statOf(place);
    if (stats && !isUsable(place, stats)) return [place, stats];
  }
  return null;
}

function isUsable(place: string, stats: Stats): boolean {
  try {
    accessSync(place, stats.isDirectory() ? W_OK | X_OK : R_OK | W_OK);
    return true;
  } catch {
    return false;
  }
}

function statOf(place: string): Stats | undefined {
  try {
    return statSync(place);
  } catch {
    return undefined;
  }
}

function reasonOf(file: string, place: string, stats: Stats, code: unknown): string {
  const [owner, self] = [stats.uid, process.getuid?.() ?? 0];
  const cannot = `The database cannot be written: ${place}`;
  if (code === "EROFS")
    return `${cannot} is on a file system that is mounted read-only. Mount it for writing, or name another database with DATABASE_URL.`;
  if (owner === self) return `${cannot} is this user's, but read-only. Mend it: chmod u+rwX ${place}`;
  const whose = `${cannot} belongs to ${nameOf(owner)}, and this is ${nameOf(self)}.`;
  if (place !== file && place !== dirname(file))
    return `${whose} Name a database in a folder of this user's with DATABASE_URL.`;
  return `${whose} Run this as ${nameOf(owner)}, or give it to this user: chown ${self} ${dirname(file)} ${file}*`;
}

function nameOf(uid: number): string {
  return uid === 0 ? "root" : `user ${uid}`;
}
