import { DAY_SECONDS } from "../contract/days.ts";
import { QUESTIONS, type Quota } from "../contract/plans.ts";
import { type BanRules, type Conduct, judge } from "../core/bans.ts";
import type {
  Admission,
  KnownKey,
  LimitedKey,
  Limits,
  NewBanRecord,
  NewEvent,
  Standing,
} from "../core/ports.ts";
import { isHalfway, isWorthAWarning, quotaWarning, strikeWarning } from "../core/warnings.ts";
import { count, type LimitState, type Refusing, roll, stateOf, type Windows } from "../core/windows.ts";
import { type Conducts, type KeptConduct, knownConducts } from "./conducts.ts";
import { WindowTable } from "./table.ts";

/** Clients whose windows are in memory; with more, those that are written down are forgotten. */
const CLIENTS_IN_MEMORY = 2_000_000;
/** Addresses counted one by one; beyond that the rest of the day's new ones share one bucket. */
export const ADDRESSES_IN_MEMORY = 100_000;
/** Where addresses are counted that came when the table was full. */
const THE_REST = "the rest";

export interface MemoryOptions {
  readonly bans: BanRules;
  readonly anonymous: Quota;
  /** A key has earned a ban: it is to be kept, durably. */
  readonly onBan: (ban: NewBanRecord) => void;
  readonly tell: (event: NewEvent) => void;
  readonly clientsInMemory?: number;
}

export interface MemoryLimits extends Limits {
  /**
   * Takes over what the database knows of a key and its client, where memory knows nothing newer. `askedAt`, by
   * `performance.now()`, is when the database was asked: what was written down since is newer than its answer.
   */
  introduce(known: KnownKey, askedAt?: number): void;
  /** The database has the ban now. */
  banIsKept(ban: NewBanRecord): void;
  /** What has changed since it was last taken; it is to be written down before more is taken. */
  takeChanged(mostConducts: number): Changed;
  /** What was taken is written down. */
  areKept(changed: Pick<Changed, "conduct">): void;
  /** Whether there is more in memory than there should be. */
  isCrowded(): boolean;
  /**
   * Forgets what is written down; it is read again when it is next needed. To be called when nothing is on its way to
   * the database.
   */
  trim(): void;
}

/** Limits that answer at once, and that can go on from what was counted elsewhere. */
export interface LocalLimits extends MemoryLimits {
  admit(key: LimitedKey, now: number, isFree: boolean): Admission;
  admitAddress(address: string, now: number, isFree: boolean): Admission;
  ask(key: LimitedKey, now: number): { readonly standing: Standing; readonly waitSeconds: number | null };
  /** What is counted elsewhere, as it was last seen. */
  learn(clientId: number, windows: Windows): void;
  /** A key's conduct has changed elsewhere; it is to be written down. */
  learnConduct(keyId: number, conduct: Conduct): void;
  /** A ban was earned elsewhere, and the database does not have it yet. */
  learnBan(keyId: number, until: number): void;
  conductOf(keyId: number): Conduct;
  /** Until when a key is banned, by the database or by what it earned since. */
  banOf(key: LimitedKey, now: number): number | null;
  /** What an address is counted under: itself, or the rest if there are too many. */
  addressBucket(address: string, now: number): string;
  learnAddress(bucket: string, windows: Windows): void;
}

export interface Changed {
  /** As in a tally. */
  readonly windows: Float64Array;
  readonly conduct: readonly KeptConduct[];
}

/** Limits in this process's memory: exact, because nothing else runs between the check and the count. */
export function memoryLimits(options: MemoryOptions): LocalLimits {
  const { anonymous, tell, clientsInMemory = CLIENTS_IN_MEMORY } = options;
  const clients = new WindowTable();
  const conducts = knownConducts();
  const freshBans = bansNotYetKept();
  const refused = judging(options, conducts, freshBans);
  const questions = questionLimits(clientsInMemory);
  const addresses = addressLimits(anonymous);

  return {
    admit(key, now, isFree) {
      const bannedUntil = freshBans.banOf(key, now);
      const seconds = Math.floor(now / 1000);
      if (bannedUntil !== null)
        return { state: looked(clients, key.clientId, key, seconds), refusing: "ban", bannedUntil };
      const admission = counted(clients, key.clientId, key, seconds, isFree);
      const { state, refusing } = admission;
      if (refusing !== null) refused(key, refusing, state, now);
      else if (!isFree && isWorthAWarning(key, state)) tell(quotaWarning(key, state));
      return admission;
    },
    admitAddress: addresses.admit,
    ask(key, now) {
      const seconds = Math.floor(now / 1000);
      const standing: Standing = {
        state: looked(clients, key.clientId, key, seconds),
        conduct: conducts.of(key.keyId),
        bannedUntil: freshBans.banOf(key, now),
      };
      return { standing, waitSeconds: questions.waitSeconds(key.keyId, seconds) };
    },

    introduce({ id, clientId, windows, conduct }, askedAt = performance.now()) {
      if (!clients.has(clientId) && windows) clients.load(clientId, windows);
      conducts.introduce(id, conduct, askedAt);
    },
    banIsKept: freshBans.isKept,
    takeChanged: (mostConducts) => ({
      windows: clients.takeChanged(),
      conduct: conducts.takeChanged(mostConducts),
    }),
    areKept: ({ conduct }) => conducts.areKept(conduct),
    isCrowded: () => Math.max(clients.size, conducts.size()) > clientsInMemory,
    trim() {
      clients.dropUnchanged();
      conducts.trim();
    },

    learn: (clientId, windows) => clients.load(clientId, windows),
    learnConduct: conducts.change,
    learnBan: freshBans.add,
    conductOf: conducts.of,
    banOf: freshBans.banOf,
    addressBucket: addresses.bucketOf,
    learnAddress: addresses.learn,
  };
}

