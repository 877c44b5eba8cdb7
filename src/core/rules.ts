import type { BanRules } from "./bans.ts";

/** The settings that the rules of the store depend on. */
export interface Rules {
  readonly newPetStock: number;
  readonly bans: BanRules;
  readonly webhooks: WebhookRules;
}

/** Where webhooks may be sent to. */
export interface WebhookRules {
  /** Also to private addresses, and without encryption. */
  readonly allowPrivate: boolean;
}

/** The settings as they are written, one by one. */
export interface RuleSettings {
  readonly newPetStock: number;
  readonly banStrikes: number;
  readonly banStrikeWindowSeconds: number;
  readonly banGraceSeconds: number;
  readonly banMinutes: readonly number[];
  readonly webhooksAllowPrivate: boolean;
}

export function rulesOf(settings: RuleSettings): Rules {
  const { newPetStock, banStrikes, banStrikeWindowSeconds, banGraceSeconds, banMinutes } = settings;
  return {
    newPetStock,
    bans: {
      strikes: banStrikes,
      strikeWindowSeconds: banStrikeWindowSeconds,
      graceSeconds: banGraceSeconds,
      minutes: banMinutes,
    },
    webhooks: { allowPrivate: settings.webhooksAllowPrivate },
  };
}
