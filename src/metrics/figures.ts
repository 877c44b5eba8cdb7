import type { DatabaseFigures, SharedLimitsFigures } from "../core/figures.ts";

/** How the parts of the server stand when somebody looks; each is asked for its own. */
export interface Figures {
  readonly limits: "memory" | "valkey";
  readonly http: {
    readonly underWay: number;
    readonly connections: number;
    readonly mostConnections: number;
    readonly turnedAway: number;
  };
  readonly valkey: SharedLimitsFigures | null;
  readonly isDatabaseUp: boolean;
  readonly database: DatabaseFigures;
  /** How long ago all was written down that was counted. */
  readonly behindMs: number;
  /** Spans for the collector of traces, if there is one. */
  readonly traces: { readonly waiting: number; readonly sent: number; readonly dropped: number } | null;
  /** What waits for webhooks whose last try was answered well, and for the others; `null` if that cannot be told now. */
  readonly webhooks: { readonly working: WaitingFigures; readonly failing: WaitingFigures } | null;
  readonly streams: { readonly open: number; readonly refused: number; readonly sent: number };
}

interface WaitingFigures {
  readonly pending: number;
  readonly oldestDueMs: number;
}
