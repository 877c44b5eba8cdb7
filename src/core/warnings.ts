import type { Quota } from "../contract/plans.ts";
import type { BanRules, Conduct } from "./bans.ts";
import type { LimitedKey, NewEvent } from "./ports.ts";
import type { LimitState } from "./windows.ts";

/** The part of a day's quota at which its client is warned. */
const WARN_AT = 0.8;

/** Whether this very request has spent the part of the day that a client is warned at. */
export function isWorthAWarning({ perDay }: Quota, { day }: LimitState): boolean {
  return day.remaining === perDay - Math.ceil(perDay * WARN_AT);
}

/** Whether this very strike is the one that a client is warned at. */
export function isHalfway({ strikes }: Conduct, bans: BanRules): boolean {
  return strikes.length === Math.ceil(bans.strikes / 2);
}

export function quotaWarning({ clientId, perDay }: LimitedKey, { day }: LimitState): NewEvent {
  const data = { clientId, limit: perDay, used: perDay - day.remaining, resetAt: day.resetAt };
  return { type: "quota.warning", subject: `clients/${clientId}`, clientId, data };
}

export function strikeWarning({ keyId, clientId }: LimitedKey, conduct: Conduct, bans: BanRules): NewEvent {
  const data = { keyId, clientId, strikes: conduct.strikes.length, threshold: bans.strikes };
  return { type: "key.strike_warning", subject: `keys/${keyId}`, clientId, data };
}
