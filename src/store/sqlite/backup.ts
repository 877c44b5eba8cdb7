import { existsSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnosis } from "../doctor.ts";
import { CannotMove, Damaged } from "../move/moving.ts";
import { checkCopy, checkpointLog, copyStore, removeCopy, syncFolder, type Watch } from "./copy.ts";
import { FILES, PARTS } from "./place.ts";
import { countsOf, isFilled, type Sight, sightOf } from "./sight.ts";

export interface BackupOptions {
  /** Whether a file that is there may be replaced. */
  readonly isForced: boolean;
  readonly isChecked: boolean;
  readonly thread: URL;
  readonly watch: Watch;
  /** Aborted when the process is about to end: what is half done is taken away. */
  readonly stop: AbortSignal;
}

export interface BackedUp extends Sight {
  readonly counts: Diagnosis["counts"];
}

/**
 * Copies the store at the path, whether a server runs on it or not, into a file. Until all of it is on disk and proven the copy has
 * another name.
 */
export async function backUpFile(path: string, file: string, options: BackupOptions): Promise<BackedUp> {
  const { bytes } = sightOf(path);
  try {
    requireFreeName(path, file, options.isForced);
    removeLeftovers(file);
    return await copied(path, file, bytes, options);
  } catch (error) {
    throw inWords(error, file);
  }
}

async function copied(
  path: string,
  file: string,
  needed: number,
  { isChecked, thread, watch, stop }: BackupOptions,
): Promise<BackedUp> {
  const partial = `${file}.partial-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
  const abandon = () => removeCopy(partial);
  stop.addEventListener("abort", abandon);
  try {
    try {
      await copyStore(thread, path, partial, needed, watch);
    } finally {
      await checkpointLog(thread, path);
    }
    const counts = isChecked ? await provenCounts(thread, partial, watch) : await countsOf(partial);
    const made = { ...sightOf(partial), counts };
    renameSync(partial, file);
    syncFolder(dirname(file));
    return made;
  } catch (error) {
    abandon();
    throw error;
  }
}

/** Counts what a copy has, once it is proven to be whole. */
export async function provenCounts(thread: URL, partial: string, watch: Watch): Promise<Diagnosis["counts"]> {
  const { counts, findings } = await checkCopy(thread, partial, watch);
  if (findings.length > 0) throw new Damaged(findings);
  return counts;
}

function requireFreeName(path: string, file: string, isForced: boolean): void {
  const folder = dirname(file);
  const database = realpathSync(path);
  const own = FILES.map((each) => database + each);
  const meant = existsSync(file)
    ? realpathSync(file)
    : join(existsSync(folder) ? realpathSync(folder) : folder, basename(file));
  if (own.includes(meant) || isSameFile(path, file))
    throw new CannotMove(`${file} is part of the store itself. Name another file.`);
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new CannotMove(`${file} is a folder. Name a file in it.`);
  if (there && !isForced)
    throw new CannotMove(`${file} is there already. Name another file, or replace it with --force.`);
  const part = PARTS.find((each) => isFilled(file + each));
  if (part)
    throw new CannotMove(
      `${file}${part} is there, and would be taken for a part of the backup. Name another file, or move it away.`,
    );
}

export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** What backups to the same name have left that were killed. */
function removeLeftovers(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid =
      name.startsWith(basename(file)) &&
      /^\.partial-(\d+)-[0-9a-f]{8}(-journal)?$/.exec(name.slice(basename(file).length))?.[1];
    if (pid && (Number(pid) === process.pid || !isRunning(Number(pid))))
      rmSync(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}

/** What the system refuses, as a sentence; the rest is as it was. */
export function inWords(error: unknown, file: string): unknown {
  const { code, syscall, message } = error as { code?: string; syscall?: string; message: string };
  if (syscall === undefined) return error;
  if (code === "ENOENT" || code === "ENOTDIR")
    return new CannotMove(`Cannot write ${file}: its folder ${dirname(file)} is not there.`);
  return new CannotMove(`Cannot write ${file}: ${message}.`);
}
