import { addressOf, NO_NAME } from "./owners.ts";

/** The command was not done. Any other failure leaves open whether it was. */
export class NotDone extends Error {}

/**
 * A node of a cluster answers, but not for this slot: another has it ("MOVED") or is about to get it ("ASK"), its keys are
 * on both just now ("TRYAGAIN"), or nobody has it ("CLUSTERDOWN").
 */
export class Elsewhere extends NotDone {
  constructor(
    message: string,
    readonly kind: string,
    readonly address: string | null,
  ) {
    super(message);
  }
}

/** What a node says of a slot that it does not have, or null if it says something else. A node that does not tell the other's host means its own. */
export function elsewhereOf({ message }: Error, url: string): Elsewhere | null {
  const [, kind, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(message) ?? [];
  const address = host === NO_NAME ? null : addressOf(host || new URL(url).hostname, port as string);
  if (kind) return new Elsewhere(message, kind, address);
  const [other] = /^TRYAGAIN|^CLUSTERDOWN(?= Hash slot not served)/.exec(message) ?? [];
  return other ? new Elsewhere(message, other, null) : null;
}
