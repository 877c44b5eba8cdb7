// Several instances that share one Valkey, by a clock that is moved by hand.
import type { LimitedKey, NewBanRecord, NewEvent } from "../../src/core/ports.ts";
import { NOON } from "../harness.ts";
import { type InValkey, inValkey } from "./in-valkey.ts";
import { RULES } from "./shop.ts";

export interface Instances extends Disposable {
  readonly all: readonly InValkey[];
  readonly one: InValkey;
  readonly other: InValkey;
  readonly prefix: string;
  readonly clock: { now: number };
  readonly bans: NewBanRecord[];
  readonly events: NewEvent[];
}

/** So many instances that share one Valkey. */
export async function instances(on: { url: string }, number: number, isReal = false): Promise<Instances> {
  const prefix = crypto.randomUUID();
  const clock = { now: NOON };
  const bans: NewBanRecord[] = [];
  const events: NewEvent[] = [];
  const options = {
    bans: RULES,
    anonymous: { perMinute: 60, perDay: 1000 },
    onBan: (ban: NewBanRecord) => void bans.push(ban),
    tell: (event: NewEvent) => void events.push(event),
    ...(!isReal && { clock: () => clock.now }),
  };
  const all = await Promise.all(Array.from({ length: number }, () => inValkey(on, prefix, options)));
  const [one, other] = [all[0] as InValkey, all.at(-1) as InValkey];
  return {
    all,
    one,
    other,
    prefix,
    clock,
    bans,
    events,
    [Symbol.dispose]: () => {
      for (const each of all) each.close();
    },
  };
}

export const KEY: LimitedKey = { keyId: 1, clientId: 1, perMinute: 60, perDay: 1000, bannedUntil: null };

export async function times({ limits }: InValkey, key: LimitedKey, number: number, now: number) {
  const counts: Record<string, number> = {};
  for (let time = 0; time < number; time++) {
    const answer = (await limits.admit(key, now, false)).refusing ?? "ok";
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}
