import { existsSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnosis } from "../doctor.ts";
import { CannotMove, Damaged } from "../move/moving.ts";
import { inWords, partialOf, syncFolder } from "../move/partial.ts";
import { checkCopy, checkpointLog, copyStore, removeCopy, type Watch } from "./copy.ts";
import { FILES, PARTS } from "./place.ts";
import { isFilled, recordCounts, type Sight, sightOf } from "./sight.ts";

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
  const partial = partialOf(file);
  const abandon = () => removeCopy(partial);
  stop.addEventListener("abort", abandon);
  try {
    try {
      await copyStore(thread, path, partial, needed, watch);
    } finally {
      await checkpointLog(thread, path);
    }
    const counts = isChecked ? await provenCounts(thread, partial, watch) : await recordCounts(partial);
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
