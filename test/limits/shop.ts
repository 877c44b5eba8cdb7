// Limits without a server around them: what main.ts, the database and the callers do for them is done here by hand.

import type { Quota } from "../../src/contract/plans.ts";
import { type BanRules, type Conduct, goodConduct, levelAt } from "../../src/core/bans.ts";
import type {
  Admission,
  Awaitable,
  KnownKey,
  LimitedKey,
  NewBanRecord,
  NewEvent,
  Standing,
} from "../../src/core/ports.ts";
import { windowRows } from "../../src/core/tally.ts";
import type { Windows } from "../../src/core/windows.ts";
import type { MemoryLimits, MemoryOptions } from "../../src/limits/memory.ts";
import { NOON } from "../harness.ts";

export const RULES: BanRules = {
  strikes: 20,
  strikeWindowSeconds: 300,
  graceSeconds: 2,
  minutes: [5, 15, 60, 1440],
};
const ROWS_AT_ONCE = 500;

/** What the database knows of a key. */
export function knownKey(key: LimitedKey, rest: Partial<KnownKey> = {}): KnownKey {
  return {
    ...key,
    id: key.keyId,
    role: "customer",
    name: null,
    lastFour: "abcd",
    createdAt: NOON,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    clientSuspendedAt: null,
    lifts: key.lifts ?? 0,
    windows: null,
    conduct: null,
    ...rest,
  };
}

export interface OpenedLimits {
  readonly limits: MemoryLimits;
  close(): Awaitable<void>;
}

/** Opens limits. `run` counts the restarts, so that what they keep elsewhere is found again. */
export type OpenLimits = (
  options: MemoryOptions & { readonly clock: () => number },
  shop: { readonly name: string; readonly run: number },
) => Promise<OpenedLimits>;

export interface ShopKey {
  quota: Quota;
  request(): Promise<Admission>;
  look(): Promise<Admission>;
  /** So many requests, one after another, and how often each answer came. */
  times(number: number): Promise<Record<string, number>>;
  /** So many requests in one turn, and what each was told. */
  atOnce(number: number): Promise<Admission[]>;
  question(): Promise<{ standing: Standing; waitSeconds: number | null }>;
  standing(): Promise<Standing>;
}

export interface Shop extends AsyncDisposable {
  readonly clock: { now: number };
  readonly bans: NewBanRecord[];
  readonly events: NewEvent[];
  key(keyId: number, clientId: number, quota: Quota): ShopKey;
  address(address: string, isFree?: boolean): Promise<Admission>;
  /** What an admin does, in the database. */
  impose(keyId: number, minutes: number): void;
  lift(keyId: number): void;
  /** A key whose conduct was written down by somebody else, such as a rotation. */
  inherit(keyId: number, conduct: Conduct): void;
  /** Writes down what has changed. */
  settle(): void;
  restart(): Promise<void>;
}

/** Opens a shop with the limits that a suite is about. */
export type OpenShop = (options?: { rules?: BanRules }) => Promise<Shop>;

/** What the database keeps of a key. */
interface Row {
  /** When each of its bans ends, those that were lifted aside. */
  bans: number[];
  lifts: number;
  conduct: Conduct | null;
}

export async function aShop(open: OpenLimits, options: { rules?: BanRules } = {}): Promise<Shop> {
  const name = crypto.randomUUID();
  const clock = { now: NOON };
  const bans: NewBanRecord[] = [];
  const events: NewEvent[] = [];
  const rows = new Map<number, Row>();
  const windows = new Map<number, Windows>();
  /** Keys that the limits were told of since something changed. */
  const introduced = new Set<number>();
  const row = (keyId: number): Row => {
    const kept = rows.get(keyId) ?? { bans: [], lifts: 0, conduct: null };
    rows.set(keyId, kept);
    return kept;
  };
  const given = {
    bans: options.rules ?? RULES,
    anonymous: { perMinute: 3, perDay: 20 },
    clock: () => clock.now,
    tell: (event: NewEvent) => void events.push(event),
    onBan: (ban: NewBanRecord) => {
      bans.push(ban);
      row(ban.keyId).bans.push(ban.until);
      introduced.clear();
      queueMicrotask(() => opened.limits.banIsKept(ban));
    },
  };
  let run = 0;
  let opened = await open(given, { name, run });

  const settle = () => {
    const part = opened.limits.takeChanged(ROWS_AT_ONCE);
    for (const { keyId, conduct } of part.conduct) row(keyId).conduct = conduct;
    for (const { clientId, ...rest } of windowRows(part.windows)) {
      windows.set(clientId, rest);
    }
    opened.limits.areKept(part);
  };
  const known = (keyId: number, clientId: number, quota: Quota) => {
    const { bans, lifts, conduct } = row(keyId);
    const key = { ...quota, keyId, clientId, lifts, bannedUntil: bans.length > 0 ? Math.max(...bans) : null };
    if (introduced.has(keyId)) return key;
    introduced.add(keyId);
    opened.limits.introduce(knownKey(key, { windows: windows.get(clientId) ?? null, conduct }));
    return key;
  };

  const lift = (keyId: number) => {
    settle();
    const kept = row(keyId);
    const left = kept.bans.filter((until) => until <= clock.now);
    if (left.length === kept.bans.length) return;
    const conduct = kept.conduct ?? goodConduct;
    const level = levelAt(conduct, clock.now);
    kept.conduct = { ...conduct, strikes: [], level, goodSince: clock.now };
    kept.lifts += kept.bans.length - left.length;
    kept.bans = left;
    introduced.clear();
  };

  return {
    clock,
    bans,
    events,
    settle,
    key(keyId, clientId, quota) {
      const key: ShopKey = {
        quota,
        request: async () => opened.limits.admit(known(keyId, clientId, key.quota), clock.now, false),
        look: async () => opened.limits.admit(known(keyId, clientId, key.quota), clock.now, true),
        async times(number) {
          const counts: Record<string, number> = {};
          for (let time = 0; time < number; time++) {
            const answer = (await key.request()).refusing ?? "ok";
            counts[answer] = (counts[answer] ?? 0) + 1;
          }
          return counts;
        },
        atOnce(number) {
          const same = known(keyId, clientId, key.quota);
          const request = async () => opened.limits.admit(same, clock.now, false);
          return Promise.all(Array.from({ length: number }, request));
        },
        question: async () => opened.limits.ask(known(keyId, clientId, key.quota), clock.now),
        standing: async () => (await key.question()).standing,
      };
      return key;
    },
    address: async (address, isFree = false) => opened.limits.admitAddress(address, clock.now, isFree),
    impose(keyId, minutes) {
      lift(keyId);
      row(keyId).bans.push(clock.now + minutes * 60_000);
      introduced.clear();
    },
    lift,
    inherit(keyId, conduct) {
      row(keyId).conduct = conduct;
      introduced.clear();
    },
    async restart() {
      settle();
      await opened.close();
      run += 1;
      introduced.clear();
      opened = await open(given, { name, run });
    },
    [Symbol.asyncDispose]: async () => void (await opened.close()),
  };
}
