import { Database } from "bun:sqlite";
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { Unavailable } from "../../core/failure.ts";
import { keptOut, requireNoFolders, requireRights } from "../rights.ts";

const { O_DIRECTORY, O_NOFOLLOW } = constants;

/** What stands beside a database and is part of it: a log that is not yet copied, or a journal that is not yet undone. */
export const PARTS = ["-wal", "-journal"] as const;
/** What was counted and is not yet in the database. */
const COUNTS = "-counts";
/** All of its files: itself, its parts, and what is of no use without it. */
export const FILES = ["", ...PARTS, "-shm", "-lock", COUNTS] as const;

/** How long servers that start at the same moment have to find out which of them is the first. */
const FIRST_MS = 500;

/** Either keeps all others from holding the lock; an import's can still be read, which tells it from a server's. */
const HOLDS = { serve: "begin exclusive", fill: "begin immediate" } as const;

/** What is in the store is nobody's business but its owner's: folder and file are made so. Refused if they cannot be written or are folders. */
export function makePlace(path: string): void {
  const file = leadsTo(path);
  const files = FILES.map((each) => file + each);
  requireNoFolders(files);
  makeFile(file);
  requireRights(files);
}

function makeFile(file: string): void {
  try {
    const missing = missingFolders(file).reverse();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    for (const folder of missing) giveToOwner(folder, O_DIRECTORY | O_NOFOLLOW);
    // Only ever a new file: closing another descriptor of an open database would drop the process's locks on it.
    giveToOwner(file, "wx");
    // They were counted in another store, which was here before.
    rmSync(file + COUNTS, { force: true });
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw keptOut(file, error) ?? new Unavailable(error);
  }
}

/** What root makes in the folder of the server's own user must be that user's, or the server's next start is refused. */
function giveToOwner(made: string, flags: string | number): void {
  const descriptor = openSync(made, flags, 0o600);
  try {
    const { uid, gid } = statSync(dirname(made));
    if (process.getuid?.() === 0 && uid !== 0) fchownSync(descriptor, uid, gid);
  } catch {
    // Not every root may: then it is root's, and root's server can use it.
  } finally {
    closeSync(descriptor);
  }
}

/** A file that is kept from servers and other imports while it is filled. */
export interface Filled extends Disposable {
  /** Without it the file goes again when it is disposed of, if it was not there before. */
  keep(): void;
}

/** Null if a server or another import has the file. With it go what stands beside it and the folders that were made for it. */
export function holdToFill(name: string): Filled | null {
  const path = leadsTo(name);
  const folders = missingFolders(path);
  const lock = lockOf(path);
  const held = holdFile(path, "fill");
  if (!held) return null;
  let isKept = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return {
    keep() {
      isKept = true;
    },
    [Symbol.dispose]() {
      if (!isKept) for (const each of FILES) rmSync(path + each, { force: true });
      // They were counted in another store.
      rmSync(countsFileOf(path), { force: true });
      // The file may be another program's.
      rmSync(lock, { force: true });
      held[Symbol.dispose]();
      for (const folder of folders) if (readdirSync(folder).length === 0) rmdirSync(folder);
    },
  };
}

/** The innermost first. */
function missingFolders(path: string): string[] {
  const folder = dirname(path);
  return existsSync(folder) ? [] : [folder, ...missingFolders(folder)];
}

/**
 * Keeps other servers off the file until it is disposed of or the process ends, however it ends; null if another server
 * has it. Of the commands only a restore and an import ask.
 */
export function holdFile(path: string, purpose: keyof typeof HOLDS = "serve"): Disposable | null {
  const lock = lockOf(path);
  makePlace(lock);
  const isStaying = stayingOf(lock);
  let database: Database | undefined;
  try {
    database = new Database(lock, { readwrite: true });
    database.run(`pragma busy_timeout = ${FIRST_MS}`);
    database.run(HOLDS[purpose]);
    if (isStaying()) return database;
  } catch (error) {
    if (isStaying()) return notHeld(error, database);
  }
  // An import took the lock away when it ended, and whoever asks now makes another.
  database?.close();
  return holdFile(path, purpose);
}

/**
 * Whether an import holds the file. A server is known at once, and one that came meanwhile by a second look; who only asks,
 * as this does, is gone in a moment.
 */
export function isFileBeingFilled(path: string): boolean {
  const lock = lockOf(path);
  if (!existsSync(lock)) return false;
  try {
    using database = new Database(lock, { readwrite: true });
    return canBeRead(database) && isHeld(database) && canBeRead(database);
  } catch {
    // It went with its import, or cannot be opened by this user.
    return false;
  }
}

function canBeRead(lock: Database): boolean {
  lock.run("pragma busy_timeout = 0");
  return !isBusyAt(() => lock.run("select 1 from sqlite_schema"));
}

function isHeld(lock: Database): boolean {
  lock.run(`pragma busy_timeout = ${FIRST_MS}`);
  return isBusyAt(() => lock.run(HOLDS.fill));
}

function isBusyAt(work: () => void): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

function notHeld(error: unknown, database: Database | undefined): null {
  database?.close();
  if (isBusy(error)) return null;
  throw new Unavailable(error);
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code === "SQLITE_BUSY";
}

/** Other names of the file lead to the same counts, ... */
export function countsFileOf(path: string): string {
  return `${leadsTo(path)}${COUNTS}`;
}

/** ... and to the same lock. */
function lockOf(path: string): string {
  return `${leadsTo(path)}-lock`;
}

/** Where the file is or will be made: a link may be there before it. */
function leadsTo(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const isEmptyLink =
      (error as { code?: string }).code === "ENOENT" &&
      lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isEmptyLink ? leadsTo(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
  }
}

/** Asks whether the path still leads to the file that it leads to now. */
export function stayingOf(path: string): () => boolean {
  const opened = identityOf(path);
  return () => identityOf(path) === opened;
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
