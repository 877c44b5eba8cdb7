import { goodConduct } from "../../core/bans.ts";
import type { SharedLimitsFigures } from "../../core/figures.ts";
import { QUESTIONS, type Quota } from "../../core/plans.ts";
import type { Admission, LimitedKey } from "../../core/ports.ts";
import { isHalfway, isWorthAWarning, quotaWarning, strikeWarning } from "../../core/warnings.ts";
import { MINUTE_SECONDS, stateOf } from "../../core/windows.ts";
import { type MemoryLimits, type MemoryOptions, memoryLimits } from "../memory.ts";
import { catchingUp } from "./catching-up.ts";
import type { Reply } from "./driver.ts";
import { keyNames } from "./keys.ts";
import { type Send, TIMEOUT_MS } from "./link.ts";
import { missed } from "./missed.ts";
import { openNodes } from "./nodes.ts";
import { Elsewhere, NotDone } from "./not-done.ts";
import { conductArgs, conductOf, type Judged, judgedOf } from "./replies.ts";
import { ADDRESS_KEPT_SECONDS, CLIENT_KEPT_SECONDS } from "./scripts.ts";
import { inTurns } from "./turns.ts";

/** How often windows that are over are dropped from what is to be told after an outage. */
const FORGET_EVERY_MS = 3_600_000;

export interface ValkeyOptions extends MemoryOptions {
  /** One server, or some nodes of one cluster. */
  readonly urls: readonly string[];
  /** Before every key, so that several stores can share a Valkey. */
  readonly prefix: string;
  /** Valkey's own clock judges; a test that moves time by hand gives its own. */
  readonly clock: "server" | (() => number);
  /** How long Valkey may be silent while requests wait. */
  readonly timeoutMs?: number;
  /** Valkey, or a node of a cluster, cannot be reached: limits go on in memory. */
  readonly onAway: (cause: string, node: string | null) => void;
  /** It is still away, and a cause that was not told yet has come to light. */
  readonly onStillAway: (cause: string, node: string | null) => void;
  /** It is back and has caught up. */
  readonly onBack: (node: string | null) => void;
}

export interface ValkeyLimits extends MemoryLimits {
  /** Valkey has answered for the first time, or is known to be away. */
  readonly settled: Promise<void>;
  state(): SharedLimitsFigures;
  close(): void;
}

