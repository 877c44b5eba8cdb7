import { QUESTIONS } from "../../contract/plans.ts";
import { goodConduct } from "../../core/bans.ts";
import type { SharedLimitsFigures } from "../../core/figures.ts";
import type { Awaitable, KnownKey, LimitedKey } from "../../core/ports.ts";
import { MINUTE_SECONDS, stateOf } from "../../core/windows.ts";
import type { LocalLimits, MemoryLimits } from "../memory.ts";
import { admitAddress, admitting } from "./admit.ts";
import { catchingUp } from "./catching-up.ts";
import type { Reply } from "./driver.ts";
import { type Instance, type InstanceOptions, instanceOf, type To } from "./instance.ts";
import { TIMEOUT_MS } from "./link.ts";
import { openNodes } from "./nodes.ts";
import { addedTo, conductArgs, conductOf, verdictOf } from "./replies.ts";

/** How often windows that are over are dropped from what is to be told after an outage. */
const FORGET_EVERY_MS = 3_600_000;

export interface ValkeyOptions extends InstanceOptions {
  /** One server, or some nodes of one cluster. */
  readonly urls: readonly string[];
  /** How long Valkey may be silent while requests wait. */
  readonly timeoutMs?: number | undefined;
  /** Valkey, or a node of a cluster, cannot be reached: limits go on in memory. */
  readonly onAway: (cause: string, node: string | null) => void;
  /** It is still away, and a cause that was not told yet has come to light. */
  readonly onStillAway: (cause: string, node: string | null) => void;
  /** It is back and has caught up. */
  readonly onBack: (node: string | null) => void;
}

export interface ValkeyLimits extends MemoryLimits {
  /** Valkey has answered for the first time, or is known to be away. */
  readonly known: Promise<void>;
  state(): SharedLimitsFigures;
  close(): void;
}

/**
 * Limits in Valkey, shared by all instances: the requests of a key in one turn are one script, which is one atomic step. Memory sees every count
 * that comes back, and goes on from there by itself while Valkey is away.
 */
export function valkeyLimits(options: ValkeyOptions): ValkeyLimits {
  const instance = instanceOf(options);
  const { memory, names, meanwhile, time, strikeWindowMs } = instance;
  let outages = 0;
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
  const stopForgetting = forgetInTime(instance);

  return {
    // What is written behind, and bans that are on their way, are memory's business as ever.
    ...memory,

    admit: admitting(instance, valkey.to),
    admitAddress: (address, now, isFree) => admitAddress(instance, valkey.to, address, now, isFree),
    ask: (key, now) => ask(instance, valkey.to, key, now),
    introduce(known, askedAt) {
      memory.introduce(known, askedAt);
      introduce(instance, valkey.to, known);
    },

    // The windows are Valkey's: they are not written down.
    takeChanged: (mostConducts) => ({ ...memory.takeChanged(mostConducts), windows: noWindows }),
    // What was counted while Valkey is away is nowhere else.
    isCrowded: () => !valkey.isAway() && memory.isCrowded(),

    known: valkey.known,
    state: () => ({
      isAway: valkey.isAway(),
      ...valkey.links(),
      outages,
      limitedFromMemory: instance.limitedFromMemory,
    }),
    close() {
      stopForgetting();
      valkey.close();
    },
  };
}

const noWindows = new Float64Array();

function forgetInTime({ meanwhile, options: { clock } }: Instance): () => void {
  const forgetting = setInterval(
    () => meanwhile.forget(Math.floor((clock === "server" ? Date.now() : clock()) / 1000)),
    FORGET_EVERY_MS,
  );
  forgetting.unref();
  return () => clearInterval(forgetting);
}

type Told = ReturnType<LocalLimits["ask"]>;

function ask({ memory, names, time }: Instance, to: To, key: LimitedKey, now: number): Awaitable<Told> {
  const { clientId, keyId, bannedUntil } = key;
  const windows = names.windows(clientId);
  const send = to(windows);
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
    (reply) => standingOf(memory, key, reply),
    () => memory.ask(key, now),
  );
}

function standingOf(memory: LocalLimits, key: LimitedKey, reply: Reply): Told {
  const { now: judgedAt, refusing, windows, bannedUntil } = verdictOf(reply);
  memory.learn(key.clientId, windows);
  const seconds = Math.floor(judgedAt / 1000);
  const standing = {
    state: stateOf(windows, key, seconds),
    conduct: conductOf(reply),
    bannedUntil: bannedUntil > judgedAt ? bannedUntil : null,
    judgedAt,
  };
  const askedSince = addedTo(reply);
  return { standing, waitSeconds: refusing === null ? null : askedSince + MINUTE_SECONDS - seconds };
}

/** Tells Valkey what the database knows of a key. */
function introduce(
  { names, time, strikeWindowMs }: Instance,
  to: To,
  { id, clientId, conduct, lifts }: KnownKey,
): void {
  if (!conduct && lifts === 0) return;
  const name = names.conduct(clientId, id);
  const args = [time(), String(lifts), strikeWindowMs, ...conductArgs(conduct ?? goodConduct)];
  // What cannot be told now is told after the outage, when every key is looked up anew.
  to(name)?.("introduce", name, ...args).catch(() => {});
}