/** Bans that were earned and are not yet in the database. */
function bansNotYetKept() {
  const untilByKey = new Map<number, number>();
  return {
    /** Until when a key is banned, by the database or by one of these. */
    banOf({ keyId, bannedUntil }: LimitedKey, now: number): number | null {
      const until = Math.max(bannedUntil ?? 0, untilByKey.get(keyId) ?? 0);
      return until > now ? until : null;
    },
    add(keyId: number, until: number): void {
      untilByKey.set(keyId, until);
    },
    isKept({ keyId, until }: NewBanRecord): void {
      if (untilByKey.get(keyId) === until) untilByKey.delete(keyId);
    },
  };
}

type FreshBans = ReturnType<typeof bansNotYetKept>;

/** Judges a key that was refused: it may earn a strike, or with that a ban. */
function judging({ bans, onBan, tell }: MemoryOptions, conducts: Conducts, freshBans: FreshBans) {
  return (key: LimitedKey, refusing: Refusing, { minute, day }: LimitState, now: number): void => {
    const { keyId, clientId } = key;
    const isDay = refusing === "day";
    const window = { isDay, resetAt: (isDay ? day : minute).resetAt * 1000 };
    const before = conducts.of(keyId);
    const { conduct, isStrike, bannedUntil } = judge(before, window, now, bans);
    if (conduct === before) return;
    conducts.change(keyId, conduct);
    if (bannedUntil !== undefined) {
      const { level } = conduct;
      freshBans.add(keyId, bannedUntil);
      onBan({ keyId, clientId, cause: "strikes", reason: null, level, since: now, until: bannedUntil });
    } else if (isStrike && isHalfway(conduct, bans)) tell(strikeWarning(key, conduct, bans));
  };
}

/** Questions of keys about how they stand, which are counted by themselves. */
function questionLimits(keysInMemory: number) {
  const table = new WindowTable();
  return {
    /** Counts one; how long its key has to wait, if there were too many. */
    waitSeconds(keyId: number, seconds: number): number | null {
      if (table.size > keysInMemory) table.clear();
      const { state, refusing } = counted(table, keyId, QUESTIONS, seconds, false);
      return refusing === null ? null : state.minute.resetAt - seconds;
    },
  };
}

/** Addresses have windows but no conduct: an address never strikes. */
function addressLimits(quota: Quota) {
  const table = new WindowTable();
  /** Addresses in the order in which they came, which are their ids in the table. */
  const ids = new Map<string, number>();
  let filledOn = 0;
  const bucketOf = (address: string, now: number): string => {
    const day = Math.floor(now / 1000 / DAY_SECONDS);
    let bucket = address;
    if (!ids.has(address) && ids.size >= ADDRESSES_IN_MEMORY) {
      // Full: on a new day nobody's day is spent, so all can be forgotten; until then the rest share one bucket.
      if (day > filledOn) {
        ids.clear();
        table.clear();
      } else bucket = THE_REST;
    }
    if (ids.size < ADDRESSES_IN_MEMORY) filledOn = day;
    return bucket;
  };
  const idOf = (bucket: string): number => {
    const known = ids.get(bucket);
    if (known !== undefined) return known;
    const id = ids.size;
    ids.set(bucket, id);
    return id;
  };
  return {
    bucketOf,
    admit: (address: string, now: number, isFree: boolean): Admission =>
      counted(table, idOf(bucketOf(address, now)), quota, Math.floor(now / 1000), isFree),
    learn: (bucket: string, windows: Windows): void => table.load(idOf(bucket), windows),
  };
}

interface Counted extends Admission {
  readonly refusing: Refusing;
}

/** Counts one request, unless it is free. */
function counted(table: WindowTable, id: number, quota: Quota, seconds: number, isFree: boolean): Counted {
  if (isFree) return { state: looked(table, id, quota, seconds), refusing: null, bannedUntil: null };
  const windows = table.open(id);
  const refusing = count(windows, quota, seconds);
  table.keep();
  return { state: stateOf(windows, quota, seconds), refusing, bannedUntil: null };
}

/** How it stands, counting nothing. */
function looked(table: WindowTable, id: number, quota: Quota, seconds: number): LimitState {
  const windows = table.open(id);
  roll(windows, seconds);
  table.keep();
  return stateOf(windows, quota, seconds);
}
