import { rateLimitOf, retryAfterSecondsOf } from "./rates.ts";

/** What the answers so far told of the limit. */
export interface Windows {
  /** How the limit stands, by this side's clock. */
  standing(at: number): Standing;
  /** Takes in an answer, or that none came; what costs nothing is not counted. */
  learn(response: Response | undefined, sentAt: number, at: number, isCounted?: boolean): void;
}

export interface Standing {
  /** Whether no window has ended since it was last told of. */
  readonly isKnown: boolean;
  /** Requests that the server would take, as of the last answers. */
  readonly remaining: number;
  /** When a spent window ends; the past if none is spent. */
  readonly spentUntil: number;
}

/** A window's end lies between two moments of this side's clock. */
interface Window {
  remaining: number;
  endsAfter: number;
  endsBefore: number;
  /** When the request was sent that was the last to tell of it. */
  sentAt: number;
  /** When it was last told of. */
  toldAt: number;
}

const unlimited: Standing = { isKnown: true, remaining: Number.POSITIVE_INFINITY, spentUntil: 0 };

export function windowsSeen(): Windows {
  const windows = new Map<string, Window>();
  let isUnlimited = false;

  /** Whole seconds and the way of the answer leave the end open between two moments; each answer narrows it. */
  function note(name: string, remaining: number, resetSeconds: number, sentAt: number, at: number): void {
    const endsAfter = sentAt + (resetSeconds - 1) * 1000;
    const endsBefore = at + resetSeconds * 1000;
    const known = windows.get(name);
    if (known && endsAfter <= known.endsBefore && endsBefore >= known.endsAfter) {
      // Answers overtake each other; only one that was asked for after the last may tell of more room, such as a larger plan's.
      known.remaining = sentAt > known.toldAt ? remaining : Math.min(known.remaining, remaining);
      known.endsAfter = Math.max(known.endsAfter, endsAfter);
      known.endsBefore = Math.min(known.endsBefore, endsBefore);
      known.sentAt = Math.max(known.sentAt, sentAt);
      known.toldAt = at;
    } else if (!known || sentAt >= known.sentAt)
      windows.set(name, { remaining, endsAfter, endsBefore, sentAt, toldAt: at });
  }

  return {
    standing(at) {
      if (isUnlimited) return unlimited;
      let isKnown = windows.size > 0;
      let remaining = Number.POSITIVE_INFINITY;
      let spentUntil = 0;
      for (const window of windows.values()) {
        if (window.endsBefore <= at) isKnown = false;
        else if (window.remaining > 0) remaining = Math.min(remaining, window.remaining);
        else spentUntil = Math.max(spentUntil, window.endsBefore);
      }
      return { isKnown, remaining, spentUntil };
    },

    learn(response, sentAt, at, isCounted = true) {
      const told = response && !isRehearsed(response) ? response.headers : undefined;
      const limit = told && rateLimitOf(told);
      const retryAfter = told && response?.status === 429 ? retryAfterSecondsOf(told) : undefined;
      if (limit) {
        windows.delete("retry");
        for (const { name, remaining, resetSeconds } of limit.windows)
          note(name, remaining, resetSeconds, sentAt, at);
      } else if (!isCounted) return;
      else if (retryAfter !== undefined) note("retry", 0, retryAfter, sentAt, at);
      else if (!response?.ok) {
        // It may have been counted.
        for (const window of windows.values()) {
          window.remaining -= 1;
          window.toldAt = at;
        }
        return;
      } else windows.clear();
      isUnlimited = windows.size === 0;
    },
  };
}

/** A rehearsal's headers tell of a limit that is only played. */
function isRehearsed({ headers }: Response): boolean {
  return headers.get("preference-applied")?.includes("simulate") ?? false;
}