/**
 * Limits in Valkey, shared by all instances: the requests of a key in one turn are one script, which is one atomic step. Memory sees every count
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

  const valkey = openNodes({
    urls: options.urls,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    probeKey: names.probe,
    ...catchingUp(meanwhile, time, strikeWindowMs),
    onAway: (cause, node) => {
      outages += 1;
      options.onAway(cause, node);
    },
    onStillAway: options.onStillAway,
    onBack: options.onBack,
  });
  const forgetting = setInterval(
    () => meanwhile.forget(Math.floor((clock === "server" ? Date.now() : clock()) / 1000)),
    FORGET_EVERY_MS,
  );
  forgetting.unref();

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
  const asked = inTurns(async (send, key, isFree, requests) => {
    const { clientId, keyId, perMinute, perDay, bannedUntil, lifts = 0 } = key;
    const replies: unknown = await send(
      "admit",
      names.windows(clientId),
      names.conduct(clientId, keyId),
      time(),
      String(requests),
      String(perMinute),
      String(perDay),
      String(bannedUntil ?? 0),
      String(lifts),
      isFree ? "1" : "0",
      ...rules,
    );
    return replies as readonly Reply[];
  });
  const admitted = (key: LimitedKey, isFree: boolean, reply: Reply): Admission => {
    const judged = judgedOf(reply);
    const { now, refusing, windows, bannedUntil } = judged;
    memory.learn(key.clientId, windows);
    const state = stateOf(windows, key, Math.floor(now / 1000));
    if (refusing === "minute" || refusing === "day") heardOf(key, judged, reply);
    else if (refusing === null && !isFree && isWorthAWarning(key, state)) tell(quotaWarning(key, state));
    return { state, refusing, bannedUntil: refusing === "ban" ? bannedUntil : null, judgedAt: now };
  };
  /**
   * While a slot moves from one node to another a script of several keys cannot run. The windows are one key: they are counted
   * as exactly as ever. The ban and the conduct are those that this instance knows, as in an outage.
   */
  const admitInPassing = async (send: Send, key: LimitedKey, now: number, isFree: boolean) => {
    const known = memory.admit(key, now, true);
    if (known.refusing === "ban") return known;
    try {
      const name = names.windows(key.clientId);
      const reply = await send("admitWindows", name, time(), ...windowArgs(key, CLIENT_KEPT_SECONDS, isFree));
      const { now: judgedAt, refusing, windows } = judgedOf(reply);
      if (refusing === null) return admitted(key, isFree, reply);
      memory.learn(key.clientId, windows);
      return admitInMemory(key, judgedAt, isFree, false);
    } catch (error) {
      return admitInMemory(key, now, isFree, error instanceof NotDone);
    }
  };
  const standingOf = (key: LimitedKey, reply: Reply) => {
    const { now: judgedAt, refusing, windows, bannedUntil } = judgedOf(reply);
    memory.learn(key.clientId, windows);
    const seconds = Math.floor(judgedAt / 1000);
    const standing = {
      state: stateOf(windows, key, seconds),
      conduct: conductOf(reply),
      bannedUntil: bannedUntil > judgedAt ? bannedUntil : null,
      judgedAt,
    };
    const askedSince = reply[JUDGED_FIELDS] as number;
    return { standing, waitSeconds: refusing === null ? null : askedSince + MINUTE_SECONDS - seconds };
  };

  return {
    // What is written behind, and bans that are on their way, are memory's business as ever.
    ...memory,

    admit(key, now, isFree) {
      const send = valkey.to(names.windows(key.clientId));
      if (!send) return admitInMemory(key, now, isFree, true);
      return asked(send, key, isFree).then(
        (reply) => admitted(key, isFree, reply),
        (error) =>
          error instanceof Elsewhere && error.kind === "TRYAGAIN"
            ? admitInPassing(send, key, now, isFree)
            : admitInMemory(key, now, isFree, error instanceof NotDone),
      );
    },

    admitAddress(address, now, isFree) {
      const bucket = memory.addressBucket(address, now);
      const name = names.address(bucket);
      const send = valkey.to(name);
      if (!send) return admitAddressInMemory(address, now, isFree, true);
      return send("admitWindows", name, time(), ...windowArgs(anonymous, ADDRESS_KEPT_SECONDS, isFree)).then(
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
      const { clientId, keyId, bannedUntil } = key;
      const windows = names.windows(clientId);
      const send = valkey.to(windows);
      if (!send) return memory.ask(key, now);
      return send(
        "ask",
        windows,
        names.conduct(clientId, keyId),
        names.questions(clientId, keyId),
        time(),
        String(bannedUntil ?? 0),
        String(QUESTIONS.perMinute),
        String(QUESTIONS.perDay),
      ).then(
        (reply) => standingOf(key, reply),
        () => memory.ask(key, now),
      );
    },

    introduce(known, askedAt) {
      memory.introduce(known, askedAt);
      const { id, clientId, conduct, lifts } = known;
      if (!conduct && lifts === 0) return;
      const name = names.conduct(clientId, id);
      const args = [time(), String(lifts), strikeWindowMs, ...conductArgs(conduct ?? goodConduct)];
      // What cannot be told now is told after the outage, when every key is looked up anew.
      valkey
        .to(name)?.("introduce", name, ...args)
        .catch(() => {});
    },

    // The windows are Valkey's: they are not written down.
    takeChanged: (mostConducts) => ({ ...memory.takeChanged(mostConducts), windows: noWindows }),
    // What was counted while Valkey is away is nowhere else.
    isCrowded: () => !valkey.isAway() && memory.isCrowded(),

    settled: valkey.settled,
    state: () => ({ isAway: valkey.isAway(), ...valkey.links(), outages, limitedFromMemory }),
    close() {
      clearInterval(forgetting);
      valkey.close();
    },
  };
}

function windowArgs({ perMinute, perDay }: Quota, keptSeconds: number, isFree: boolean): string[] {
  return [String(perMinute), String(perDay), isFree ? "1" : "0", String(keptSeconds)];
}

const noWindows = new Float64Array();

/** Where what only some replies hold begins. */
const JUDGED_FIELDS = 7;
