// For frameworks that bring no limiter: two fixed windows in memory, as short as they can be.
import { anonymous, duties } from "./duties.js";
import { Refused } from "./shop.js";

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** Counts a request of a client in its minute and its day; gives the headers, or refuses. */
export function windows() {
  const counts = new Map();
  return ({ clientId, perMinute, perDay }, now = Date.now()) => {
    let own = counts.get(clientId);
    if (!own) {
      own = { minuteEnds: 0, minute: 0, dayEnds: 0, day: 0 };
      counts.set(clientId, own);
    }
    if (now >= own.minuteEnds) {
      own.minuteEnds = now + MINUTE_MS;
      own.minute = 0;
    }
    if (now >= own.dayEnds) {
      own.dayEnds = now + DAY_MS;
      own.day = 0;
    }
    const isSpent = own.minute >= perMinute || own.day >= perDay;
    if (!isSpent) {
      own.minute += 1;
      own.day += 1;
    }
    const ends = own.day >= perDay ? own.dayEnds : own.minuteEnds;
    const reset = Math.ceil((ends - now) / 1000);
    const headers = {
      "x-ratelimit-limit": String(perMinute),
      "x-ratelimit-remaining": String(perMinute - own.minute),
      "x-ratelimit-reset": String(reset),
    };
    if (duties) Object.assign(headers, draftHeaders(own, perMinute, perDay, now));
    return { headers, isSpent, retryAfter: String(reset) };
  };
}

function draftHeaders({ minute, minuteEnds, day, dayEnds }, perMinute, perDay, now) {
  return duties.rates(
    { limit: perMinute, remaining: perMinute - minute, seconds: Math.ceil((minuteEnds - now) / 1000) },
    { limit: perDay, remaining: perDay - day, seconds: Math.ceil((dayEnds - now) / 1000) },
  );
}

export const spent = new Refused(429, "rate_limit_exceeded", "All requests of this minute or day are spent.");

/**
 * Who asks, and whether they may, where refusals have duties too: whoever has no valid key is counted by address,
 * and what a request is refused for is given back, to be written down.
 */
export function admission(identify) {
  const admit = windows();
  return (key, addressOf) => {
    let client;
    let refused;
    try {
      client = identify(key);
    } catch (error) {
      refused = error;
    }
    const { headers, isSpent, retryAfter } = admit(client ?? { clientId: addressOf(), ...anonymous });
    if (isSpent) headers["retry-after"] = retryAfter;
    if (refused) Object.assign(headers, duties.refusal(refused.status));
    return { client, headers, refused: isSpent ? spent : refused };
  };
}
