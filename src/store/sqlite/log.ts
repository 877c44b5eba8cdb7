import { type Connection, connect } from "./connection.ts";

/** How long the writer's log may get, in pages of 4 KiB. */
export interface LogBounds {
  /** It is copied into the database in steps of so many. */
  readonly step: number;
  /** From so many on what was copied is brought to the disk, and the log begins anew. */
  readonly long: number;
  /** Once so many more have come and the disk is still not done, writes wait for it. */
  readonly ahead: number;
  /** From so many on it is copied when writes have paused. */
  readonly afterPause: number;
}

const LOG_BOUNDS: LogBounds = { step: 4000, long: 16_000, ahead: 48_000, afterPause: 1000 };

export interface WriterLog {
  /** Told after each commit, which may make the next step due. */
  grown(): void;
  /** Told when what had been copied is on the disk. */
  flushed(): void;
  /** Whether there is enough to be copied while nobody writes. */
  isWorthCopying(): boolean;
  /** Copies all but what somebody reads an older state of, and waits for the disk. */
  copyAll(): void;
  /** Copies all, and leaves an empty file. */
  close(): void;
}

/**
 * Copies the writer's log into the database so that no write waits for it long. When SQLite has copied to the log's end it waits for
 * the disk, because the log may begin anew then: for some thousand pages, which lie all over the file. So a reader of our own stands
 * in the log, one commit before its end: a copy up to there waits for no disk. `flush` brings to it what was copied, while writes go
 * on, and then little is left for the copy to the end.
 */
export function writerLog(
  db: Connection,
  path: string,
  flush: () => void,
  bounds: LogBounds = LOG_BOUNDS,
): WriterLog {
  const reader = connect(path, "read");
  let isStanding = false;
  /** Where the reader stood last, or to where all was copied. */
  let behind = 0;
  let next: "stand" | "copy" | "wait for the disk" | "copy all" = "stand";

  const standAt = (end: number) => {
    leave();
    reader.exec("begin");
    // Only a read makes it stand.
    reader.value("select 1 from sqlite_schema");
    isStanding = true;
    behind = end;
    next = "copy";
  };
  const leave = () => {
    if (isStanding) reader.exec("commit");
    isStanding = false;
  };
  const copyAll = () => {
    leave();
    behind = checkpoint(db, "passive").pages;
    next = "stand";
  };
  return {
    grown() {
      const { pages } = checkpoint(db, "noop");
      // It has begun anew.
      if (pages < behind) behind = 0;
      const more = pages - behind;
      if (next === "copy") {
        checkpoint(db, "passive");
        next = pages < bounds.long ? "stand" : "wait for the disk";
        if (next === "wait for the disk") flush();
      } else if (next === "wait for the disk") {
        if (more >= bounds.ahead) copyAll();
      } else if (more >= bounds.step) standAt(pages);
      else if (next === "copy all") copyAll();
    },
    flushed() {
      if (next === "wait for the disk") next = "copy all";
    },
    isWorthCopying: () => isStanding || checkpoint(db, "noop").left >= bounds.afterPause,
    copyAll,
    close() {
      reader.close();
      checkpoint(db, "truncate");
    },
  };
}

/** With `passive` nobody waits for it, with `noop` nothing is copied, with `truncate` the log's file is empty afterwards. */
function checkpoint(db: Connection, mode: "noop" | "passive" | "truncate") {
  const [row] = db.rows(`pragma wal_checkpoint(${mode})`);
  const pages = Number(row?.log ?? 0);
  return { pages, left: pages - Number(row?.checkpointed ?? 0) };
}
