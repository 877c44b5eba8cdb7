import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CannotMove } from "./moving.ts";

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
