/** How the parts of the server stand when somebody looks; each is asked for its own. */
export interface Figures {
  readonly limits: "memory" | "valkey";
  readonly http: {
    readonly underWay: number;
    readonly connections: number;
    readonly mostConnections: number;
    readonly turnedAway: number;
  };
  readonly valkey: {
    readonly isAway: boolean;
    readonly links: number;
    readonly openBreakers: number;
    readonly outages: number;
    readonly limitedFromMemory: number;
  } | null;
  readonly isDatabaseUp: boolean;
  readonly database: DatabaseFigures;
  /** How long ago all was written down that was counted. */
  readonly behindMs: number;
  /** What waits for webhooks whose last try was answered well, and for the others; `null` if that cannot be told now. */
  readonly webhooks: { readonly working: WaitingFigures; readonly failing: WaitingFigures } | null;
  readonly streams: { readonly open: number; readonly refused: number; readonly sent: number };
}

interface WaitingFigures {
  readonly pending: number;
  readonly oldestDueMs: number;
}

export type DatabaseFigures =
  | {
      readonly engine: "sqlite";
      readonly waiting: number;
      readonly bytes: number;
      readonly logBytes: number;
    }
  | {
      readonly engine: "postgres";
      readonly used: number;
      readonly idle: number;
      readonly most: number;
      readonly waitingReads: number;
      readonly waitingWrites: number;
    };
