/** A plan's limits; those of enterprise are agreed with each client. */
export const plans = {
  free: { perMinute: 60, perDay: 1000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1000, perDay: 100_000 },
  enterprise: null,
} as const;

export type Plan = keyof typeof plans;

/** The limits of the operator's own client. */
export const operatorLimits = { perMinute: 100_000, perDay: 100_000_000 };
