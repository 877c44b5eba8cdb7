import type { Attempt, Share } from "../core/delivering.ts";
import type { Reads } from "../core/ports.ts";
import type { WebhookRecord } from "../core/webhook-ports.ts";
import { isAtWork } from "../core/webhook-rules.ts";
import { type Looks, lookIn, startLooks } from "./looks.ts";
import { sharesOf } from "./shares.ts";
import { begin, counted, ended, noTries, type Tries, type TryOptions } from "./tries.ts";

/** How long after a write of this instance its events are looked for: what is written together is taken together. */
const AFTER_A_WRITE_MS = 20;
/** How long after a try its place is given to another: what ends together is followed together. */
const AFTER_A_TRY_MS = 2;
/** Webhooks that are looked at together. */
const WEBHOOKS_AT_ONCE = 50;
/** A look takes the longer the more webhooks are enabled (ten microseconds each): others have three times as long in between. */
const REST_OF_A_WEBHOOK_MS = 0.03;

export interface DelivererOptions extends TryOptions {
  readonly store: Pick<Reads, "fanOut" | "lastEvent" | "dueWebhooks">;
  readonly clock: () => number;
}

export interface Deliverer {
  /** Something was written: there may be events. */
  wake(): void;
  /** Begins nothing more, gives what is under way a moment, and resolves when nothing is. */
  stop(): Promise<void>;
}

interface Delivering {
  readonly options: DelivererOptions;
  readonly looks: Looks;
  readonly tries: Tries;
  readonly stopping: AbortSignal;
  /** Where the last share was given: every webhook has its turn. */
  lastId: number;
  hasWebhooks: boolean;
}

/**
 * Turns events into deliveries and sends them. It keeps nothing but what is under way: a process that dies leaves leases that
 * end, and any other goes on.
 */
export function deliverer(options: DelivererOptions): Deliverer {
  const stop = new AbortController();
  const stopping = stop.signal;
  const looks = startLooks({ lookOnce: () => lookOnce(delivering), onFault: options.onFault, stopping });
  const tries = noTries(options, stopping);
  const delivering: Delivering = { options, looks, tries, stopping, lastId: 0, hasWebhooks: true };
  return {
    wake: () => {
      if (delivering.hasWebhooks) lookIn(looks, AFTER_A_WRITE_MS);
    },
    async stop() {
      stop.abort();
      await looks.looking;
      await ended(tries);
    },
  };
}

async function lookOnce(delivering: Delivering): Promise<void> {
  const { store } = delivering.options;
  const { position, since, replaying } = await store.fanOut();
  delivering.hasWebhooks = since !== null;
  if (since === null) return;
  if ((await store.lastEvent()) > Math.max(position, since)) await fanOut(delivering);
  if (replaying !== null) await replay(delivering, replaying);
  await beginDue(delivering);
}

/** One step at a time, so that other writes come in between. */
async function fanOut({ options, looks }: Delivering): Promise<void> {
  const step = (await options.perform("delivering.fanOut", {})) as { isDone: boolean; webhooks: number };
  looks.restMs = step.webhooks * REST_OF_A_WEBHOOK_MS;
  if (!step.isDone) looks.isDueAgain = true;
}

async function replay({ options, looks }: Delivering, webhookId: number): Promise<void> {
  const { isDone } = (await options.perform("delivering.replay", { webhookId })) as { isDone: boolean };
  if (!isDone) looks.isDueAgain = true;
}

async function beginDue(delivering: Delivering): Promise<void> {
  const { options, looks, tries, stopping } = delivering;
  const due = await nextDue(delivering);
  const shares = sharesOf(
    due.filter((webhook) => isAtWork(webhook, options.clock())),
    counted(tries),
  );
  // Past those who had a share, or past those who may have none.
  delivering.lastId = shares.at(-1)?.webhookId ?? due[WEBHOOKS_AT_ONCE - 1]?.id ?? delivering.lastId;
  if (due.length >= WEBHOOKS_AT_ONCE) lookIn(looks, shares.length > 0 ? AFTER_A_TRY_MS : AFTER_A_WRITE_MS);
  if (shares.length === 0 || stopping.aborted) return;
  await claim(delivering, shares, new Map(due.map((webhook) => [webhook.id, webhook])));
}

/** From where the last share was given to the end, and on from the beginning. */
async function nextDue({ options, lastId }: Delivering): Promise<WebhookRecord[]> {
  const { store, clock } = options;
  const due = await store.dueWebhooks(clock(), lastId, WEBHOOKS_AT_ONCE);
  if (lastId === 0 || due.length === WEBHOOKS_AT_ONCE) return due;
  const others = await store.dueWebhooks(clock(), 0, WEBHOOKS_AT_ONCE - due.length);
  return [...due, ...others.filter(({ id }) => id <= lastId)];
}

async function claim(
  { options, looks, tries }: Delivering,
  shares: readonly Share[],
  webhooks: ReadonlyMap<number, WebhookRecord>,
): Promise<void> {
  const attempts = (await options.perform("delivering.claim", { shares })) as Attempt[];
  for (const attempt of attempts)
    begin(tries, attempt, webhooks.get(attempt.webhookId) as WebhookRecord, () =>
      lookIn(looks, AFTER_A_TRY_MS),
    );
}
