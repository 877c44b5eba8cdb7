import { goodConduct } from "../../core/bans.ts";
import type { Quota } from "../../core/plans.ts";
import type { Admission, LimitedKey } from "../../core/ports.ts";
import { MINUTE_SECONDS, stateOf } from "../../core/windows.ts";
import {
  isHalfway,
  isWorthAWarning,
  type MemoryLimits,
  type MemoryOptions,
  memoryLimits,
  QUESTIONS,
  quotaWarning,
  strikeWarning,
} from "../memory.ts";
import { keyNames } from "./keys.ts";
import { NotDone, openLink, type Reply, type Send, TIMEOUT_MS } from "./link.ts";
import { missed } from "./missed.ts";
import { conductArgs, conductOf, type Judged, judgedOf } from "./replies.ts";
import { ADDRESS_KEPT_SECONDS, CLIENT_KEPT_SECONDS } from "./scripts.ts";

/** Windows and conducts that are caught up at once; the last of them are sent just ahead of the first request. */
const CAUGHT_UP_AT_ONCE = 500;

export interface ValkeyOptions extends MemoryOptions {
  readonly url: string;
  /** Before every key, so that several stores can share a Valkey. */
  readonly prefix: string;
  /** Valkey's own clock judges; a test that moves time by hand gives its own. */
  readonly clock: "server" | (() => number);
  /** How long Valkey may be silent while requests wait. */
  readonly timeoutMs?: number;
  /** Valkey cannot be reached: limits go on in memory. */
  readonly onAway: (cause: string) => void;
  /** Valkey is back and has caught up. */
  readonly onBack: () => void;
}

export interface ValkeyLimits extends MemoryLimits {
  /** Valkey has answered for the first time, or is known to be away. */
  readonly settled: Promise<void>;
  state(): ValkeyState;
  close(): void;
}

export interface ValkeyState {
  readonly isAway: boolean;
  /** How often it went away, and how many requests were limited from memory. */
  readonly outages: number;
  readonly limitedFromMemory: number;
}

/**
 * Limits in Valkey, shared by all instances: a request is one script, which is one atomic step. Memory sees every count
 * that comes back, and goes on from there by itself while Valkey is away.
 */
