import { Unavailable } from "../../core/failure.ts";
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

/** What the log asks of others. */
export interface LogNeeds {
  /** To bring to the disk what was copied into the database, and tell `flushed`. */
  flush(): void;
  /** The disk may have lost what was copied. */
  lost(error: unknown): void;
}

export interface WriterLog {
  /** Told after each commit, which may make the next step due. */
  grown(): void;
  /** Told when what had been copied is on the disk. */
  flushed(): void;
  /** Whether it is to be copied when writes have paused: much is left, or our own reader keeps it. */
  isWorthCopying(): boolean;
  /** Copies all but what somebody reads an older state of, and waits for the disk. */
  copyAll(): void;
  /** Copies all, and leaves an empty file. */
  close(): void;
}

/**
 * Copies the writer's log into the database so that no write waits for it long. When SQLite has copied to the log's end it waits until
 * the disk has the database, because the log may begin anew then: for some thousand pages, which lie all over the file. So a reader of
 * our own stands in the log, one commit before its end: a copy up to there does not wait for them. `flush` then brings them to the disk,
 * while writes go on, and little is left for the copy to the end.
 */
export function writerLog(
  db: Connection,
  path: string,
  { flush, lost }: LogNeeds,
  bounds: LogBounds = LOG_BOUNDS,
): WriterLog {
  const reader = connect(path, "read");
  let isStanding = false;
  /** Where the reader stood last, or the log's end when all was copied. */
  let reached = 0;
  let next: "stand" | "copy" | "wait for the disk" | "copy all" = "stand";

  const standAt = (end: number) => {
    leave();
    reader.exec("begin");
    isStanding = true;
    // Only a read makes it stand.
    reader.value("select 1 from sqlite_schema");
    reached = end;
    next = "copy";
  };
  const leave = () => {
    if (isStanding) reader.exec("commit");
    isStanding = false;
  };
  /** Gives how far the log is copied. */
  const copy = (mode: "passive" | "truncate"): number => {
    try {
      return checkpoint(db, mode).copied;
    } catch (error) {
      // Nothing of the log is given up, and there may be room again at the next step.
      if (mode === "passive" && codeOf(error) === "SQLITE_FULL") return 0;
      // What could not be written at all is tried again; what was taken and not kept is not.
      if (codeOf(error) === "SQLITE_IOERR_FSYNC") lost(error);
      throw error;
    }
  };
  const copyAll = () => {
    leave();
    next = "stand";
    copy("passive");
    reached = checkpoint(db, "noop").pages;
  };
  const copyStep = (pages: number) => {
    // Who reads an older state, as a backup does, keeps the log in any case.
    const isKept = copy("passive") < reached;
    next = isKept || pages < bounds.long ? "stand" : "wait for the disk";
    if (next === "wait for the disk") flush();
  };
  return {
    grown() {
      const { pages } = checkpoint(db, "noop");
      // It has begun anew.
      if (pages < reached) reached = 0;
      const more = pages - reached;
      if (next === "copy") {
        // After a batch that has changed nothing the reader still stands at the end.
        if (more > 0) copyStep(pages);
      } else if (next === "wait for the disk") {
        if (more >= bounds.ahead) copyAll();
      } else if (next === "copy all" && (more < bounds.step || pages >= bounds.long + bounds.ahead))
        copyAll();
      else if (more >= bounds.step) standAt(pages);
    },
    flushed() {
      if (next === "wait for the disk") next = "copy all";
    },
    isWorthCopying() {
      if (next === "wait for the disk") return false;
      const { pages, copied } = checkpoint(db, "noop");
      return isStanding || pages - copied >= bounds.afterPause;
    },
    copyAll,
    close() {
      reader.close();
      copy("truncate");
    },
  };
}

/** With `passive` nobody waits for it, with `noop` nothing is copied, with `truncate` the log's file is empty afterwards. */
function checkpoint(db: Connection, mode: "noop" | "passive" | "truncate") {
  const [row] = db.rows(`pragma wal_checkpoint(${mode})`);
  return { pages: Number(row?.log ?? 0), copied: Number(row?.checkpointed ?? 0) };
}

function codeOf(error: unknown): string {
  const cause = error instanceof Unavailable ? error.cause : error;
  return String((cause as { code?: unknown } | null)?.code);
}
