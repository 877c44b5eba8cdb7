// Files that are not imported but named where they are used. Named from src's root only: in the executable every module is there.

/** Where an embedded database writes. */
export const writerThread = new URL("./writer.ts", import.meta.url);

/** Where a backup or a restore waits for long statements. */
export const copyThread = new URL("./store/sqlite/copy-thread.ts", import.meta.url);

/** Where the files of the console are: not modules of ours, but what the browser gets. */
export const consoleFolder = new URL("./console/", import.meta.url);
