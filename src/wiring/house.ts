import type { Config } from "../config.ts";
import type { Rules } from "../core/rules.ts";
import type { Log } from "../http/log.ts";
import type { Meters } from "../metrics/meters.ts";
import type { Resolve } from "../worker/send.ts";

/** What is outside of the server, and a test may bring along. */
export interface Surroundings {
  readonly clock: () => number;
  /**
   * Whether a test moves the clock by hand; then it counts in Valkey too, in the place of Valkey's own, and nothing is swept by
   * the machine's.
   */
  readonly isClockMoved?: boolean;
  /** How long Valkey may be silent, where a busy machine is not to be taken for an outage. */
  readonly valkeyTimeoutMs?: number | undefined;
  readonly log: Log;
  /** How the names of webhooks' receivers are resolved; as the machine does it by default. */
  readonly resolve?: Resolve;
}

/** What every part of the server is given. */
export interface House extends Surroundings {
  readonly config: Config;
  readonly rules: Rules;
  readonly meters: Meters;
  /** How near its end the server is. */
  readonly life: {
    /** No new work is taken. */
    isStopping: boolean;
    /** Nothing is tried again. */
    isClosing: boolean;
  };
}
