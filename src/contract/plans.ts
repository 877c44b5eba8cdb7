/** What a client may ask for. */
export interface Quota {
  readonly perMinute: number;
  readonly perDay: number;
}

/** Questions about its limits that a key may ask. */
export const QUESTIONS: Quota = { perMinute: 60, perDay: 60 * 24 * 60 };

/** A plan's limits; those of enterprise are agreed with each client. */
export const plans = {
  free: { perMinute: 60, perDay: 1000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Quota | null>;

export type Plan = keyof typeof plans;
