import { newRow, observe } from "./histogram.ts";
import { type RequestMeter, requestMeter } from "./requests.ts";
import { type WebhookMeter, webhookMeter } from "./webhooks.ts";

/** Seconds: a quick disk syncs in a tenth of a millisecond, a cloud's in some milliseconds. */
export const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** Seconds. */
export const DELAY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** How often it is looked how late a timer is. */
const LOOK_EVERY_MS = 50;

/** What is counted as it happens; everything else is asked for when somebody looks. */
export interface Meters {
  readonly requests: RequestMeter;
  readonly webhooks: WebhookMeter;
  readonly commitSeconds: Float64Array;
  readonly delaySeconds: Float64Array;
  /** Counts that only rise. */
  readonly counts: { writes: number; bansEarned: number; databaseOutages: number; behindFailures: number };
  /** A batch of writes was committed in so long. */
  committed(milliseconds: number, writes: number): void;
  close(): void;
}

export function openMeters(): Meters {
  const commitSeconds = newRow(COMMIT_SECONDS);
  const delaySeconds = newRow(DELAY_SECONDS);
  const counts = { writes: 0, bansEarned: 0, databaseOutages: 0, behindFailures: 0 };
  let lookedAt = performance.now();
  const look = () => {
    const now = performance.now();
    observe(delaySeconds, DELAY_SECONDS, Math.max(0, now - lookedAt - LOOK_EVERY_MS) / 1000);
    lookedAt = now;
  };
  const looking = setInterval(look, LOOK_EVERY_MS);
  looking.unref();
  return {
    requests: requestMeter(),
    webhooks: webhookMeter(),
    commitSeconds,
    delaySeconds,
    counts,
    committed(milliseconds, writes) {
      observe(commitSeconds, COMMIT_SECONDS, milliseconds / 1000);
      counts.writes += writes;
    },
    close: () => clearInterval(looking),
  };
}
