import type { Attempt, Attempted, Noted, Turn } from "../core/delivering.ts";
import type { Reads } from "../core/ports.ts";
import type { WebhookRecord } from "../core/webhook-ports.ts";
import { isAtWork } from "../core/webhook-rules.ts";
import type { Send } from "./send.ts";
import { turnsOf } from "./turns.ts";

/** How soon what another instance did, or what has become due, is noticed. */
const LOOK_EVERY_MS = 500;
/** How long after a write of this instance its events are looked for: what is written together is taken together. */
const AFTER_A_WRITE_MS = 20;
/** How long after a try its place is given to another: what ends together is followed together. */
const AFTER_A_TRY_MS = 2;
/** Webhooks that are looked at in one turn. */
const WEBHOOKS_AT_ONCE = 50;
/** A look takes the longer the more webhooks are enabled (ten microseconds each): others have three times as long in between. */
const REST_OF_A_WEBHOOK_MS = 0.03;
/** How often an outcome is noted anew while the database is away; then its lease ends, and the try is made again. */
const NOTE_TRIES = 30;
const NOTE_AGAIN_MS = 1000;
/** How long a stop waits for receivers. */
const STOPS_WITHIN_MS = 1000;

export interface DelivererOptions {
  readonly store: Pick<Reads, "fanOut" | "lastEvent" | "dueWebhooks">;
  /** Does one of the worker's operations; resolves when it is on disk. */
  readonly perform: (operation: string, input: unknown) => Promise<unknown>;
  readonly send: Send;
  readonly clock: () => number;
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

/** A try that is under way. */
interface Trying {
  readonly done: Promise<void>;
  readonly clientId: number;
  readonly isFailing: boolean;
}

export interface Deliverer {
  /** Something was written: there may be events. */
  wake(): void;
  /** Begins nothing more, gives what is under way a moment, and resolves when nothing is. */
  stop(): Promise<void>;
}

/**
 * Turns events into deliveries and sends them. It keeps nothing but what is under way: a process that dies leaves leases that
 * end, and any other goes on.
 */
export function deliverer(options: DelivererOptions): Deliverer {
  const { store, perform, clock, onFault } = options;
  const end = new AbortController();
  const underWay = new Map<Attempt, Trying>();
  /** Where the last turn ended: every webhook has its turn. */
  let lastId = 0;
  let isStopping = false;
  let hasWebhooks = true;
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;
  let soon: { readonly at: number; readonly timer: Timer } | undefined;
  let lastLook = 0;
  /** How many webhooks were enabled when events were last turned into deliveries. */
  let enabled = 0;

  const look = (): Promise<void> => {
    if (looking) {
      isAskedAgain = true;
      return looking;
    }
    looking = lookOnce()
      .catch(onFault)
      .finally(() => {
        looking = undefined;
        lastLook = performance.now();
        if (isAskedAgain) lookIn(AFTER_A_TRY_MS);
        isAskedAgain = false;
      });
    return looking;
  };
  const lookIn = (milliseconds: number) => {
    const now = performance.now();
    const at = Math.max(now + milliseconds, lastLook + enabled * REST_OF_A_WEBHOOK_MS);
    if (isStopping || (soon && soon.at <= at)) return;
    clearTimeout(soon?.timer);
    const timer = setTimeout(() => {
      soon = undefined;
      void look();
    }, at - now);
    soon = { at, timer };
  };

  const lookOnce = async () => {
    const { position, since, replaying } = await store.fanOut();
    hasWebhooks = since !== null;
    if (since === null) return;
    if ((await store.lastEvent()) > Math.max(position, since)) await fanOut();
    if (replaying !== null) await replay(replaying);
    await begin();
  };
  // One step at a time, so that other writes come in between.
  const fanOut = async () => {
    const step = (await perform("delivering.fanOut", {})) as { isDone: boolean; webhooks: number };
    enabled = step.webhooks;
    if (!step.isDone) isAskedAgain = true;
  };
  const replay = async (webhookId: number) => {
    const { isDone } = (await perform("delivering.replay", { webhookId })) as { isDone: boolean };
    if (!isDone) isAskedAgain = true;
  };
  const begin = async () => {
    const due = await nextDue();
    const turns = turnsOf(
      due.filter((webhook) => isAtWork(webhook, clock())),
      counted(),
    );
    // Past those who had a turn, or past those who may have none.
    lastId = turns.at(-1)?.webhookId ?? due[WEBHOOKS_AT_ONCE - 1]?.id ?? lastId;
    if (due.length >= WEBHOOKS_AT_ONCE) lookIn(turns.length > 0 ? AFTER_A_TRY_MS : AFTER_A_WRITE_MS);
    if (turns.length === 0 || isStopping) return;
    await claim(turns, new Map(due.map((webhook) => [webhook.id, webhook])));
  };
  /** From where the last turn ended to the end, and on from the beginning. */
  const nextDue = async () => {
    const due = await store.dueWebhooks(clock(), lastId, WEBHOOKS_AT_ONCE);
    if (lastId === 0 || due.length === WEBHOOKS_AT_ONCE) return due;
    const others = await store.dueWebhooks(clock(), 0, WEBHOOKS_AT_ONCE - due.length);
    return [...due, ...others.filter(({ id }) => id <= lastId)];
  };
  const claim = async (turns: readonly Turn[], webhooks: ReadonlyMap<number, WebhookRecord>) => {
    const attempts = (await perform("delivering.claim", { turns })) as Attempt[];
    for (const attempt of attempts) {
      const done = deliver(attempt).finally(() => {
        underWay.delete(attempt);
        lookIn(AFTER_A_TRY_MS);
      });
      const { clientId, failingSince } = webhooks.get(attempt.webhookId) as WebhookRecord;
      underWay.set(attempt, { done, clientId, isFailing: failingSince !== null });
    }
  };
  const counted = () => {
    const [byWebhook, byClient] = [new Map<number, number>(), new Map<number, number>()];
    let failing = 0;
    for (const [{ webhookId }, { clientId, isFailing }] of underWay) {
      byWebhook.set(webhookId, (byWebhook.get(webhookId) ?? 0) + 1);
      byClient.set(clientId, (byClient.get(clientId) ?? 0) + 1);
      if (isFailing) failing += 1;
    }
    return { byWebhook, byClient, all: underWay.size, failing };
  };

  const deliver = async (attempt: Attempt) => {
    const sent = await options.send(attempt, end.signal);
    // Its lease ends, and the try is made again.
    if (sent === null) return;
    options.meter.tried(sent.reason, sent.durationMs);
    const { deliveryId, attempt: number } = attempt;
    await note({ deliveryId, attempt: number, ...sent, chance: options.chance() });
  };
  const note = async (attempted: Attempted) => {
    for (let time = 1; ; time++) {
      try {
        return count((await perform("delivering.note", attempted)) as Noted);
      } catch (error) {
        onFault(error);
        if (isStopping || time === NOTE_TRIES) return;
        await Bun.sleep(NOTE_AGAIN_MS);
      }
    }
  };

  const count = ({ state, disabled }: Noted) => {
    if (state === "delivered" || state === "failed") options.meter.ended(state);
    if (disabled !== null) options.meter.disabledFor(disabled);
  };

  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    wake: () => {
      if (hasWebhooks) lookIn(AFTER_A_WRITE_MS);
    },
    async stop() {
      isStopping = true;
      clearInterval(timer);
      clearTimeout(soon?.timer);
      await looking;
      const breakOff = setTimeout(() => end.abort(), STOPS_WITHIN_MS);
      await Promise.all(Array.from(underWay.values(), ({ done }) => done));
      clearTimeout(breakOff);
    },
  };
}
