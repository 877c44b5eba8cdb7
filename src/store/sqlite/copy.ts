import {
  closeSync,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  openSync,
  realpathSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { constants, setPriority } from "node:os";
import { dirname } from "node:path";
import type { Diagnosis } from "../doctor.ts";
import { CannotMove, Damaged } from "../move/moving.ts";

/** How often the copy is looked at, and what has come to it written to disk: all of it at the end would hold up a server's commits. */
const LOOK_AT_COPY_MS = 50;

/** The check that a file fails which SQLite itself cannot read. */
export const WHOLE = "the file is whole";

export type CopyJob =
  | { readonly from: string; readonly to: string }
  | { readonly check: string }
  | { readonly checkpoint: string };

export type CopyOutcome<T> =
  | { readonly done: T }
  | { readonly failed: { readonly code?: string | undefined; readonly message: string } };

export interface Watch {
  /** Bytes that the copy will have, about. */
  total(bytes: number): void;
  added(bytes: number): void;
  checking(): void;
}

/**
 * Copies a store as it is at one moment into a new file that only its owner reads, and waits until that is on disk. `bytes` is what it
 * will need.
 */
export async function copyStore(
  thread: URL,
  from: string,
  to: string,
  bytes: number,
  watch: Watch,
): Promise<void> {
  requireRoom(to, bytes);
  const fd = openSync(to, "wx", 0o600);
  watch.total(bytes);
  let seen = 0;
  let isSyncing = false;
  const look = () => {
    const { size } = fstatSync(fd);
    watch.added(size - seen);
    seen = size;
    if (isSyncing) return;
    isSyncing = true;
    fdatasync(fd, () => {
      isSyncing = false;
    });
  };
  const looking = setInterval(look, LOOK_AT_COPY_MS);
  try {
    await inThread(thread, { from, to });
    clearInterval(looking);
    fsyncSync(fd);
  } finally {
    clearInterval(looking);
    while (isSyncing) await Bun.sleep(1);
    closeSync(fd);
  }
}

/** Proves the rules of the store over all of the file; of one that an older version made, that it is whole and its references hold. */
export async function checkCopy(thread: URL, file: string, watch: Watch): Promise<Diagnosis> {
  watch.checking();
  // Nobody waits for it but the command, and a server beside it has better use for the processor.
  setPriority(constants.priority.PRIORITY_LOW);
  return inThread<Diagnosis>(thread, { check: file });
}

/**
 * Copies into the store what has gathered in its log while a copy of it was made: the server's own writer would do it all at once, and
 * its callers would wait. Where no server runs the log goes away with this. A kindness, so its failure is none of the backup's.
 */
export async function checkpointLog(thread: URL, path: string): Promise<void> {
  if (existsSync(`${realpathSync(path)}-wal`)) await inThread(thread, { checkpoint: path }).catch(() => {});
}

/** Takes a copy away that did not come to be, and the journal that a killed one has left. */
export function removeCopy(file: string): void {
  for (const part of ["", "-journal"]) rmSync(file + part, { force: true });
}

/** A copy that fills the disk would hold up the server beside it. */
function requireRoom(to: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(to));
  if (bavail * bsize < bytes)
    throw new CannotMove(
      `There is no room in ${dirname(to)}: ${megabytes(bytes)} MB are needed, ${megabytes(bavail * bsize)} MB are free. Nothing was changed.`,
    );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

async function inThread<T>(thread: URL, job: CopyJob): Promise<T> {
  const worker = new Worker(thread.href, { smol: true });
  const outcome = Promise.withResolvers<CopyOutcome<T>>();
  worker.onmessage = ({ data }: MessageEvent<CopyOutcome<T>>) => outcome.resolve(data);
  worker.onerror = (event) => outcome.reject(new Error(event.message));
  worker.postMessage(job);
  try {
    return givenBy(await outcome.promise);
  } finally {
    worker.terminate();
  }
}

function givenBy<T>(outcome: CopyOutcome<T>): T {
  if ("done" in outcome) return outcome.done;
  const { code, message } = outcome.failed;
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code ?? "")) throw new Damaged([{ check: WHOLE, message }]);
  throw new CannotMove(`Cannot copy: ${message}. Nothing was changed.`);
}
