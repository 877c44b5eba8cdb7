import { causeOf } from "../core/failure.ts";
import type { NewBanRecord } from "../core/ports.ts";
import type { Log } from "../http/log.ts";
import { isTold } from "./told.ts";

const TRY_AGAIN_MS = 1000;

export interface BanKeeping {
  /** Writes a ban down; fails if that cannot be done now. */
  readonly keep: (ban: NewBanRecord) => Promise<void>;
  readonly onKept: (ban: NewBanRecord) => void;
  /** Nothing is tried again from then on. */
  readonly isClosing: () => boolean;
  readonly log: Log;
}

export interface BanKeeper {
  keep(ban: NewBanRecord): void;
  /** All that were earned by now are in the database. */
  settled(): Promise<unknown>;
}

/** Brings bans that were earned into the database, however long that takes; until then they hold in memory. */
export function banKeeper({ keep, onKept, isClosing, log }: BanKeeping): BanKeeper {
  const underWay = new Set<Promise<void>>();
  const untilKept = async (ban: NewBanRecord): Promise<void> => {
    for (;;) {
      try {
        await keep(ban);
        onKept(ban);
        return;
      } catch (error) {
        const isLost = isClosing();
        if (isLost || !isTold(error))
          log.error(
            isLost
              ? "A ban could not be kept before the end, and is lost."
              : "A ban could not be kept; it holds in memory and is tried again.",
            { keyId: ban.keyId, cause: causeOf(error) },
          );
        if (isLost) return;
        await Bun.sleep(TRY_AGAIN_MS);
      }
    }
  };
  return {
    keep(ban) {
      const kept = untilKept(ban).finally(() => underWay.delete(kept));
      underWay.add(kept);
    },
    settled: () => Promise.all(underWay),
  };
}
