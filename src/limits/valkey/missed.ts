import type { Conduct } from "../../core/bans.ts";
import { DAY_SECONDS, type LimitState, MINUTE_SECONDS, type Windows } from "../../core/windows.ts";

/** What was counted while Valkey was away, to be added when it is back. */
export interface Missed {
  readonly size: number;
  /** One request was counted in the windows under this name; this is how they stand after it. */
  count(name: string, keptSeconds: number, state: LimitState): void;
  noteConduct(name: string, conduct: Conduct, lifts: number): void;
  /** Some of it; it is no longer here then. */
  take(most: number): MissedPart;
  /** It could not be added after all. */
  giveBack(windows: MissedWindows): void;
  giveBackConduct(conduct: MissedConduct): void;
}

export interface MissedWindows extends Windows {
  readonly name: string;
  readonly keptSeconds: number;
}

export interface MissedConduct {
  readonly name: string;
  readonly conduct: Conduct;
  readonly lifts: number;
}

export interface MissedPart {
  readonly windows: readonly MissedWindows[];
  readonly conducts: readonly MissedConduct[];
}

export function missed(): Missed {
  const windows = new Map<string, MissedWindows>();
  const conducts = new Map<string, MissedConduct>();
  return {
    get size() {
      return windows.size + conducts.size;
    },
    count(name, keptSeconds, state) {
      const minuteOpenedAt = state.minute.resetAt - MINUTE_SECONDS;
      const day = state.day.resetAt / DAY_SECONDS - 1;
      let own = windows.get(name);
      if (!own) {
        own = { name, keptSeconds, minuteOpenedAt, minuteCount: 0, day, dayCount: 0 };
        windows.set(name, own);
      }
      if (own.minuteOpenedAt !== minuteOpenedAt) {
        own.minuteOpenedAt = minuteOpenedAt;
        own.minuteCount = 0;
      }
      if (own.day !== day) {
        own.day = day;
        own.dayCount = 0;
      }
      own.minuteCount += 1;
      own.dayCount += 1;
    },
    noteConduct: (name, conduct, lifts) => void conducts.set(name, { name, conduct, lifts }),
    take: (most) => ({ windows: taken(windows, most), conducts: taken(conducts, most) }),
    giveBack(given) {
      const own = windows.get(given.name);
      if (!own) return void windows.set(given.name, given);
      if (own.minuteOpenedAt === given.minuteOpenedAt) own.minuteCount += given.minuteCount;
      if (own.day === given.day) own.dayCount += given.dayCount;
    },
    giveBackConduct(given) {
      if (!conducts.has(given.name)) conducts.set(given.name, given);
    },
  };
}

function taken<T>(from: Map<string, T>, most: number): T[] {
  const some: T[] = [];
  for (const [name, each] of from) {
    if (some.length === most) break;
    some.push(each);
    from.delete(name);
  }
  return some;
}
