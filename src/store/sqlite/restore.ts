import { Database } from "bun:sqlite";
import {
  existsSync,
  lchownSync,
  linkSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { Unavailable } from "../../core/failure.ts";
import { some } from "../../core/some.ts";
import type { Diagnosis } from "../doctor.ts";
import { CannotMove, Damaged } from "../move/moving.ts";
import { inWords, syncFolder } from "../move/partial.ts";
import { requireNoFolders } from "../rights.ts";
import { NewerDatabase, UnusableDatabase } from "../usable.ts";
import { isSameFile, provenCounts } from "./backup.ts";
import { beginAnew, type Given, givenBy } from "./begin-anew.ts";
import { connect, patiently } from "./connection.ts";
import { copyStore, removeCopy, type Watch, WHOLE } from "./copy.ts";
import { requireOurFile } from "./migrate.ts";
import { countsFileOf, FILES, holdFile, PARTS } from "./place.ts";
import { isFilled, type Sight, sightOf } from "./sight.ts";

export interface RestoreOptions {
  /** Whether a store that is there may be put aside. */
  readonly isForced: boolean;
  readonly thread: URL;
  readonly watch: Watch;
  readonly stop: AbortSignal;
  readonly now: number;
}

export interface Restored extends Sight {
  readonly counts: Diagnosis["counts"];
  /** Where the store is that was there before. */
  readonly keptAside: string | null;
  /** Whether its records go on beyond the numbers that were given since the backup; those that a store gave which is lost nobody knows. */
  readonly isBeyond: boolean;
}

/**
 * Puts a backup in the place of the store at the path: all of it, proven, or nothing. At every moment the path leads to the old store or
 * to the new one, and no log of the old one stands beside the new.
 */
export async function restoreFile(path: string, file: string, options: RestoreOptions): Promise<Restored> {
  const sight = await sightOfBackup(file);
  // What a link leads to is replaced, not the link.
  const target = existsSync(path) ? realpathSync(path) : path;
  try {
    requireFiles(target);
    if (isSameFile(target, file)) throw new CannotMove(`${file} is the store itself; nothing was changed.`);
    using _held = held(path, target);
    const isThere = ["", ...PARTS].some((part) => isFilled(target + part));
    if (isThere && !options.isForced)
      throw new CannotMove(
        `There is a store at ${path} already; nothing was changed. With --force it is kept under another name.`,
      );
    const old: Old = !isThere ? "none" : isOurDatabase(target) ? "database" : "remains";
    return { ...sight, ...(await replaced(target, file, sight.bytes, old, options)) };
  } catch (error) {
    throw inWords(error, path);
  }
}

/** What is there already: nothing, a database, or what is none any more. */
type Old = "none" | "database" | "remains";

async function replaced(
  target: string,
  file: string,
  needed: number,
  old: Old,
  { thread, watch, stop, now }: RestoreOptions,
): Promise<Pick<Restored, "counts" | "keptAside" | "isBeyond">> {
  const fresh = `${target}.restoring`;
  const abandon = () => removeCopy(fresh);
  // A restore that was killed may have left it; the lock says that none is under way.
  abandon();
  stop.addEventListener("abort", abandon);
  try {
    await copyStore(thread, file, fresh, needed, watch);
    const counts = await provenCounts(thread, fresh, watch);
    // Whoever opens the old store meanwhile waits for its lock, and is refused by SQLite once the path leads elsewhere.
    using alone = old === "database" ? madeOneFile(target) : null;
    // Its numbers are read only now, when nobody adds a record to it any more.
    const isBeyond = beginAnew(fresh, numbersOf(alone, target), now);
    giveToOwnerOf(isFilled(target) ? target : dirname(target), fresh);
    const keptAside = old === "none" ? null : putAside(target, now);
    // What a killed server counted belongs to the store that is put aside.
    rmSync(countsFileOf(target), { force: true });
    renameSync(fresh, target);
    syncFolder(dirname(target));
    return { counts, keptAside, isBeyond };
  } catch (error) {
    abandon();
    throw error;
  }
}

async function sightOfBackup(file: string): Promise<Sight> {
  const there = statSync(file, { throwIfNoEntry: false });
  if (!there) throw new CannotMove(`There is no file ${file}.`);
  if (there.isDirectory()) throw new CannotMove(`${file} is a folder, and no backup.`);
  try {
    const sight = sightOf(file);
    await requireWholePages(file, there.size);
    return sight;
  } catch (error) {
    if (error instanceof NewerDatabase)
      throw new CannotMove(`Cannot restore ${file}: ${error.message} Nothing was changed.`);
    if (error instanceof UnusableDatabase)
      throw new CannotMove(`${file} is no backup of a Petstore store; nothing was changed.`);
    if (!(error instanceof Unavailable)) throw error;
    const { code, message } = error.cause as Error & { code?: string };
    if (code?.startsWith("SQLITE_CORRUPT")) throw new Damaged([{ check: WHOLE, message }]);
    if (code !== "SQLITE_NOTADB") throw new CannotMove(`Cannot read ${file}: ${message}.`);
    const isExport = (await Bun.file(file).slice(0, EXPORTED.length).text()) === EXPORTED;
    throw new CannotMove(
      isExport
        ? `${file} is an export. 'petstore import' takes it, into an empty store; nothing was changed.`
        : `${file} is no backup of a Petstore store; nothing was changed.`,
    );
  }
}

/** SQLite takes what is missing of the last page for zeros, and finds nothing wrong. */
async function requireWholePages(file: string, bytes: number): Promise<void> {
  const header = new DataView(await Bun.file(file).slice(0, 18).arrayBuffer());
  // Where the header has the size of a page, 1 stands for what has no room there.
  const written = header.getUint16(16);
  const pageBytes = written === 1 ? 65_536 : written;
  if (bytes % pageBytes !== 0)
    throw new Damaged([
      { check: WHOLE, message: `its last page has ${some(bytes % pageBytes, "byte")} of ${pageBytes}` },
    ]);
}

/** How the first line of an export begins. */
const EXPORTED = '{"format":"petstore-export"';

function requireFiles(target: string): void {
  try {
    requireNoFolders(FILES.map((each) => target + each));
  } catch (error) {
    if (!(error instanceof UnusableDatabase)) throw error;
    throw new CannotMove(`${error.message} Nothing was changed.`);
  }
}

function held(path: string, target: string): Disposable {
  const lock = `${target}-lock`;
  const isNew = !existsSync(lock);
  const held = orRefuse(path);
  if (!held) throw new CannotMove(`A server runs on ${path}. Stop it first; nothing was changed.`);
  if (isNew) giveToOwnerOf(dirname(target), lock);
  return held;
}

function orRefuse(path: string): Disposable | null {
  try {
    return holdFile(path);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    throw new CannotMove(`Cannot write ${path}: ${(error.cause as Error).message}.`);
  }
}

/** What root puts there must be the server's own, or its next start is refused. */
function giveToOwnerOf(model: string, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(model);
  // Not what a link leads to: the folder is another's, who could put one there.
  lchownSync(file, uid, gid);
}

/** Another program's database is never touched. A newer one, or one that is broken, is what a restore may be needed for. */
function isOurDatabase(target: string): boolean {
  if (!isFilled(target)) return false;
  try {
    const db = connect(target, "read");
    try {
      requireOurFile(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (!(error instanceof NewerDatabase || isBroken(error))) throw error;
    return !isBroken(error);
  }
  return true;
}

function isBroken(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? error) as { code?: string };
  return /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? "");
}

/** None where they cannot be read any more, which may be why a backup is restored. */
function numbersOf(old: Database | null, target: string): Given {
  try {
    return old === null ? new Map() : givenBy(old);
  } catch (error) {
    if (isBroken(error)) return new Map();
    throw new CannotMove(`Cannot read ${target}: ${(error as Error).message}. Nothing was changed.`);
  }
}

/** Gives the old store a second name, and leaves nothing beside the first that would be taken for a part of the new one. */
function putAside(target: string, now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:.]/g, "");
  const prefix = `${target}.before-restore-`;
  const aside = `${prefix}${stamp}`;
  removeTwins(target, prefix);
  if (isFilled(target)) linkSync(target, aside);
  // Where there are any still, the old store could not even be read.
  for (const part of PARTS) if (existsSync(target + part)) renameSync(target + part, aside + part);
  rmSync(`${target}-shm`, { force: true });
  // Before the new file has its name, so that a power cut cannot bring them back beside it.
  syncFolder(dirname(target));
  return aside;
}

