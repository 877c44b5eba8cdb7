/** How a database stands, in numbers. */
export type DatabaseFigures =
  | {
      readonly engine: "sqlite";
      /** Writes without an outcome. */
      readonly waiting: number;
      /** Sizes of its file, and of its log's. */
      readonly bytes: number;
      readonly logBytes: number;
    }
  | ({ readonly engine: "postgres" } & PoolFigures);

/** Connections, and those who wait for one. */
export interface PoolFigures {
  readonly used: number;
  readonly idle: number;
  readonly most: number;
  readonly waitingReads: number;
  readonly waitingWrites: number;
}

/** How limits that are shared between instances stand. */
export interface SharedLimitsFigures {
  /** Whether what they are shared in, or a node of it, is away. */
  readonly isAway: boolean;
  /** Links to it or to its nodes, and those whose breaker is open: no request waits for them. */
  readonly links: number;
  readonly openBreakers: number;
  /** How often it went away, and how many requests were limited from memory. */
  readonly outages: number;
  readonly limitedFromMemory: number;
}
