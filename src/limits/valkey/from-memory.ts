import type { Admission, LimitedKey } from "../../core/ports.ts";
import type { Instance } from "./instance.ts";
import { ADDRESS_KEPT_SECONDS, CLIENT_KEPT_SECONDS } from "./scripts.ts";

/** Decides without Valkey. What it has missed is told when it is back; not what it may have counted after all. */
export function admitFromMemory(
  instance: Instance,
  key: LimitedKey,
  now: number,
  isFree: boolean,
  isMissed: boolean,
): Admission {
  const { memory, meanwhile, names } = instance;
  instance.limitedFromMemory += 1;
  const admission = memory.admit(key, now, isFree);
  const { refusing, state } = admission;
  if (refusing === null && !isFree && isMissed)
    meanwhile.count(names.windows(key.clientId), CLIENT_KEPT_SECONDS, state);
  if (refusing === "minute" || refusing === "day")
    meanwhile.noteConduct({
      name: names.conduct(key.clientId, key.keyId),
      conduct: memory.conductOf(key.keyId),
      bannedUntil: memory.banOf(key, now) ?? 0,
      lifts: key.lifts ?? 0,
    });
  return admission;
}

export function admitAddressFromMemory(
  instance: Instance,
  address: string,
  now: number,
  isFree: boolean,
  isMissed: boolean,
): Admission {
  const { memory, meanwhile, names } = instance;
  instance.limitedFromMemory += 1;
  const bucket = memory.addressBucket(address, now);
  const admission = memory.admitAddress(address, now, isFree);
  if (admission.refusing === null && !isFree && isMissed)
    meanwhile.count(names.address(bucket), ADDRESS_KEPT_SECONDS, admission.state);
  return admission;
}
