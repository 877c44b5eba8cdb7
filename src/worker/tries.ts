import type { Attempt, Attempted, Noted } from "../core/delivering.ts";
import type { WebhookRecord } from "../core/webhook-ports.ts";
import type { Send } from "./send.ts";
import type { UnderWay } from "./shares.ts";

/** How often an outcome is noted anew while the database is away; then its lease ends, and the try is made again. */
const NOTE_TRIES = 30;
const NOTE_AGAIN_MS = 1000;
/** How long a stop waits for receivers. */
const STOPS_WITHIN_MS = 1000;

export interface TryOptions {
  /** Does one of the worker's operations; resolves when it is on disk. */
  readonly perform: (operation: string, input: unknown) => Promise<unknown>;
  readonly send: Send;
  /** From 0 to 1. */
  readonly chance: () => number;
  readonly onFault: (error: unknown) => void;
  readonly meter: DeliveryMeter;
}

/** Who counts what is sent. */
export interface DeliveryMeter {
  tried(reason: Attempted["reason"], milliseconds: number): void;
  ended(state: "delivered" | "failed"): void;
  disabledFor(reason: NonNullable<Noted["disabled"]>): void;
}

/** The tries that are under way. */
export interface Tries {
  readonly options: TryOptions;
  readonly underWay: Map<Attempt, Trying>;
  readonly stopping: AbortSignal;
  /** Breaks off what receivers have not answered. */
  readonly end: AbortController;
}

interface Trying {
  readonly done: Promise<void>;
  readonly clientId: number;
  readonly isFailing: boolean;
}

export function noTries(options: TryOptions, stopping: AbortSignal): Tries {
  return { options, underWay: new Map(), stopping, end: new AbortController() };
}

/** Begins a try, and says when its place is free again. */
export function begin(tries: Tries, attempt: Attempt, webhook: WebhookRecord, onDone: () => void): void {
  const { underWay } = tries;
  const done = deliver(tries, attempt).finally(() => {
    underWay.delete(attempt);
    onDone();
  });
  underWay.set(attempt, { done, clientId: webhook.clientId, isFailing: webhook.failingSince !== null });
}

export function counted({ underWay }: Tries): UnderWay {
  const [byWebhook, byClient] = [new Map<number, number>(), new Map<number, number>()];
  let failing = 0;
  for (const [{ webhookId }, { clientId, isFailing }] of underWay) {
    byWebhook.set(webhookId, (byWebhook.get(webhookId) ?? 0) + 1);
    byClient.set(clientId, (byClient.get(clientId) ?? 0) + 1);
    if (isFailing) failing += 1;
  }
  return { byWebhook, byClient, all: underWay.size, failing };
}

/** Gives what is under way a moment, and resolves when nothing is. */
export async function ended({ underWay, end }: Tries): Promise<void> {
  const breakOff = setTimeout(() => end.abort(), STOPS_WITHIN_MS);
  await Promise.all(Array.from(underWay.values(), ({ done }) => done));
  clearTimeout(breakOff);
}

async function deliver(tries: Tries, attempt: Attempt): Promise<void> {
  const { send, meter, chance } = tries.options;
  const sent = await send(attempt, tries.end.signal);
  // Its lease ends, and the try is made again.
  if (sent === null) return;
  meter.tried(sent.reason, sent.durationMs);
  const { deliveryId, attempt: number, url } = attempt;
  await note(tries, { deliveryId, attempt: number, url, ...sent, chance: chance() });
}

async function note({ options, stopping }: Tries, attempted: Attempted): Promise<void> {
  const { perform, meter, onFault } = options;
  for (let time = 1; ; time++) {
    try {
      return count(meter, (await perform("delivering.note", attempted)) as Noted);
    } catch (error) {
      onFault(error);
      if (stopping.aborted || time === NOTE_TRIES) return;
      await Bun.sleep(NOTE_AGAIN_MS);
    }
  }
}

function count(meter: DeliveryMeter, { state, disabled }: Noted): void {
  if (state === "delivered" || state === "failed") meter.ended(state);
  if (disabled !== null) meter.disabledFor(disabled);
}
