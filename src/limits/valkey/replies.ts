import type { Conduct } from "../../core/bans.ts";
import type { Refusing, Windows } from "../../core/windows.ts";
import type { Reply } from "./driver.ts";

/** What every script about windows answers first. */
export interface Verdict {
  /** By Valkey's clock. */
  readonly now: number;
  readonly refusing: Refusing | "ban";
  readonly windows: Windows;
  /** The end of the ban in force, or of the one that was earned just now; 0 if there is none. */
  readonly bannedUntil: number;
}

const REFUSINGS = [null, "minute", "day", "ban"] as const;
const VERDICT_FIELDS = 7;
const CONDUCT_FIELDS = 5;

export function verdictOf(reply: Reply): Verdict {
  const [now, which, minuteOpenedAt, minuteCount, day, dayCount, bannedUntil] = reply as readonly number[];
  return {
    now: now as number,
    refusing: REFUSINGS[which as number] ?? null,
    windows: { minuteOpenedAt, minuteCount, day, dayCount } as Windows,
    bannedUntil: bannedUntil as number,
  };
}

/** Whether more follows what every script answers: one number, and the conduct. */
export function hasConduct(reply: Reply): boolean {
  return reply.length > VERDICT_FIELDS;
}

/** The number before the conduct: each script has its own. */
export function addedTo(reply: Reply): number {
  return reply[VERDICT_FIELDS] as number;
}

/** The conduct that a reply ends with. */
export function conductOf(reply: Reply): Conduct {
  const [windowResetAt, firstRefusedAt, strikes, level, goodSince] = reply.slice(-CONDUCT_FIELDS);
  return {
    windowResetAt: Number(windowResetAt),
    firstRefusedAt: Number(firstRefusedAt),
    strikes: strikes === "" ? [] : String(strikes).split(",").map(Number),
    level: Number(level),
    goodSince: Number(goodSince),
  };
}

/** The conduct as a script reads it. */
export function conductArgs({ windowResetAt, firstRefusedAt, strikes, level, goodSince }: Conduct): string[] {
  return [String(windowResetAt), String(firstRefusedAt), strikes.join(","), String(level), String(goodSince)];
}
