import { API_VERSION } from "../contract/api.ts";
import type { Performed } from "../core/perform.ts";
import { type Deliverer, type DelivererOptions, deliverer } from "./deliver.ts";
import { guardedSender, type Resolve } from "./send.ts";

export interface WebhooksOptions extends Pick<DelivererOptions, "store" | "clock" | "onFault"> {
  readonly perform: (operation: string, input: unknown) => Promise<Performed>;
  readonly allowPrivate: boolean;
  /** How names of receivers are resolved; as the machine does it by default. */
  readonly resolve?: Resolve | undefined;
  /** How long deliveries are kept. */
  readonly keptMs: number;
}

export interface Webhooks extends Deliverer {
  /** Drops deliveries that are no longer kept, step by step. */
  sweep(): Promise<void>;
}

/** All that is done for webhooks after the answer. */
export function openWebhooks(options: WebhooksOptions): Webhooks {
  const { store, clock, onFault, allowPrivate, keptMs, resolve = systemResolve } = options;
  const perform = async (operation: string, input: unknown) => (await options.perform(operation, input)).body;
  const send = guardedSender({ allowPrivate, resolve, userAgent: `Petstore/${API_VERSION}` });
  const delivering = deliverer({ store, perform, send, clock, onFault, chance: Math.random });
  let isStopping = false;
  return {
    wake: delivering.wake,
    async sweep() {
      const before = clock() - keptMs;
      for (let isDone = false; !isDone && !isStopping; )
        ({ isDone } = (await perform("delivering.forget", { before })) as { isDone: boolean });
    },
    stop() {
      isStopping = true;
      return delivering.stop();
    },
  };
}

/** Loaded by the first who has a webhook. */
const systemResolve: Resolve = async (hostname) => {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
};
