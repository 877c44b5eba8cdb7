import type { CountsLog } from "../core/behind.ts";
import type { DatabaseFigures } from "../core/figures.ts";
import type { Command, Performed } from "../core/perform.ts";
import type { Awaitable, Reads, Writes } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import type { Diagnosis } from "./doctor.ts";
import type { Filling, Snapshot } from "./move/moving.ts";

/** A database as the server uses it. */
export interface Engine {
  readonly reads: Reads;
  /** Does a write whole; resolves when it is on disk. */
  perform(command: Command): Promise<Performed>;
  /** Drops kept answers older than this, when there is time for it. */
  forgetAnswers(keptBefore: number): void;
  /** Bytes of tallies that it deals out at once, see `behind.fold`. */
  readonly foldedAtOnce: number;
  /** Where counts are kept beside the database, if that is better than to write them into it at once. */
  readonly counts?: CountsLog & {
    /** To be told before counts are read from the database. */
    show: () => Promise<void>;
  };
  /** Whether reads and writes are done, and in time. */
  isReady(): Awaitable<boolean>;
  figures(): DatabaseFigures;
  /** Resolves when all that was begun is done and the database is closed. */
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly url: string;
  readonly rules: Rules;
  /** Connections at once, where the database is another process. */
  readonly connections: number;
  readonly perform: (store: Writes, command: Command, rules: Rules) => Promise<Performed>;
  readonly onFault: (error: unknown) => void;
  /**
   * The disk did not keep what an embedded database had given it. This process must end without closing the database: its next start
   * finds all of it in the log, which a close would take away.
   */
  readonly onLost?: (error: unknown) => void;
  /** A database that is another process cannot be reached; what it refuses until it is back has no cause of its own. */
  readonly onAway?: (cause: string) => void;
  readonly onBack?: (awayMs: number) => void;
  /** Writes were committed together, which took so long; where that is this process's own work. */
  readonly onCommit?: (milliseconds: number, writes: number) => void;
}

/** A database to look at. */
export interface Inspected {
  readonly reads: Reads;
  /** Proves the rules of the store over all of it. */
  diagnose(): Promise<Diagnosis>;
  /** Looks at the whole store as it is at one moment. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  close(): Awaitable<void>;
}

/** A database as a command uses it: up to date, and one transaction at a time. */
export interface OpenedStore extends Inspected {
  /** The migrations that this opening applied. */
  readonly migrated: readonly string[];
  transact<T>(work: (store: Writes) => Promise<T>): Promise<T>;
  /** Fills the store in one transaction, while nobody else writes. */
  fill<T>(work: (filling: Filling) => Promise<T>): Promise<T>;
}
