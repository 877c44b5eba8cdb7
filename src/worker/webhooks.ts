import { dns } from "bun";
import { API_VERSION } from "../contract/api.ts";
import type { Performed } from "../core/perform.ts";
import { type Deliverer, type DelivererOptions, deliverer } from "./deliver.ts";
import { guardedSender, type Resolve, type Send } from "./send.ts";

export interface WebhooksOptions extends Pick<DelivererOptions, "store" | "clock" | "onFault" | "meter"> {
  readonly perform: (operation: string, input: unknown) => Promise<Performed>;
  readonly allowPrivate: boolean;
  /** How names of receivers are resolved; as the machine does it by default. */
  readonly resolve?: Resolve | undefined;
  /** Sends by the sender that it is given, and tells somebody of it. */
  readonly traced: (send: Send) => Send;
}

/** All that is done for webhooks after the answer. */
export function openWebhooks(options: WebhooksOptions): Deliverer {
  const { store, clock, onFault, meter, allowPrivate, traced, resolve = systemResolve } = options;
  return deliverer({
    store,
    perform: async (operation, input) => (await options.perform(operation, input)).body,
    send: traced(guardedSender({ allowPrivate, resolve, userAgent: `Petstore/${API_VERSION}` })),
    clock,
    onFault,
    meter,
    chance: Math.random,
  });
}

/**
 * As the machine resolves names, but not by its own function: that waits in a few threads, and a name server that says nothing would
 * hold up all names.
 */
export const systemResolve: Resolve = async (hostname) => {
  const found = await dns.lookup(hostname, { backend: "c-ares" });
  return found.map(({ address }) => address);
};
