import { DAY_MS } from "../contract/days.ts";
/** The published rule, in numbers. */
export interface BanRules {
  readonly strikes: number;
  readonly strikeWindowSeconds: number;
  readonly graceSeconds: number;
  /** How long each ban in a row lasts; the last stays. */
  readonly minutes: readonly number[];
}

/** How a key has behaved; times are milliseconds since 1970. */
export interface Conduct {
  /** The window in which the key last got a 429: when it resets, and when the first came. */
  readonly windowResetAt: number;
  readonly firstRefusedAt: number;
  /** When each strike of the last minutes was. */
  readonly strikes: readonly number[];
  /** How many bans it has behind it, less what good conduct took off. */
  readonly level: number;
  /** Since when it has been good: the end of its last ban, or its last strike after that. */
  readonly goodSince: number;
}

export const goodConduct: Conduct = {
  windowResetAt: 0,
  firstRefusedAt: 0,
  strikes: [],
  level: 0,
  goodSince: 0,
};

export interface Judged {
  readonly conduct: Conduct;
  readonly isStrike: boolean;
  /** Until when the key is banned from now on, if it is. */
  readonly bannedUntil?: number;
}

/**
 * A key got a 429. Its first of a window, and what was under way with it, is forgiven; what comes later is a strike, and
 * the last strike that the rule allows is a ban.
 */
export function judge(before: Conduct, window: RefusedWindow, now: number, rules: BanRules): Judged {
  if (before.windowResetAt !== window.resetAt) {
    return { conduct: { ...before, windowResetAt: window.resetAt, firstRefusedAt: now }, isStrike: false };
  }
  if (now - before.firstRefusedAt <= rules.graceSeconds * 1000) return { conduct: before, isStrike: false };
  const strikes = [...recent(before.strikes, now, rules), now];
  const level = levelAt(before, now);
  if (strikes.length < rules.strikes)
    return { conduct: { ...before, strikes, level, goodSince: now }, isStrike: true };
  const bannedUntil = banEnd(level + 1, window, now, rules);
  return {
    conduct: { ...before, strikes: [], level: level + 1, goodSince: bannedUntil },
    isStrike: true,
    bannedUntil,
  };
}

export interface RefusedWindow {
  readonly isDay: boolean;
  readonly resetAt: number;
}

/** The strikes that still count. */
export function recent(strikes: readonly number[], now: number, { strikeWindowSeconds }: BanRules): number[] {
  return strikes.filter((at) => at > now - strikeWindowSeconds * 1000);
}

/** Each full day without a strike, after the last ban's end, takes one level off. */
export function levelAt({ level, goodSince }: Conduct, now: number): number {
  const goodDays = Math.max(0, Math.floor((now - goodSince) / DAY_MS));
  return Math.max(0, level - goodDays);
}

/** A ban that was earned on the daily quota ends with the day, when the quota is new. */
function banEnd(
  level: number,
  { isDay, resetAt }: RefusedWindow,
  now: number,
  { minutes }: BanRules,
): number {
  const length = minutes[Math.min(level, minutes.length) - 1] as number;
  const end = now + length * 60_000;
  return isDay ? Math.min(end, resetAt) : end;
}

/** Of several keys' conduct the one that a new key of theirs starts with: the most strikes, and the highest level. */
export function worst(conducts: readonly Conduct[], now: number, rules: BanRules): Conduct | undefined {
  const [first] = conducts.toSorted(
    (a, b) => recent(b.strikes, now, rules).length - recent(a.strikes, now, rules).length,
  );
  if (!first) return undefined;
  const highest = conducts.reduce((a, b) => (levelAt(b, now) > levelAt(a, now) ? b : a));
  return { ...first, level: highest.level, goodSince: highest.goodSince };
}
