import { type FileHandle, open } from "node:fs/promises";

/** The database's own file, besides SQLite's connections to it. */
export interface DatabaseFile {
  /** Resolves when all that was written to it is on the disk, or could not be brought there, which SQLite is told as well. */
  flush(): Promise<void>;
  /** Only when all connections of this process are closed: with any descriptor the system takes the locks of all of them away. */
  close(): Promise<void>;
}

export function databaseFile(path: string): DatabaseFile {
  let opened: Promise<FileHandle> | undefined;
  const flushOpened = async () => {
    opened ??= open(path, "r");
    await (await opened).datasync();
  };
  let flushing = Promise.resolve();
  return {
    flush() {
      flushing = flushOpened().catch(() => {});
      return flushing;
    },
    async close() {
      await flushing;
      await opened?.then((file) => file.close()).catch(() => {});
    },
  };
}
