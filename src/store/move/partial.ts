import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { CannotMove } from "./moving.ts";

const PARTIAL = /^(.+)\.partial-(\d+)-[0-9a-f]{8}(?:-journal)?$/;
/** Longer than any copy is proven, while nothing is written to it. */
const LEFT_AFTER_MS = 12 * 60 * 60_000;

/** Another name beside a file's own, for as long as not all of it is there. What killed processes have left by such names goes. */
export function partialOf(file: string): string {
  removeLeftovers(file);
  return `${file}.partial-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Gives a file that is whole its own name, and none that is there by now is replaced: a rename alone would not ask. */
export function giveFreeName(partial: string, file: string): void {
  closeSync(openSync(file, "wx", 0o600));
  renameSync(partial, file);
  syncFolder(dirname(file));
}

/** What a folder lists is on disk. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
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

/** Of other names, as those of yesterday's backups, only what is old: another machine may be writing to the same folder. */
function removeLeftovers(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const [, whole, pid] = PARTIAL.exec(name) ?? [];
    if (whole === undefined) continue;
    const path = join(folder, name);
    const isAbandoned = whole === basename(file) && !isRunningBeside(Number(pid));
    if (isAbandoned || isOld(path)) rmSync(path, { force: true });
  }
}

function isOld(path: string): boolean {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return Date.now() - mtimeMs > LEFT_AFTER_MS;
}

function isRunningBeside(pid: number): boolean {
  return pid !== process.pid && isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}