/** A restore that was killed between the two names has left one more name of the store itself. */
function removeTwins(target: string, prefix: string): void {
  for (const name of readdirSync(dirname(target))) {
    const twin = join(dirname(target), name);
    if (name.startsWith(basename(prefix)) && isSameFile(twin, target)) rmSync(twin);
  }
}

/** Takes the log into the file and away, and keeps everybody else out; only done while nobody has the store open, a command for example. */
function madeOneFile(target: string): Database | null {
  const database = new Database(target, { readwrite: true });
  try {
    patiently(() => database.run("pragma journal_mode = delete"));
    patiently(() => database.run("begin exclusive"));
    const isOneFile = !PARTS.some((part) => isFilled(target + part));
    if (isOneFile) return database;
    throw opened(target);
  } catch (error) {
    database.close();
    // What is left of its log then goes along as it is.
    if (isBroken(error)) return null;
    const { code, message } = error as Error & { code?: string };
    if (error instanceof CannotMove) throw error;
    throw code === "SQLITE_BUSY"
      ? opened(target)
      : new CannotMove(`Cannot put ${target} aside: ${message}. Nothing was changed.`);
  }
}

function opened(target: string): CannotMove {
  return new CannotMove(
    `Another process has ${target} open. Wait until it is done, and repeat the command; nothing was changed.`,
  );
}
