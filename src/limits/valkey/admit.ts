import type { Quota } from "../../contract/plans.ts";
import type { Admission, Awaitable, LimitedKey } from "../../core/ports.ts";
import { isHalfway, isWorthAWarning, quotaWarning, strikeWarning } from "../../core/warnings.ts";
import { stateOf } from "../../core/windows.ts";
import { askedTogether } from "./asked-together.ts";
import type { Reply } from "./driver.ts";
import { admitAddressFromMemory, admitFromMemory } from "./from-memory.ts";
import type { Instance, To } from "./instance.ts";
import type { Send } from "./link.ts";
import { Elsewhere, NotDone } from "./not-done.ts";
import { addedTo, conductOf, hasConduct, type Verdict, verdictOf } from "./replies.ts";
import { ADDRESS_KEPT_SECONDS, CLIENT_KEPT_SECONDS } from "./scripts.ts";

type Admit = (key: LimitedKey, now: number, isFree: boolean) => Awaitable<Admission>;

/** Admits by the script, and from memory where Valkey is away or its answer does not come. */
export function admitting(instance: Instance, to: To): Admit {
  const asked = askedTogether((send, key, isFree, requests) => askFor(instance, send, key, isFree, requests));
  return (key, now, isFree) => {
    const send = to(instance.names.windows(key.clientId));
    if (!send) return admitFromMemory(instance, key, now, isFree, true);
    return asked(send, key, isFree).then(
      (reply) => admitted(instance, key, isFree, reply),
      (error) =>
        error instanceof Elsewhere && error.kind === "TRYAGAIN"
          ? admitInPassing(instance, send, key, now, isFree)
          : admitFromMemory(instance, key, now, isFree, error instanceof NotDone),
    );
  };
}

export function admitAddress(
  instance: Instance,
  to: To,
  address: string,
  now: number,
  isFree: boolean,
): Awaitable<Admission> {
  const { memory, names, time } = instance;
  const { anonymous } = instance.options;
  const bucket = memory.addressBucket(address, now);
  const name = names.address(bucket);
  const send = to(name);
  if (!send) return admitAddressFromMemory(instance, address, now, isFree, true);
  return send("admitWindows", name, time(), ...windowArgs(anonymous, ADDRESS_KEPT_SECONDS, isFree)).then(
    (reply) => {
      const { now: judgedAt, refusing, windows } = verdictOf(reply);
      memory.learnAddress(bucket, windows);
      const state = stateOf(windows, anonymous, Math.floor(judgedAt / 1000));
      return { state, refusing, bannedUntil: null, judgedAt };
    },
    (error) => admitAddressFromMemory(instance, address, now, isFree, error instanceof NotDone),
  );
}

async function askFor(
  { names, time, rules }: Instance,
  send: Send,
  key: LimitedKey,
  isFree: boolean,
  requests: number,
): Promise<readonly Reply[]> {
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
}

function admitted(instance: Instance, key: LimitedKey, isFree: boolean, reply: Reply): Admission {
  const verdict = verdictOf(reply);
  const { now, refusing, windows, bannedUntil } = verdict;
  instance.memory.learn(key.clientId, windows);
  const state = stateOf(windows, key, Math.floor(now / 1000));
  if (refusing === "minute" || refusing === "day") heardOf(instance, key, verdict, reply);
  else if (refusing === null && !isFree && isWorthAWarning(key, state))
    instance.options.tell(quotaWarning(key, state));
  return { state, refusing, bannedUntil: refusing === "ban" ? bannedUntil : null, judgedAt: now };
}

/** A request that was refused may have changed how its key is judged; the instance that hears of it tells. */
function heardOf(instance: Instance, key: LimitedKey, { now, bannedUntil }: Verdict, reply: Reply): void {
  if (!hasConduct(reply)) return;
  const { memory, options } = instance;
  const { keyId, clientId } = key;
  const conduct = conductOf(reply);
  const isStrike = addedTo(reply) === 1;
  memory.learnConduct(keyId, conduct);
  if (bannedUntil > 0) {
    const { level } = conduct;
    memory.learnBan(keyId, bannedUntil);
    options.onBan({ keyId, clientId, cause: "strikes", reason: null, level, since: now, until: bannedUntil });
  } else if (isStrike && isHalfway(conduct, options.bans))
    options.tell(strikeWarning(key, conduct, options.bans));
}

/**
 * While a slot moves from one node to another a script of several keys cannot run. The windows are one key: they are counted
 * as exactly as ever. The ban and the conduct are those that this instance knows, as in an outage.
 */
async function admitInPassing(
  instance: Instance,
  send: Send,
  key: LimitedKey,
  now: number,
  isFree: boolean,
): Promise<Admission> {
  const { memory, names, time } = instance;
  const known = memory.admit(key, now, true);
  if (known.refusing === "ban") return known;
  try {
    const name = names.windows(key.clientId);
    const reply = await send("admitWindows", name, time(), ...windowArgs(key, CLIENT_KEPT_SECONDS, isFree));
    const { now: judgedAt, refusing, windows } = verdictOf(reply);
    if (refusing === null) return admitted(instance, key, isFree, reply);
    memory.learn(key.clientId, windows);
    return admitFromMemory(instance, key, judgedAt, isFree, false);
  } catch (error) {
    return admitFromMemory(instance, key, now, isFree, error instanceof NotDone);
  }
}

function windowArgs({ perMinute, perDay }: Quota, keptSeconds: number, isFree: boolean): string[] {
  return [String(perMinute), String(perDay), isFree ? "1" : "0", String(keptSeconds)];
}
