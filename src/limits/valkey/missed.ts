import { DAY_SECONDS } from "../../contract/days.ts";
import type { Conduct } from "../../core/bans.ts";
import { type LimitState, MINUTE_SECONDS, type Windows } from "../../core/windows.ts";
import { slotOf } from "./slots.ts";

/** Whether a node has a slot; a single server has all of them. */
export type Owns = (slot: number) => boolean;

/** What was counted while Valkey, or the node that owns the slot, was away, to be added when it is back. */
export interface Missed {
  /** How much of it is for a node. */
  sizeFor(owns: Owns): number;
  /** One request was counted in the windows under this name; this is how they stand after it. */
  count(name: string, keptSeconds: number, state: LimitState): void;
  /** How a key is judged after a refusal. */
  noteConduct(conduct: MissedConduct): void;
  /** Some of what is for a node; it is no longer here then. */
  take(most: number, owns: Owns): MissedPart;
  /** It could not be added after all. */
  giveBack(windows: MissedWindows): void;
  giveBackConduct(conduct: MissedConduct): void;
  /** Drops windows that are over: nothing of theirs would be added. */
  forget(nowSeconds: number): void;
}

export interface MissedWindows extends Windows {
  readonly name: string;
  readonly keptSeconds: number;
}

export interface MissedConduct {
  readonly name: string;
  readonly conduct: Conduct;
  /** The end of the ban that it was given; 0 if there is none. */
  readonly bannedUntil: number;
  readonly lifts: number;
}

export interface MissedPart {
  readonly windows: readonly MissedWindows[];
  readonly conducts: readonly MissedConduct[];
}

export function missed(): Missed {
  const windows = bySlot<MissedWindows>();
  const conducts = bySlot<MissedConduct>();
  return {
    sizeFor: (owns) => windows.sizeFor(owns) + conducts.sizeFor(owns),
    count(name, keptSeconds, state) {
      const minuteOpenedAt = state.minute.resetAt - MINUTE_SECONDS;
      const day = state.day.resetAt / DAY_SECONDS - 1;
      let own = windows.get(name);
      if (!own) {
        own = { name, keptSeconds, minuteOpenedAt, minuteCount: 0, day, dayCount: 0 };
        windows.set(own);
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
    noteConduct: conducts.set,
    take: (most, owns) => ({ windows: windows.take(most, owns), conducts: conducts.take(most, owns) }),
    giveBack(given) {
      const own = windows.get(given.name);
      if (!own) return windows.set(given);
      if (own.minuteOpenedAt === given.minuteOpenedAt) own.minuteCount += given.minuteCount;
      if (own.day === given.day) own.dayCount += given.dayCount;
    },
    giveBackConduct(given) {
      if (!conducts.get(given.name)) conducts.set(given);
    },
    forget(nowSeconds) {
      const today = Math.floor(nowSeconds / DAY_SECONDS);
      windows.drop(({ day, minuteOpenedAt }) => day < today && minuteOpenedAt + MINUTE_SECONDS <= nowSeconds);
    },
  };
}

/** By slot, because a slot may have another owner by the time it can be told. */
function bySlot<T extends { readonly name: string }>() {
  const slots = new Map<number, Map<string, T>>();
  return {
    get: (name: string): T | undefined => slots.get(slotOf(name))?.get(name),
    set(each: T): void {
      const slot = slotOf(each.name);
      const names = slots.get(slot) ?? new Map<string, T>();
      slots.set(slot, names.set(each.name, each));
    },
    sizeFor(owns: Owns): number {
      let size = 0;
      for (const [slot, names] of slots) if (owns(slot)) size += names.size;
      return size;
    },
    drop(isOver: (each: T) => boolean): void {
      for (const [slot, names] of slots) {
        for (const [name, each] of names) if (isOver(each)) names.delete(name);
        if (names.size === 0) slots.delete(slot);
      }
    },
    take(most: number, owns: Owns): T[] {
      const some: T[] = [];
      for (const [slot, names] of slots) {
        if (!owns(slot)) continue;
        for (const [name, each] of names) {
          if (some.length === most) return some;
          some.push(each);
          names.delete(name);
        }
        slots.delete(slot);
      }
      return some;
    },
  };
}
