import { type FileHandle, open } from "node:fs/promises";

/** The database's own file, besides SQLite's connections to it. */
export interface DatabaseFile {
  /** Resolves when all that was written to it is on the disk; rejects if the disk may have lost some of it. */
  flush(): Promise<void>;
  /** Only when all connections of this process are closed: with any descriptor the system takes the locks of all of them away. */
  close(): Promise<void>;
}

/** What the system says when it could not bring to the disk what it had taken. It says so once, and then takes it for written. */
const LOSSES = new Set(["EIO", "ENOSPC", "EDQUOT"]);

export function databaseFile(path: string): DatabaseFile {
  let file: FileHandle | undefined;
  let flushing = Promise.resolve();
  const flush = async () => {
    try {
      file ??= await open(path, "r");
      await file.datasync();
    } catch (error) {
      // Where it cannot be done at all SQLite's own sync does more.
      if (LOSSES.has((error as { code: string }).code)) throw error;
    }
  };
  return {
    flush() {
      flushing = flushing.then(flush);
      return flushing;
    },
    async close() {
      await flushing.catch(() => {});
      await file?.close();
    },
  };
}