export function valkeyLimits(options: ValkeyOptions): ValkeyLimits {
  const { bans, anonymous, onBan, tell, clock } = options;
  const memory = memoryLimits(options);
  const names = keyNames(options.prefix);
  const meanwhile = missed();
  let outages = 0;
  let limitedFromMemory = 0;

  const strikeWindowMs = String(bans.strikeWindowSeconds * 1000);
  const rules = [
    String(bans.strikes),
    strikeWindowMs,
    String(bans.graceSeconds * 1000),
    bans.minutes.join(","),
  ];
  const time = () => (clock === "server" ? "" : String(clock()));

  const link = openLink({
    url: options.url,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    probeKey: names.probe,
    catchUp: (send) => catchUp(send),
    onDown: (cause) => {
      outages += 1;
      options.onAway(cause);
    },
    onUp: (send) => {
      // On their way before the first request is, on the same connection: nothing comes in between.
      while (meanwhile.size > 0) for (const sent of sendMissed(send)) sent.catch(() => {});
      options.onBack();
    },
  });

  const catchUp = async (send: Send) => {
    while (meanwhile.size > CAUGHT_UP_AT_ONCE) await Promise.all(sendMissed(send));
  };
  const sendMissed = (send: Send): Promise<Reply>[] => {
    const { windows, conducts } = meanwhile.take(CAUGHT_UP_AT_ONCE);
    return [
      ...windows.map((each) => {
        const { name, keptSeconds, day, dayCount, minuteOpenedAt, minuteCount } = each;
        const counts = [keptSeconds, day, dayCount, minuteOpenedAt, minuteCount].map(String);
        return send("addWindows", name, time(), ...counts).catch((error) => {
          // Without an answer it may have been added, and is not sent again.
          if (error instanceof NotDone) meanwhile.giveBack(each);
          throw error;
        });
      }),
      ...conducts.map((each) => {
        const { name, conduct, lifts } = each;
        const args = [time(), String(lifts), strikeWindowMs, ...conductArgs(conduct)];
        return send("addConduct", name, ...args).catch((error) => {
          // The most strikes are taken, not the sum: what may have been added can be sent again.
          meanwhile.giveBackConduct(each);
          throw error;
        });
      }),
    ];
  };

  const admitInMemory = (key: LimitedKey, now: number, isFree: boolean, isMissed: boolean): Admission => {
    limitedFromMemory += 1;
    const admission = memory.admit(key, now, isFree);
    const { refusing, state } = admission;
    if (refusing === null && !isFree && isMissed)
      meanwhile.count(names.windows(key.clientId), CLIENT_KEPT_SECONDS, state);
    if (refusing === "minute" || refusing === "day")
      meanwhile.noteConduct(
        names.conduct(key.clientId, key.keyId),
        memory.conductOf(key.keyId),
        key.lifts ?? 0,
      );
    return admission;
  };
  const admitAddressInMemory = (address: string, now: number, isFree: boolean, isMissed: boolean) => {
    limitedFromMemory += 1;
    const bucket = memory.addressBucket(address, now);
    const admission = memory.admitAddress(address, now, isFree);
    if (admission.refusing === null && !isFree && isMissed)
      meanwhile.count(names.address(bucket), ADDRESS_KEPT_SECONDS, admission.state);
    return admission;
  };

  /** A request that was refused may have changed how its key is judged; the instance that hears of it tells. */
  const heardOf = (key: LimitedKey, { now, bannedUntil }: Judged, reply: Reply) => {
    if (reply.length <= JUDGED_FIELDS) return;
    const conduct = conductOf(reply);
    const isStrike = reply[JUDGED_FIELDS] === 1;
    memory.learnConduct(key.keyId, conduct);
    const { keyId, clientId } = key;
    if (bannedUntil > 0) {
      const { level } = conduct;
      memory.learnBan(keyId, bannedUntil);
      onBan({ keyId, clientId, cause: "strikes", reason: null, level, since: now, until: bannedUntil });
    } else if (isStrike && isHalfway(conduct, bans)) tell(strikeWarning(key, conduct, bans));
  };
  const admitted = (key: LimitedKey, isFree: boolean, reply: Reply): Admission => {
    const judged = judgedOf(reply);
    const { now, refusing, windows, bannedUntil } = judged;
    memory.learn(key.clientId, windows);
    const state = stateOf(windows, key, Math.floor(now / 1000));
    if (refusing === "minute" || refusing === "day") heardOf(key, judged, reply);
    else if (refusing === null && !isFree && isWorthAWarning(key, state)) tell(quotaWarning(key, state));
    return { state, refusing, bannedUntil: refusing === "ban" ? bannedUntil : null, judgedAt: now };
  };

  return {
    // What is written behind, and bans that are on their way, are memory's business as ever.
    ...memory,

    admit(key, now, isFree) {
      if (!link.isUp()) return admitInMemory(key, now, isFree, true);
      const { clientId, keyId, perMinute, perDay, bannedUntil, lifts = 0 } = key;
      return link
        .send(
          "admit",
          names.windows(clientId),
          names.conduct(clientId, keyId),
          time(),
          String(perMinute),
          String(perDay),
          String(bannedUntil ?? 0),
          String(lifts),
          isFree ? "1" : "0",
          ...rules,
        )
        .then(
          (reply) => admitted(key, isFree, reply),
          (error) => admitInMemory(key, now, isFree, error instanceof NotDone),
        );
    },

    admitAddress(address, now, isFree) {
      if (!link.isUp()) return admitAddressInMemory(address, now, isFree, true);
      const bucket = memory.addressBucket(address, now);
      const { perMinute, perDay }: Quota = anonymous;
      return link
        .send(
          "admitAddress",
          names.address(bucket),
          time(),
          String(perMinute),
          String(perDay),
          isFree ? "1" : "0",
        )
        .then(
          (reply) => {
            const { now: judgedAt, refusing, windows } = judgedOf(reply);
            memory.learnAddress(bucket, windows);
            const state = stateOf(windows, anonymous, Math.floor(judgedAt / 1000));
            return { state, refusing, bannedUntil: null, judgedAt };
          },
          (error) => admitAddressInMemory(address, now, isFree, error instanceof NotDone),
        );
    },

    ask(key, now) {
      if (!link.isUp()) return memory.ask(key, now);
      const { clientId, keyId, bannedUntil } = key;
      return link
        .send(
          "ask",
          names.windows(clientId),
          names.conduct(clientId, keyId),
          names.questions(clientId, keyId),
          time(),
          String(bannedUntil ?? 0),
          String(QUESTIONS.perMinute),
          String(QUESTIONS.perDay),
        )
        .then(
          (reply) => {
            const { now: judgedAt, refusing, windows, bannedUntil: until } = judgedOf(reply);
            memory.learn(clientId, windows);
            const seconds = Math.floor(judgedAt / 1000);
            const standing = {
              state: stateOf(windows, key, seconds),
              conduct: conductOf(reply),
              bannedUntil: until > judgedAt ? until : null,
              judgedAt,
            };
            const askedSince = reply[JUDGED_FIELDS] as number;
            return {
              standing,
              waitSeconds: refusing === null ? null : askedSince + MINUTE_SECONDS - seconds,
            };
          },
          () => memory.ask(key, now),
        );
    },

    introduce(known, askedAt) {
      memory.introduce(known, askedAt);
      const { id, clientId, conduct, lifts } = known;
      if (!link.isUp() || (!conduct && lifts === 0)) return;
      // What cannot be told now is told after the outage, when every key is looked up anew.
      link
        .send(
          "introduce",
          names.conduct(clientId, id),
          time(),
          String(lifts),
          strikeWindowMs,
          ...conductArgs(conduct ?? goodConduct),
        )
        .catch(() => {});
    },

    // The windows are Valkey's: they are not written down.
    takeChanged: (mostConducts) => ({ ...memory.takeChanged(mostConducts), windows: noWindows }),
    // What was counted while Valkey is away is nowhere else.
    isCrowded: () => link.isUp() && memory.isCrowded(),

    settled: link.settled,
    state: () => ({ isAway: !link.isUp(), outages, limitedFromMemory }),
    close: link.close,
  };
}

const noWindows = new Float64Array();

/** Where what only some replies hold begins. */
const JUDGED_FIELDS = 7;
